/** The common shape of the upkeep jobs (seed §9.3): a run is many small batches, each a transaction of its own. */
import type { Clock } from '../../domain/clock.ts';
import type { Publication } from '../../domain/event.ts';
import { operationDay } from '../../domain/operation-day.ts';
import { airportTime } from '../../runtime/airport-time.ts';
import type { Log } from '../../runtime/log.ts';
import type { Database } from '../../store/database.ts';
import type { Queryable } from '../../store/statement.ts';
import type { Fence } from '../../store/transaction.ts';

export const JOBS = ['flights', 'messages', 'texts', 'events', 'snap-log', 'requests'] as const;
export type JobName = (typeof JOBS)[number];

/** How old things may become, ms (contract, "Configuration"). */
export interface Retention {
  readonly flightsMs: number;
  readonly procStateMs: number;
  readonly rawMs: number;
  readonly eventsMs: number;
  readonly snapLogMs: number;
}

export interface JobContext {
  readonly database: Database;
  /** Null where there is no lease (tools, tests). */
  readonly fence: Fence | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeZone: string;
  /** HH:mm. */
  readonly operationDayCutoff: string;
  readonly publication: Publication;
  readonly retention: Retention;
}

/** What a batch did. */
export interface BatchResult {
  readonly rows: number;
  /** Whether the run has come to its end: nothing is left, or it gives way to somebody for now. Null where it goes on. */
  readonly end: 'nothing-left' | 'for-now' | null;
}

/** Records the rows of a batch; belongs in its transaction. */
export type Progress = (tx: Queryable, rows: number) => Promise<void>;

/** A run of one job; it remembers where it is. */
export interface Run {
  /** One batch. Throws Outage, LostLease, or what went wrong. */
  batch(progress: Progress): Promise<BatchResult>;
}

/** The operation day before which flights, and traces, of a retention are over. */
export function dayBefore({ clock, timeZone, operationDayCutoff }: JobContext, retentionMs: number): string {
  return operationDay(airportTime(clock.now() - retentionMs, timeZone), operationDayCutoff);
}

/** A stretch of rows as a walk up their IDs meets them. */
export interface Stretch {
  /** Last ID looked at; null where there is none. */
  readonly last: bigint | null;
  readonly looked: number;
  /** Rows old enough, whether they may go or not. */
  readonly old: number;
}

/** Rows of one stretch. */
export const STRETCH_ROWS = 500;
/** A walk ends behind so many rows none of which is old: late ones lie among older ones. */
const YOUNG = 5_000;

/**
 * A run up the IDs, the oldest first.
 *
 * @param work looks at the {@link STRETCH_ROWS} behind an ID, and does what is to be done
 */
export function walking(
  work: (after: bigint, progress: Progress) => Promise<Stretch & { readonly rows: number }>,
): Run {
  let after = -1n;
  let young = 0;
  return {
    async batch(progress) {
      const { last, looked, old, rows } = await work(after, progress);
      after = last ?? after;
      young = old === 0 ? young + looked : 0;
      return { rows, end: looked < STRETCH_ROWS || young >= YOUNG ? 'nothing-left' : null };
    },
  };
}
