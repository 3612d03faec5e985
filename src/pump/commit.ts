/**
 * The business transaction (seed §5.3): one read of what the batch touches, the decisions in order, one lock, a few
 * set-based writes, one commit. The same code for one message and for five hundred.
 *
 * Most batches are decided before their transaction begins, and while the batch before them is being written: what has
 * been read, and what that batch has made of it, can be changed by nobody else but those who raise the generation of
 * the lock, and then nothing is written.
 */
import { failpoint } from '#failpoint';
import { flightsNamed, referenceNamed } from '../domain/decide/index.ts';
import { wasOvertaken, writeBatch } from '../store/batch.ts';
import { selectFlights, unarchiveFlights, type ReadFlight } from '../store/flight.ts';
import { bindingOf, ownersOf } from '../store/message-identity.ts';
import { keepAlive } from '../store/proc-state.ts';
import { insertReferencePast } from '../store/reference-history.ts';
import { selectReference, upsertReference, type ReferenceNeed } from '../store/reference.ts';
import type { Queryable, Row } from '../store/statement.ts';
import { toTimestamp } from '../store/time.ts';
import type { OpenTransaction, Session } from '../store/transaction.ts';
import { breather } from './breather.ts';
import type { PumpContext } from './context.ts';
import { decideBatch, type Decided, type Ending, type Finished, type Ready } from './decisions.ts';
import { boundBy, claimsOf, type Bound, type Claim } from './identities.ts';
import { RequestBook, isConcerned } from './request-book.ts';
import { NO_REFERENCE, World } from './world.ts';

/** Somebody else has changed heads or flights since they were read: nothing was written, look again. */
export class StaleHeads extends Error {
  override readonly name = 'StaleHeads';
}

/** What a batch stands on. */
export interface Basis {
  /** Generation of the lock, read before anything else. */
  readonly generation: bigint;
  /** Identities that are bound already; null where they are to be bound. */
  readonly bound: ReadonlyMap<bigint, Bound> | null;
  /** The batch before it, which is not written yet or being written: its flights are not read again. */
  readonly behind: Batch | null;
}

/** Batches of this process so far: their names tell them apart on a connection. */
let batches = 0;

/** A batch underway. What it reads has been sent when it exists, and its identities are being bound. */
export class Batch {
  /** Whether it can be decided before its transaction begins. */
  readonly ahead: boolean;
  readonly #context: PumpContext;
  readonly #session: Session;
  readonly #candidates: readonly Ending[];
  readonly #generation: bigint;
  readonly #name: string;
  readonly #bound: ReadonlyMap<bigint, Bound> | null;
  readonly #claims: readonly Claim[];
  readonly #bindings: Promise<readonly Row[]>;
  readonly #flids: ReadonlySet<string>;
  readonly #flights: Promise<ReadonlyMap<string, ReadFlight>>;
  /** Until it has been decided. */
  #behind: Batch | null;
  #tx: OpenTransaction | null = null;
  #decided: (Decided & { readonly world: World; readonly requests: RequestBook }) | null = null;

  constructor(context: PumpContext, session: Session, candidates: readonly Ending[], basis: Basis) {
    const { generation, bound, behind } = basis;
    this.#context = context;
    this.#session = session;
    this.#candidates = candidates;
    this.#generation = generation;
    this.#name = `batch ${String(++batches)}`;
    this.#bound = bound;
    this.#behind = behind;
    this.ahead = isPlain(context, candidates);
    this.#claims = bound === null ? claimsOf(context, candidates) : [];
    this.#bindings = this.#bind();
    this.#bindings.catch(() => undefined);
    this.#flids = flidsOf(candidates);
    const unread = [...this.#flids].filter((flid) => behind === null || !behind.#flids.has(flid));
    // Asked for before the identities are known: of a duplicate too much is read.
    this.#flights = selectFlights(session, unread, context.timeZone);
    this.#flights.catch(() => undefined);
  }

  /**
   * Decides. The batch before it has been decided and, unless this one is `ahead`, committed. Gives those of its
   * messages that end, from the first: the rest waits where the events become too many. Throws LostLease, Outage, or
   * what went wrong.
   */
  async decide(): Promise<readonly Finished[]> {
    const bound = await this.#binding();
    failpoint('pump.bound');
    const batch = this.#candidates.map((candidate): Ready => ({
      candidate,
      bound: bound.get(candidate.head.msgId) ?? null,
    }));
    const flights = new Map([...(await this.#flights), ...this.#carried()]);
    this.#behind = null;
    const tx = this.ahead ? null : this.#begin();
    const world = new World(flights, tx === null ? NO_REFERENCE : await readReference(tx, batch));
    const requests = await RequestBook.read(this.#context, tx, batch);
    const breathe = breather(async () => {
      if (tx !== null) await keepAlive(tx);
    });
    const decided = await decideBatch(this.#context, batch, world, requests, breathe);
    failpoint('pump.decided');
    this.#decided = { ...decided, world, requests };
    return decided.finished;
  }

  /**
   * Writes, and sends the commit; gives what waits for it, which throws StaleHeads, LostLease, Outage, or what went
   * wrong. So does this, where it has to wait before the commit.
   *
   * @param behind the batch before it, where its commit is not answered yet: unless that is done, nothing is written
   */
  async send(behind: Batch | null): Promise<() => Promise<void>> {
    const tx = this.#tx ?? this.#begin();
    failpoint('pump.locked');
    await this.#write(tx, behind);
    const committed = this.#commit(tx);
    committed.catch(() => undefined);
    return () => committed;
  }

  /** The flights that the batch before has read, as it leaves them. */
  #carried(): readonly (readonly [string, ReadFlight])[] {
    const behind = this.#behind;
    if (behind === null) return [];
    if (behind.#decided === null) throw new Error('a batch is decided before the one it stands on');
    return behind.#decided.world.carried(this.#flids);
  }

  async #write(tx: OpenTransaction, behind: Batch | null): Promise<void> {
    if (this.#decided === null) throw new Error('a batch is written before it was decided');
    const { finished, events, touched, names, now, world, requests } = this.#decided;
    const { dialect } = this.#context;
    const at = toTimestamp(now);
    // Before the batch's own changes of reference data are written: each message is told by the names that it met.
    const told = names === null ? events : await names.into(tx, events);
    await unarchiveFlights(tx, world.unarchived);
    await upsertReference(tx, world.rowsWritten, world.floorsWritten, now);
    await insertReferencePast(tx, world.referencePast, at);
    await requests.write(tx, now);
    const rows = {
      flights: world.flightsWritten,
      events: told,
      latestStates: world.latestStates,
      flightMessages: touched,
      terminals: finished.map(({ terminal }) => terminal),
    };
    const facts = {
      at,
      profileHash: dialect.profileHash,
      generation: this.#generation,
      name: this.#name,
      behind: behind === null ? null : behind.#name,
    };
    await writeBatch(
      tx,
      rows,
      facts,
      breather(() => keepAlive(tx)),
    );
  }

  async #commit(tx: OpenTransaction): Promise<void> {
    try {
      await tx.commit();
    } catch (error) {
      if (wasOvertaken(error))
        throw new StaleHeads('heads or flights changed while they were processed', { cause: error });
      throw error;
    }
  }

  #begin(): OpenTransaction {
    this.#tx = this.#session.begin({ fence: this.#context.fence, exclusive: 'pump' });
    return this.#tx;
  }

  async #bind(): Promise<readonly Row[]> {
    if (this.#claims.length === 0) return [];
    const { statement, values } = bindingOf(this.#claims, this.#context.fence);
    return this.#session.query(statement, values);
  }

  async #binding(): Promise<ReadonlyMap<bigint, Bound>> {
    if (this.#bound !== null) return this.#bound;
    const claims = this.#claims;
    if (claims.length === 0) return new Map();
    return boundBy(this.#context, claims, await ownersOf(this.#session, claims, await this.#bindings));
  }
}

/** Whether flights are all that a batch reads: anything else may be changed by others at any time. */
function isPlain(context: PumpContext, candidates: readonly Ending[]): boolean {
  return (
    context.publication.names === undefined &&
    candidates.every(
      (candidate) =>
        !isConcerned(context, candidate) &&
        (candidate.kind !== 'message' || referenceNamed(candidate.message) === null),
    )
  );
}

function flidsOf(candidates: readonly Ending[]): ReadonlySet<string> {
  const flids = new Set<string>();
  for (const candidate of candidates) {
    if (candidate.kind !== 'message') continue;
    for (const flid of flightsNamed(candidate.message)) flids.add(flid);
  }
  return flids;
}

async function readReference(tx: Queryable, batch: readonly Ready[]): ReturnType<typeof selectReference> {
  const needs = batch.flatMap(({ candidate, bound }): ReferenceNeed[] => {
    if (candidate.kind !== 'message' || bound?.duplicate != null) return [];
    const need = referenceNamed(candidate.message);
    return need === null ? [] : [need];
  });
  return selectReference(tx, needs);
}
