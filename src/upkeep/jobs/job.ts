/** The common shape of the upkeep jobs (seed §9.3): a run is many small batches, each a transaction of its own. */
import type { Clock } from '../../domain/clock.ts';
import type { Publication } from '../../domain/event.ts';
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
  /** Whether the run has come to its end. */
  readonly done: boolean;
}

/** A run of one job; it remembers where it is. */
export interface Run {
  /** One batch. `progress` records its rows and belongs in its transaction. Throws Outage, LostLease, or what went wrong. */
  batch(progress: (tx: Queryable, rows: number) => Promise<void>): Promise<BatchResult>;
}
