/**
 * Has our database been restored from a backup? Asked by each station before its first round of a term (seed §9.2;
 * decisions.md, "Restore from backup"): whoever gives out versions, event IDs or a SEQN must not give one twice. What is
 * found is recorded, so that a later start does not find it again and the audit can name it.
 */
import type { Publication } from '../domain/event.ts';
import type { Clock } from '../domain/clock.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import { Outage } from '../runtime/outage.ts';
import type { Database } from '../store/database.ts';
import { readCursor } from '../store/inbox-cursor.ts';
import {
  addFloors,
  addNote,
  lastEventId,
  markRestored,
  raiseEventIds,
  restoreCeiling,
  selectFloors,
  setSequence,
} from '../store/restore.ts';
import type { Fence } from '../store/transaction.ts';
import { forgottenMarks } from '../upkeep/restore/marks.ts';
import { forgottenOutbound } from '../upkeep/restore/outbound.ts';
import { settle } from '../upkeep/restore/settle.ts';
import { isBeyond, toldBeyond, type Beyond } from '../upkeep/restore/told.ts';
import { TargetUnreadable, type Target, type TargetReader } from '../upkeep/verify/target.ts';

export interface RestoreCheckOptions {
  readonly database: Database;
  readonly mailbox: Mailbox;
  readonly dialect: Dialect;
  readonly target: Target;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly airport: string;
  readonly timeZone: string;
  /** Our SNDR. */
  readonly sender: string;
  /** ms (contract, `requests.clock-skew`). */
  readonly clockSkewMs: number;
  readonly publication: Publication;
  readonly shadow: boolean;
}

/** Pause between two looks whether everything forgotten has been processed, ms. */
const SETTLE_INTERVAL_MS = 1_000;
const FLOORS_CHUNK = 5_000;

export class RestoreCheck {
  readonly #on: RestoreCheckOptions;
  readonly #floors = new Map<string, number>();
  #floorsRead = false;
  #ceiling: bigint | null = null;
  #target: 'unasked' | 'unreadable' | 'done' = 'unasked';
  #marks: 'unasked' | 'ours' | 'forgotten' = 'unasked';
  #outboundDone = false;
  #settled = false;
  #settleAt = Number.NEGATIVE_INFINITY;
  /** One question at a time: several stations ask. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: RestoreCheckOptions) {
    this.#on = options;
  }

  /** Versions above which the next ones lie, by FLID. Complete once `beforePump` has returned. */
  get floors(): ReadonlyMap<string, number> {
    return this.#floors;
  }

  /** Before messages are enqueued: are there marks on messages that we do not know to have ended? */
  async beforeInbox(): Promise<void> {
    if (this.#marks === 'unasked') await this.#inTurn(() => this.#askMarks());
  }

  /**
   * Before versions and event IDs are given out: does the target know more than we do? Where it cannot be read, the
   * pump goes on if the marks say that nothing is forgotten; delivery looks again before it sends.
   */
  async beforePump(): Promise<void> {
    if (this.#target !== 'unasked') return;
    await this.#inTurn(async () => {
      if (this.#target !== 'unasked') return;
      await this.#readFloors();
      try {
        await this.#askTarget();
      } catch (error) {
        if (!(error instanceof TargetUnreadable)) throw error;
        if (!this.#on.shadow) await this.#askMarks();
        if (this.#marks === 'forgotten') {
          throw new Outage(
            'delivery',
            new Error(`our database was restored, and what consumers know cannot be read: ${error.message}`),
          );
        }
        this.#target = 'unreadable';
        this.#on.log.warn(
          { error: error.message },
          'the target of events cannot be read: by the marks in the mailbox our database has forgotten nothing',
        );
      }
    });
  }

  /** Before anything is sent. Throws Outage while the target cannot be read. */
  async beforeDelivery(): Promise<void> {
    await this.beforePump();
    if (this.#target === 'done') return;
    await this.#inTurn(() => this.#askTarget()).catch((error: unknown) => {
      throw error instanceof TargetUnreadable ? new Outage('delivery', error) : error;
    });
  }

  /** Before a SEQN is given out: does COUTMSGS hold messages of ours that we do not know? */
  async beforeRequests(): Promise<void> {
    if (this.#outboundDone || this.#on.shadow) return;
    await this.#inTurn(() => this.#askOutbound());
  }

  /** Now and then, while flights stand below what consumers know. */
  async settle(): Promise<void> {
    const { clock, dialect } = this.#on;
    if (this.#settled || this.#target === 'unasked' || clock.now() < this.#settleAt) return;
    this.#settleAt = clock.now() + SETTLE_INTERVAL_MS;
    let result = await settle({ ...this.#on, profileHash: dialect.profileHash });
    while (result === 'more') result = await settle({ ...this.#on, profileHash: dialect.profileHash });
    this.#settled = result === 'done' && this.#target === 'done';
  }

  async #readFloors(): Promise<void> {
    if (this.#floorsRead) return;
    for (const { flid, version } of await selectFloors(this.#on.database)) this.#floors.set(flid, version);
    this.#floorsRead = true;
  }

  /** As it was before this term has found anything: two signs of the same restore are both told. */
  async #ceilingBefore(): Promise<bigint> {
    return (this.#ceiling ??= await restoreCeiling(this.#on.database));
  }

  async #askMarks(): Promise<void> {
    const { database, mailbox, fence, clock, log, shadow } = this.#on;
    if (this.#marks !== 'unasked') return;
    if (shadow) {
      this.#marks = 'ours';
      return;
    }
    const cursor = await readCursor(database);
    const { unfinished, highest, above } = await forgottenMarks(
      database,
      mailbox,
      cursor,
      await this.#ceilingBefore(),
    );
    if (unfinished.length === 0 && above === 0) {
      this.#marks = 'ours';
      return;
    }
    const now = clock.now();
    await database.transaction(
      async (tx) => {
        await markRestored(tx, unfinished);
        if (above > 0) await addNote(tx, { kind: 'messages', known: cursor.watermark, seen: highest, now });
      },
      { fence },
    );
    this.#marks = 'forgotten';
    log.warn(
      { watermark: cursor.watermark, through: highest, marked: above, unfinished: unfinished.length },
      'our database was restored from a backup: the mailbox carries marks on messages that it does not know to have ended; they are processed again, and their marks stay as they are',
    );
  }

  async #askTarget(): Promise<void> {
    const { database, target } = this.#on;
    await this.#ceilingBefore();
    const tail = await this.#told(await target.openTail());
    if (tail !== null && (await isBeyond(database, tail))) {
      const whole = await this.#told(await target.open());
      await this.#record(whole === null ? tail : merged(whole, tail));
    }
    this.#target = 'done';
  }

  async #told(reader: TargetReader | null): Promise<Beyond | null> {
    if (reader === null) return null;
    try {
      return await toldBeyond(this.#on.database, reader, `/msgx/${this.#on.airport}`);
    } finally {
      await reader.close();
    }
  }

  async #record({ eventId, msgId, versions }: Beyond): Promise<void> {
    const { database, fence, clock, log } = this.#on;
    const now = clock.now();
    const { known, watermark } = await database.transaction(
      async (tx) => {
        const facts = { known: await lastEventId(tx), watermark: (await readCursor(tx)).watermark };
        await addNote(tx, { kind: 'events', known: facts.known, seen: eventId, now });
        if (msgId > facts.watermark)
          await addNote(tx, { kind: 'messages', known: facts.watermark, seen: msgId, now });
        for (let at = 0; at < versions.length; at += FLOORS_CHUNK)
          await addFloors(tx, versions.slice(at, at + FLOORS_CHUNK), now);
        // What the pump has decided without them is not written: the generation is raised.
        for (const { flid, version } of versions)
          this.#floors.set(flid, Math.max(version, this.#floors.get(flid) ?? 0));
        // Last: what cannot be rolled back would hide the sign from the next start.
        await raiseEventIds(tx, eventId);
        return facts;
      },
      { fence, exclusive: 'others' },
    );
    log.warn(
      { lastEventId: known, toldEventId: eventId, flights: versions.length, watermark, toldMessage: msgId },
      'our database was restored from a backup: the target of events holds more than it knows; event IDs and versions of flights go on above what was told, and what the mailbox still has is processed again',
    );
  }

  async #askOutbound(): Promise<void> {
    const { database, mailbox, fence, clock, log } = this.#on;
    if (this.#outboundDone) return;
    const { known, newest, messages } = await forgottenOutbound(database, mailbox, this.#on);
    if (newest !== null) {
      await database.transaction(
        async (tx) => {
          await setSequence(tx, newest);
          await addNote(tx, {
            kind: 'requests',
            known: BigInt(known),
            seen: BigInt(newest),
            now: clock.now(),
          });
        },
        { fence },
      );
      log.warn(
        { messages, lastSequence: known, newestSequence: newest },
        'our database was restored from a backup: COUTMSGS holds messages of ours that it does not know; our SEQN goes on behind the furthest. Answers to forgotten requests are skipped as no-open-request: ask again',
      );
    }
    this.#outboundDone = true;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    return turn;
  }
}

/** Versions of the tail are in the whole, unless the stream went on in between. */
function merged(whole: Beyond, tail: Beyond): Beyond {
  const versions = new Map(whole.versions.map(({ flid, version }) => [flid, version]));
  for (const { flid, version } of tail.versions)
    versions.set(flid, Math.max(version, versions.get(flid) ?? 0));
  return {
    eventId: whole.eventId > tail.eventId ? whole.eventId : tail.eventId,
    msgId: whole.msgId > tail.msgId ? whole.msgId : tail.msgId,
    versions: [...versions].map(([flid, version]) => ({ flid, version })),
  };
}
