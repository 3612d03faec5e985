/** What both targets work with. */
import type { Clock } from '../domain/clock.ts';
import type { Publication } from '../domain/event.ts';
import type { Log } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import type { DeliveryRetry } from './retry.ts';

export interface DeliveryContext {
  readonly database: Database;
  /** Fence of the lease; null where there is none (tools, tests). */
  readonly fence: Fence | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** IATA code. */
  readonly airport: string;
  /** IANA name: `updatedAt` is written with its offset. */
  readonly timeZone: string;
  readonly publication: Publication;
  /** Most events of one send (`delivery.batch`). */
  readonly batch: number;
  readonly retry: DeliveryRetry;
  /** Most flights of one flush (`schd.flush-limit`). */
  readonly flushLimit: number;
}
