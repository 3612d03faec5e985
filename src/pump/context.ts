/** What the pump works with. */
import type { Clock } from '../domain/clock.ts';
import type { Publication } from '../domain/event.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database } from '../store/database.ts';
import type { RecentTexts } from '../store/recent-texts.ts';
import type { Fence } from '../store/transaction.ts';
import type { RetryTiers } from './retry.ts';

/** What the pump goes by and registers in its transactions (contract, `msgx.requests.*`). */
export interface RequestDuties {
  /** Our SNDR: part of the key of a request. */
  readonly sender: string;
  readonly clockSkewMs: number;
  readonly errorReports: boolean;
  readonly onDeadSchedule: boolean;
}

export interface PumpContext {
  readonly database: Database;
  /** Only for the second look at a row that had no text at intake. */
  readonly mailbox: Pick<Mailbox, 'texts'>;
  readonly dialect: Dialect;
  /** Fence of the lease; null where there is none (tools, tests). */
  readonly fence: Fence | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** IANA name: `updatedAt` is written with its offset. */
  readonly timeZone: string;
  /** HH:mm. */
  readonly operationDayCutoff: string;
  readonly includeDayBoundary: boolean;
  readonly publication: Publication;
  /** Most messages of one transaction (`pipeline.commit-batch`). */
  readonly commitBatch: number;
  /** Most bytes of text of one transaction (`pipeline.batch-bytes`); one message always fits. */
  readonly batchBytes: number;
  readonly maxMessageBytes: number;
  /** Most characters of events of one transaction; one message always fits. Default 64 Mi. */
  readonly eventCharacters?: number;
  readonly retry: RetryTiers;
  /** Texts that the inbox of this process has just stored; others are read from the database. */
  readonly recentTexts?: RecentTexts;
  /** Answers and duties towards the upstream; absent in shadow mode and where nothing is ever requested. */
  readonly requests?: RequestDuties;
  /** Versions that consumers knew before a restore, by FLID; may grow while the pump runs. */
  readonly versionFloors?: ReadonlyMap<string, number>;
  /** Told after each commit how many messages have ended. */
  readonly onProgress?: (messages: number) => void;
}
