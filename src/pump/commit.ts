/**
 * The business transaction (seed §5.3): one lock, one read of what the batch touches, the decisions in order,
 * a few set-based writes, one commit. The same code for one message and for five hundred.
 */
import { failpoint } from '#failpoint';
import { withPauses } from '../dialect/steps.ts';
import { decideSteps, flightsNamed, referenceNamed, type DecisionInput } from '../domain/decide/index.ts';
import { causeOf, messageEventBody } from '../domain/event.ts';
import type { FlightChange } from '../domain/flight.ts';
import { msgId as msgIdOf } from '../domain/ids.ts';
import type { DecodedMessage } from '../domain/message.ts';
import type { Decision } from '../domain/outcome.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { wasOvertaken, writeBatch } from '../store/batch.ts';
import type { Queryable } from '../store/statement.ts';
import type { OpenTransaction, Session, Transaction } from '../store/transaction.ts';
import type { FlightMessage } from '../store/flight-message.ts';
import { selectFlights, unarchiveFlights, type ReadFlight } from '../store/flight.ts';
import { bindingOf, ownersOf } from '../store/message-identity.ts';
import type { NewMessageEvent } from '../store/msg-event.ts';
import { keepAlive, type Terminal } from '../store/proc-state.ts';
import { insertReferencePast } from '../store/reference-history.ts';
import { selectReference, upsertReference, type ReferenceNeed } from '../store/reference.ts';
import { toTimestamp } from '../store/time.ts';
import { breather } from './breather.ts';
import type { Candidate } from './candidate.ts';
import type { PumpContext } from './context.ts';
import { EventNames } from './event-names.ts';
import { boundBy, claimsOf, type Bound, type Claim } from './identities.ts';
import { RequestBook } from './request-book.ts';
import { World } from './world.ts';

/** A message that will end in this batch. */
export interface Ready {
  readonly candidate: Exclude<Candidate, { kind: 'codec-error' }>;
  /** Null for malformed messages. */
  readonly bound: Bound | null;
}

/** A message and how it ended. */
export interface Finished {
  readonly ready: Ready;
  readonly terminal: Terminal;
  /** The decision; null for malformed messages and duplicates. */
  readonly decision: Decision | null;
}

/** Somebody else has changed the heads since they were read: nothing was written, look again. */
export class StaleHeads extends Error {
  override readonly name = 'StaleHeads';
}

/**
 * Most characters of events in one transaction; one message always fits. A short message publishes all that its
 * flight has, so the bound on what is read says nothing of what is written.
 */
const EVENT_CHARACTERS = 64 << 20;

/** A candidate that ends in this batch. */
export type Ending = Ready['candidate'];

/**
 * A batch underway in one fenced transaction. What it reads has been sent when it exists: before that, its identities
 * are bound, unless they are already.
 */
export class Batch {
  readonly #context: PumpContext;
  readonly #candidates: readonly Ending[];
  readonly #tx: OpenTransaction;
  readonly #claims: readonly Claim[];
  readonly #bound: ReadonlyMap<bigint, Bound> | null;
  readonly #flights: Promise<ReadonlyMap<string, ReadFlight>>;

  constructor(
    context: PumpContext,
    session: Session,
    candidates: readonly Ending[],
    bound: ReadonlyMap<bigint, Bound> | null,
  ) {
    const { fence } = context;
    this.#context = context;
    this.#candidates = candidates;
    this.#bound = bound;
    this.#claims = bound === null ? claimsOf(context, candidates) : [];
    const first = this.#claims.length === 0 ? {} : { first: bindingOf(this.#claims, fence) };
    this.#tx = session.begin({ fence, exclusive: true, ...first });
    // Asked for before the identities are known: of a duplicate too much is read. Each statement sees what was
    // committed when it began: what the lock has waited for, too.
    this.#flights = readFlights(context, this.#tx, candidates);
    this.#flights.catch(() => undefined);
  }

  /**
   * Decides, and has everything ready to be committed. Gives those of its messages that end, from the first: the rest
   * waits where the events become too many. Throws LostLease, Outage, or what went wrong.
   */
  async decide(): Promise<readonly Finished[]> {
    const bound = await this.#binding();
    failpoint('pump.bound');
    const finished = await endBatch(this.#context, this.#tx, this.#candidates, bound, this.#flights);
    await this.#tx.begun;
    return finished;
  }

  /** Sends the commit. Throws StaleHeads, Outage, or what went wrong. */
  async commit(): Promise<void> {
    try {
      await this.#tx.commit();
    } catch (error) {
      if (wasOvertaken(error))
        throw new StaleHeads('heads changed while they were processed', { cause: error });
      throw error;
    }
  }

  async #binding(): Promise<ReadonlyMap<bigint, Bound>> {
    if (this.#bound !== null) return this.#bound;
    const claims = this.#claims;
    if (claims.length === 0) return new Map();
    return boundBy(this.#context, claims, await ownersOf(this.#tx, claims, await this.#tx.first));
  }
}

async function endBatch(
  context: PumpContext,
  tx: Transaction,
  candidates: readonly Ending[],
  bound: ReadonlyMap<bigint, Bound>,
  reading: Promise<ReadonlyMap<string, ReadFlight>>,
): Promise<readonly Finished[]> {
  const { clock, timeZone, dialect } = context;
  const batch = candidates.map((candidate): Ready => ({
    candidate,
    bound: bound.get(candidate.head.msgId) ?? null,
  }));
  const flights = await reading;
  const world = new World(flights, await readReference(tx, batch));
  failpoint('pump.locked');
  const requests = await RequestBook.read(context, tx, batch);
  const now = clock.now();
  const facts = { now: airportTime(now, timeZone), cutoff: context.operationDayCutoff };
  const events: NewMessageEvent[] = [];
  const touched: FlightMessage[] = [];
  const { names: rules } = context.publication;
  const names = rules === undefined ? null : new EventNames(rules, (rtype) => world.reference(rtype));
  const breathe = breather(() => keepAlive(tx));
  const decideOne = async (ready: Ready): Promise<Finished> => {
    const { candidate, bound } = ready;
    const { msgId } = candidate.head;
    if (candidate.kind === 'malformed') {
      const { header, reason, detail } = candidate;
      const terminal = {
        msgId,
        identity: null,
        state: 'DEAD',
        errorClass: 'MALFORMED',
        reason,
        detail,
      } as const;
      return {
        ready,
        terminal: { ...terminal, type: header?.type ?? null, styp: header?.subtype ?? null },
        decision: null,
      };
    }
    const { message } = candidate;
    const { type, subtype: styp } = message.header;
    const identity = bound?.identity ?? null;
    const known = { msgId, type, styp, identity };
    if (bound?.duplicate != null) {
      const terminal = {
        ...known,
        state: 'SKIPPED',
        errorClass: null,
        reason: bound.duplicate.reason,
        detail: null,
      } as const;
      return { ready, terminal, decision: null };
    }
    const input: DecisionInput = {
      msgId: msgIdOf(msgId),
      message,
      flight: (flid) => world.flight(flid),
      reference: (rtype) => world.reference(rtype),
      ...facts,
      openRequests: requests.open,
      clockSkewMs: context.requests?.clockSkewMs ?? 0,
      allowEmptyReference: false,
    };
    const decision = await withPauses(decideSteps(input), breathe);
    if (decision.state === 'FAILED') throw new Error(`${decision.reason} reached a batch`);
    if (decision.state === 'SUCCEEDED') {
      for (const change of decision.flights) {
        applyFlight(context, world, message, identity ?? '', msgId, change, events, touched);
        if (change.event !== null) names?.note(change.event.type === 'TOMBSTONE' ? null : change.after.state);
        await breathe();
      }
      if (decision.reference !== null) world.applyReference(decision.reference);
    }
    return { ready, terminal: { ...known, ...outcomeOf(decision) }, decision };
  };
  const finished: Finished[] = [];
  let characters = 0;
  for (const ready of batch) {
    if (finished.length > 0 && characters > (context.eventCharacters ?? EVENT_CHARACTERS)) break;
    const before = events.length;
    const ended = await decideOne(ready);
    requests.note(ended);
    finished.push(ended);
    for (const { body } of events.slice(before)) characters += body.length;
    await breathe();
  }
  const at = toTimestamp(now);
  failpoint('pump.decided');
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
  await writeBatch(tx, rows, { at, profileHash: dialect.profileHash }, breathe);
  return finished;
}

async function readFlights(
  context: PumpContext,
  tx: Queryable,
  candidates: readonly Ending[],
): Promise<ReadonlyMap<string, ReadFlight>> {
  const flids = new Set<string>();
  for (const candidate of candidates) {
    if (candidate.kind !== 'message') continue;
    for (const flid of flightsNamed(candidate.message)) flids.add(flid);
  }
  return selectFlights(tx, [...flids], context.timeZone);
}

async function readReference(tx: Queryable, batch: readonly Ready[]): ReturnType<typeof selectReference> {
  const needs = batch.flatMap(({ candidate, bound }): ReferenceNeed[] => {
    if (candidate.kind !== 'message' || bound?.duplicate != null) return [];
    const need = referenceNamed(candidate.message);
    return need === null ? [] : [need];
  });
  return selectReference(tx, needs);
}

function applyFlight(
  context: PumpContext,
  world: World,
  message: DecodedMessage,
  identity: string,
  id: bigint,
  change: FlightChange,
  events: NewMessageEvent[],
  touched: FlightMessage[],
): void {
  world.applyFlight(change, id);
  const { after, event, superseded } = change;
  const { flid, version } = after;
  touched.push({
    flid,
    msgId: id,
    stateVersion: event === null ? null : version,
    changed: event?.changed ?? [],
    superseded,
  });
  if (event === null) return;
  const cause = causeOf(msgIdOf(id), identity, message.header);
  events.push({
    flid,
    eventType: event.type,
    stateVersion: version,
    msgId: id,
    body: storable(JSON.stringify(messageEventBody(after, event, cause, context.publication))),
  });
}

/** An unescaped `\\u0000` or lone surrogate in JSON text: what jsonb refuses. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

/**
 * Refuses a value that the flight's row could not hold. The row itself is written once per batch: without this,
 * a later message that overwrites the value would let its author pass, in a batch but not alone.
 */
function storable(body: string): string {
  if (body.includes('\\u') && UNSTORABLE.test(body)) {
    throw new Error('a value has a character that PostgreSQL cannot store');
  }
  return body;
}

function outcomeOf(
  decision: Exclude<Decision, { state: 'FAILED' }>,
): Pick<Terminal, 'state' | 'errorClass' | 'reason' | 'detail'> {
  const { state, reason, detail } = decision;
  return { state, errorClass: state === 'DEAD' ? decision.errorClass : null, reason, detail };
}
