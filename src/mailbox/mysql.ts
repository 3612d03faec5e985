/** The mailbox in MySQL or MariaDB. Each statement lives in its own function beside this file. */
import type { MsgId } from '../domain/ids.ts';
import { check } from './mysql-check.ts';
import type { Statements } from './mysql-connection.ts';
import { isRenamed } from './mysql-errors.ts';
import { init, isOurs } from './mysql-init.ts';
import { findInbound, findOutbound, type Inbound, type OutboundTable } from './mysql-names.ts';
import { bounds, gapsUpTo, lookAhead, rowsAfter, rowsIn, texts } from './mysql-read.ts';
import { withOutbound } from './mysql-outbound.ts';
import { MysqlSession } from './mysql-session.ts';
import { readMysqlUrl, type MysqlTarget } from './mysql-url.ts';
import { insertAll, insertOne, mark, openInsert } from './mysql-write.ts';
import { writers } from './mysql-writers.ts';
import type { MailboxOptions } from './options.ts';
import type {
  CheckLine,
  IdRange,
  LookAhead,
  Mailbox,
  MailboxRow,
  MarkResult,
  OpenInsert,
  Outbound,
} from './port.ts';

/**
 * Opens the adapter; nothing is connected before the first call. Throws an Error that says what is wrong with
 * the URL. A schema of the options takes the place of the URL's database, which here is the same thing.
 */
export async function openMysqlMailbox(options: MailboxOptions): Promise<Mailbox> {
  return new MysqlMailbox(options, await readMysqlUrl(options.url, options.schema ?? null));
}

class MysqlMailbox implements Mailbox {
  readonly kind = 'mysql';
  readonly name: string;
  readonly #options: MailboxOptions;
  readonly #session: MysqlSession;
  #inbound: Inbound | null = null;
  #outbound: OutboundTable | null = null;

  constructor(options: MailboxOptions, target: MysqlTarget) {
    this.#options = options;
    this.name = target.database;
    this.#session = new MysqlSession(target, options.timeoutMs);
  }

  async rowsAfter(after: bigint, limit: number): Promise<readonly MailboxRow[]> {
    return this.#on((on, inbound) => rowsAfter(on, inbound, after, limit));
  }

  async lookAhead(after: bigint, limit: number): Promise<LookAhead> {
    return this.#on((on, inbound) => lookAhead(on, inbound, after, limit));
  }

  async rowsIn(ranges: readonly IdRange[], limit?: number): Promise<readonly MailboxRow[]> {
    return this.#on((on, inbound) => rowsIn(on, inbound, ranges, limit ?? null));
  }

  async texts(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string | null>> {
    return this.#on((on, inbound) => texts(on, inbound, ids));
  }

  async bounds(): Promise<{ readonly min: MsgId; readonly max: MsgId } | null> {
    return this.#on(bounds);
  }

  async gapsUpTo(upTo: bigint): Promise<readonly IdRange[]> {
    return this.#on((on, inbound) => gapsUpTo(on, inbound, upTo));
  }

  async writers(): Promise<readonly string[] | null> {
    return this.#on(writers);
  }

  async mark(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, MarkResult>> {
    return this.#on((on, inbound) => mark(on, inbound, ids));
  }

  async insert(text: string): Promise<MsgId> {
    return this.#on((on, inbound) => insertOne(on, inbound, text));
  }

  async insertAll(all: readonly string[]): Promise<readonly MsgId[]> {
    return this.#on((on, inbound) => insertAll(on, inbound, all));
  }

  async openInsert(text: string): Promise<OpenInsert> {
    const inbound = await this.#on(async (_, found) => found);
    return openInsert(this.#session, inbound, text);
  }

  async withOutbound<T>(work: (outbound: Outbound) => Promise<T>): Promise<T> {
    return this.#session.use(async (on) => {
      const table = (this.#outbound ??= await findOutbound(on, this.#options.names.outbound));
      try {
        return await withOutbound(on, table, this.#options.timeoutMs, work);
      } catch (error) {
        if (isRenamed(error)) this.#outbound = null;
        throw error;
      }
    });
  }

  async isOurs(): Promise<boolean> {
    return this.#session.use(isOurs);
  }

  async init(): Promise<void> {
    await this.#session.use((on) => init(on, this.#options.names));
    this.#inbound = null;
    this.#outbound = null;
  }

  async check(): Promise<readonly CheckLine[]> {
    return check((work) => this.#session.use(work), this.#options.names);
  }

  async probe(): Promise<boolean> {
    try {
      await this.#on((on) => on.select('select 1'));
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  /** Works on the inbound table as it is really called; looked up once, and again where it was renamed. */
  async #on<T>(work: (on: Statements, inbound: Inbound) => Promise<T>): Promise<T> {
    return this.#session.use(async (on) => {
      const inbound = (this.#inbound ??= await findInbound(on, this.#options.names.inbound));
      try {
        return await work(on, inbound);
      } catch (error) {
        if (isRenamed(error)) this.#inbound = null;
        throw error;
      }
    });
  }
}
