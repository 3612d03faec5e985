/** What opening a mailbox needs to know; the same for every adapter, module paths included. */
import type { MailboxNames } from '../dialect/port.ts';

export interface MailboxOptions {
  /** `postgres://…`, `mysql://…`, or the path of a module that exports `openMailbox(options): Promise<Mailbox>`. */
  readonly url: string;
  readonly names: MailboxNames;
  /**
   * Schema in which names are looked up first (search_path; in MySQL the database, in place of the URL's); null or
   * absent for the database's own setting.
   */
  readonly schema?: string | null;
  /** Deadline of every call, ms. */
  readonly timeoutMs: number;
}
