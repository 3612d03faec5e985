/**
 * The backfill station: carries processing marks back to the mailbox (seed §6). What is owed is a fact in
 * proc_state; this writes marks, records what became of each, and gives up only as §6.2 says.
 */
import { failpoint } from '#failpoint';
import type { Clock } from '../domain/clock.ts';
import type { Mailbox, MarkResult } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import { AGAIN, REST, type Round } from '../runtime/station.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import {
  abandonMarks,
  confirmMarks,
  postponeMarks,
  selectDueMarks,
  type OwedMark,
} from '../store/owed-mark.ts';
import { toMillis, toTimestamp } from '../store/time.ts';

/** Backoff of a mark that the mailbox refuses, ms: doubling from the first to the cap. */
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_CAP_MS = 5 * 60_000;
/** Rows without an answer after which the rest of a round is left alone: each of them costs a whole deadline. */
const SILENT_ROWS = 3;

export interface BackfillOptions {
  readonly database: Database;
  readonly mailbox: Pick<Mailbox, 'mark' | 'probe'>;
  /** Fence of the lease; null where there is none (tools, tests). */
  readonly fence: Fence | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Most marks of one round (`pipeline.backfill-batch`). */
  readonly batch: number;
  /** R, ms (`pipeline.backfill-deadline`). */
  readonly deadlineMs: number;
  /** Attempts at which a mark raises an alarm, and nothing else (`pipeline.backfill-max-attempts`). */
  readonly alarmAttempts: number;
  /** In shadow mode no mark is written at all. */
  readonly shadow: boolean;
}

/** What became of a round's marks; `failed` are those that the mailbox refused for their own sake, with the reason. */
interface Attempted {
  readonly results: ReadonlyMap<bigint, MarkResult>;
  readonly failed: ReadonlyMap<bigint, string>;
  /** Where the mailbox went away: marks in neither map were not written, or it is not known. */
  readonly outage: Outage | null;
  /** How many of the marks, from the first, this speaks of; the rest was left alone for this round. */
  readonly tried: number;
}

/** Wait after so many attempts, ms. */
export function markBackoff(attempts: number): number {
  return Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(attempts - 1, 30), BACKOFF_CAP_MS);
}

export class Backfill {
  readonly #options: BackfillOptions;

  constructor(options: BackfillOptions) {
    this.#options = options;
  }

  /**
   * One batch of marks. Throws Outage where a dependency is away: no attempt is charged, only marks already
   * past R are given up (seed §6.2). Throws LostLease.
   */
  async round(): Promise<Round> {
    const { database, clock, batch, deadlineMs, shadow } = this.#options;
    if (shadow) return REST;
    const now = clock.now();
    const marks = await selectDueMarks(database, toTimestamp(now), toTimestamp(now - deadlineMs), batch);
    if (marks.length === 0) return REST;
    failpoint('backfill.selected');
    const attempted = await this.#attempt(marks);
    const { tried, outage, results } = attempted;
    failpoint('backfill.marked');
    await this.#record(marks.slice(0, tried), attempted);
    failpoint('backfill.recorded');
    if (outage !== null) throw outage;
    if (tried < marks.length && results.size === 0) {
      throw new Outage('mailbox', new Error('it answers, but takes no mark in time'));
    }
    return tried < marks.length || marks.length === batch ? AGAIN : REST;
  }

  /** All marks in one call; one by one where a row keeps the others from being written. */
  async #attempt(marks: readonly OwedMark[]): Promise<Attempted> {
    const ids = marks.map(({ msgId }) => msgId);
    const whole = await this.#mark(ids);
    if (!('failure' in whole) || ids.length === 1) {
      return { ...this.#gather(ids, [whole]), tried: ids.length };
    }
    const singles: MarkAttempt[] = [];
    for (let silent = 0; singles.length < ids.length && silent < SILENT_ROWS;) {
      const single = await this.#mark(ids.slice(singles.length, singles.length + 1));
      singles.push(single);
      if ('outage' in single) break;
      if ('failure' in single && single.silent) silent += 1;
    }
    const gathered = this.#gather(ids, singles);
    return { ...gathered, tried: gathered.outage === null ? singles.length : ids.length };
  }

  #gather(ids: readonly bigint[], attempts: readonly MarkAttempt[]): Omit<Attempted, 'tried'> {
    const results = new Map<bigint, MarkResult>();
    const failed = new Map<bigint, string>();
    let outage: Outage | null = null;
    attempts.forEach((attempt, index) => {
      if ('outage' in attempt) {
        outage = attempt.outage;
      } else if ('failure' in attempt) {
        const id = ids[index];
        if (id !== undefined) failed.set(id, attempt.failure);
      } else {
        for (const [id, result] of attempt.results) results.set(id, result);
      }
    });
    return { results, failed, outage };
  }

  async #mark(ids: readonly bigint[]): Promise<MarkAttempt> {
    const { mailbox } = this.#options;
    try {
      return { results: await mailbox.mark(ids) };
    } catch (error) {
      if (error instanceof LostLease) throw error;
      // Refused, or no answer in time, e.g. where somebody holds one of the rows: only if the mailbox answers
      // otherwise has this to do with these rows.
      if (await mailbox.probe()) return { failure: messageOf(error), silent: error instanceof Outage };
      return { outage: error instanceof Outage ? error : new Outage('mailbox', error) };
    }
  }

  async #record(marks: readonly OwedMark[], { results, failed, outage }: Attempted): Promise<void> {
    const { database, fence, clock, deadlineMs, alarmAttempts, log } = this.#options;
    const now = clock.now();
    const confirmed: bigint[] = [];
    const missing: bigint[] = [];
    const overdue: bigint[] = [];
    const postponed: { msgId: bigint; attempts: number; nextAt: string }[] = [];
    for (const { msgId, attempts, enqueuedAt } of marks) {
      const result = results.get(msgId);
      if (result !== undefined) {
        (result === 'missing' ? missing : confirmed).push(msgId);
      } else if (toMillis(enqueuedAt) < now - deadlineMs) {
        overdue.push(msgId);
      } else if (failed.has(msgId) || outage === null) {
        const nextAt = toTimestamp(now + markBackoff(attempts + 1));
        postponed.push({ msgId, attempts: attempts + 1, nextAt });
      }
    }
    const at = toTimestamp(now);
    if (confirmed.length + missing.length + overdue.length + postponed.length > 0) {
      await database.transaction(
        async (tx) => {
          await confirmMarks(tx, confirmed, at);
          await abandonMarks(tx, missing, 'MISSING_ROW', at);
          await abandonMarks(tx, overdue, 'TRANSIENT_DEADLINE', at);
          await postponeMarks(tx, postponed);
          failpoint('backfill.written');
        },
        { fence },
      );
    }
    this.#warn('mark abandoned: the mailbox row is gone (MISSING_ROW)', missing);
    const cause = outage === null ? {} : { error: outage.message };
    this.#warn('mark abandoned: not written by the deadline (TRANSIENT_DEADLINE)', overdue, cause);
    for (const { msgId, attempts } of postponed) {
      // Equal, not above: one line per mark.
      if (attempts !== alarmAttempts) continue;
      log.warn({ msgId: msgId.toString(), attempts, error: failed.get(msgId) }, 'mark fails again and again');
    }
  }

  #warn(message: string, ids: readonly bigint[], fields: object = {}): void {
    if (ids.length === 0) return;
    const shown = ids.slice(0, 20).map(String);
    this.#options.log.warn({ ...fields, messages: ids.length, msgIds: shown }, message);
  }
}

type MarkAttempt =
  | { readonly results: ReadonlyMap<bigint, MarkResult> }
  /** These rows failed while the mailbox answers otherwise; `silent` where there was no answer to them at all. */
  | { readonly failure: string; readonly silent: boolean }
  | { readonly outage: Outage };
