/** The mailbox in PostgreSQL. Each statement lives in its own function beside this file. */
import pg from 'pg';
import type { MsgId } from '../domain/ids.ts';
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
import { check } from './postgres-check.ts';
import { init, isOurs } from './postgres-init.ts';
import { findInbound, type Inbound } from './postgres-names.ts';
import { withOutbound } from './postgres-outbound.ts';
import { bounds, gapsUpTo, lookAhead, rowsAfter, rowsIn, texts } from './postgres-read.ts';
import { PostgresSession, type Run } from './postgres-session.ts';
import { insert, insertAll, mark, openInsert } from './postgres-write.ts';
import { writers } from './postgres-writers.ts';

/** SQLSTATEs by which a table or column is no longer called what we found: it is looked up again. */
const RENAMED = new Set(['42P01', '42703', '3F000']);

/** Opens the adapter; nothing is connected before the first call. */
export async function openPostgresMailbox(options: MailboxOptions): Promise<Mailbox> {
  return new PostgresMailbox(options);
}

class PostgresMailbox implements Mailbox {
  readonly kind = 'postgres';
  readonly name: string;
  readonly #options: MailboxOptions;
  readonly #session: PostgresSession;
  #inbound: Promise<Inbound> | null = null;

  constructor(options: MailboxOptions) {
    this.#options = options;
    this.name = databaseOf(options.url);
    this.#session = new PostgresSession(options);
  }

  async rowsAfter(after: bigint, limit: number): Promise<readonly MailboxRow[]> {
    return this.#on((run, inbound) => rowsAfter(run, inbound, after, limit));
  }

  async lookAhead(after: bigint, limit: number): Promise<LookAhead> {
    return this.#on((run, inbound) => lookAhead(run, inbound, after, limit));
  }

  async rowsIn(ranges: readonly IdRange[], limit?: number): Promise<readonly MailboxRow[]> {
    return this.#on((run, inbound) => rowsIn(run, inbound, ranges, limit ?? null));
  }

  async texts(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string | null>> {
    return this.#on((run, inbound) => texts(run, inbound, ids));
  }

  async bounds(): Promise<{ readonly min: MsgId; readonly max: MsgId } | null> {
    return this.#on(bounds);
  }

  async gapsUpTo(upTo: bigint): Promise<readonly IdRange[]> {
    return this.#on((run, inbound) => gapsUpTo(run, inbound, upTo));
  }

  onInsert(callback: (() => void) | null): void {
    this.#session.listen(callback);
  }

  async writers(): Promise<readonly string[] | null> {
    return this.#on(writers);
  }

  async mark(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, MarkResult>> {
    return this.#on((run, inbound) => mark(run, inbound, ids));
  }

  async insert(text: string): Promise<MsgId> {
    return this.#on((run, inbound) => insert(run, inbound, text));
  }

  async insertAll(all: readonly string[]): Promise<readonly MsgId[]> {
    return this.#on((_, inbound) => this.#session.transaction((run) => insertAll(run, inbound, all)));
  }

  async openInsert(text: string): Promise<OpenInsert> {
    return this.#on((_, inbound) => openInsert(this.#session, inbound, text));
  }

  async withOutbound<T>(work: (outbound: Outbound) => Promise<T>): Promise<T> {
    return withOutbound(this.#session, this.#options.names.outbound, work);
  }

  async isOurs(): Promise<boolean> {
    return isOurs(this.#run);
  }

  async init(): Promise<void> {
    const { names, schema } = this.#options;
    await this.#session.transaction((run) => init(run, names, schema ?? null));
    this.#inbound = null;
  }

  async check(): Promise<readonly CheckLine[]> {
    return check(this.#run, this.#options.names);
  }

  async probe(): Promise<boolean> {
    try {
      await this.#on((run) => run('select 1'));
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  readonly #run: Run = (text, values) => this.#session.query(text, values);

  /** Works on the inbound table as it is really called; looked up once, and again where it was renamed. */
  async #on<T>(work: (run: Run, inbound: Inbound) => Promise<T>): Promise<T> {
    const lookUp = (this.#inbound ??= findInbound(this.#run, this.#options.names.inbound));
    try {
      return await work(this.#run, await lookUp);
    } catch (error) {
      const renamed = error instanceof pg.DatabaseError && RENAMED.has(error.code ?? '');
      if (this.#inbound === lookUp && (renamed || (await failed(lookUp)))) this.#inbound = null;
      throw error;
    }
  }
}

async function failed(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}

/** The database a URL names; like the server, the user's name where it names none. */
function databaseOf(url: string): string {
  const { pathname, username } = new URL(url);
  return decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username) || 'postgres';
}
