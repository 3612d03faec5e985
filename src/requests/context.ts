/** What the coordinator of requests works with. */
import type { Clock } from '../domain/clock.ts';
import type { Dialect } from '../dialect/port.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { Log } from '../runtime/log.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';

export interface RequestsContext {
  readonly database: Database;
  readonly mailbox: Pick<Mailbox, 'withOutbound' | 'probe'>;
  readonly dialect: Pick<Dialect, 'encode' | 'decode' | 'decodeInSteps' | 'referenceTypes'>;
  /** Fence of the lease; null where there is none (tools, tests). */
  readonly fence: Fence | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Our SNDR. */
  readonly sender: string;
  /** IANA name. */
  readonly timeZone: string;
  /** HH:mm. */
  readonly operationDayCutoff: string;
  /** After which a try without an answer is looked for, ms (`mailbox.timeout`). */
  readonly mailboxTimeoutMs: number;
  /** How long a request waits for its answer, ms (`requests.timeout`). */
  readonly timeoutMs: number;
  /** `today`, `tomorrow`, `reference` or reference types (`requests.on-start`). */
  readonly onStart: readonly string[];
  /** HH:mm at which the next day is requested; null for never (`requests.daily-at`). */
  readonly dailyAt: string | null;
  /** ROUTINGID per kind; null for none. */
  readonly routing: {
    readonly schedule: string | null;
    readonly reference: string | null;
    readonly errorReport: string | null;
  };
  /** In shadow mode nothing is sent. */
  readonly shadow: boolean;
  /** Told after each message that was written into COUTMSGS. */
  readonly onSent?: () => void;
}
