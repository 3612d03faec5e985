/**
 * Connections to a mailbox in PostgreSQL: few, with deadlines on both sides. The session keeps the
 * database's own time zone: marks are written by its clock and in its zone.
 */
import pg from 'pg';
import { Outage } from '../runtime/outage.ts';
import { DRIVER_TYPES, translateDriverError, withOwnSettings } from '../runtime/postgres.ts';
import { Sockets, closePool } from '../runtime/sockets.ts';
import type { MailboxOptions } from './options.ts';
import { CHANNEL } from './postgres-names.ts';

/** Most connections, as promised to the mailbox's owner (decisions.md); an open insert has its own. */
const CONNECTIONS = 3;
/** The client's deadline lies this much above the server's: it only matters on a half-open connection. */
const GRACE_MS = 500;

/** Runs one statement; unprepared, so that a pooler between us and the server does no harm. */
export type Run = <T>(text: string, values?: readonly unknown[]) => Promise<T[]>;

export class PostgresSession {
  readonly #config: pg.ClientConfig;
  readonly #pool: pg.Pool;
  readonly #sockets = new Sockets();
  readonly #listening = new WeakSet<pg.ClientBase>();
  #onInsert: (() => void) | null = null;

  constructor(options: MailboxOptions) {
    const { url, schema, timeoutMs } = options;
    this.#config = {
      // ISO dates whatever the server's default; the time zone stays the database's.
      ...withOwnSettings(
        url,
        `-c DateStyle=ISO${schema == null ? '' : ` -c search_path=${escapeOption(pg.escapeIdentifier(schema))}`}`,
      ),
      types: DRIVER_TYPES,
      stream: this.#sockets.create,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + GRACE_MS,
      application_name: 'msgx mailbox',
    };
    this.#pool = new pg.Pool({ ...this.#config, max: CONNECTIONS, idleTimeoutMillis: 0 });
    this.#pool.on('error', () => {
      // An idle connection was lost; the pool drops it and the next call connects anew or reports.
    });
    this.#pool.on('acquire', (client) => this.#hear(client));
  }

  /** Tells of inserts that the mailbox announces (NOTIFY), or no longer. */
  listen(callback: (() => void) | null): void {
    this.#onInsert = callback;
  }

  /**
   * Every connection listens, whatever else it is for: the mailbox's owner was promised three of them, and one that is
   * lost listens again as soon as it is replaced.
   */
  #hear(client: pg.ClientBase): void {
    if (this.#onInsert === null || this.#listening.has(client)) return;
    this.#listening.add(client);
    client.on('notification', () => this.#onInsert?.());
    client.query(`listen ${CHANNEL}`).catch(() => {
      // A hot standby refuses it: then the poll interval is all there is. A lost connection shows in the next statement.
    });
  }

  /** One statement, autocommit. Throws Outage where the mailbox is not available or the deadline passed. */
  async query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.#withClient((run) => run<T>(text, values));
  }

  /** Several statements in one transaction. Throws like {@link query}; the transaction is then rolled back. */
  async transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    return this.#withClient(async (run) => {
      await run('begin');
      try {
        const result = await work(run);
        await run('commit');
        return result;
      } catch (error) {
        if (!(error instanceof Outage)) await run('rollback');
        throw error;
      }
    });
  }

  /** A connection of its own, outside the pool; whoever asks for it ends it. */
  async connect(): Promise<{ readonly run: Run; end(): Promise<void> }> {
    const client = new pg.Client(this.#config);
    client.on('error', () => {
      // The next statement on it reports.
    });
    try {
      await client.connect();
    } catch (error) {
      throw translate(error);
    }
    return { run: runOn(client), end: () => client.end().catch(() => undefined) };
  }

  /** Ends what is idle, then, where the mailbox does not answer, everything else. */
  async close(): Promise<void> {
    await closePool(this.#pool, this.#sockets);
  }

  async #withClient<T>(work: (run: Run) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw translate(error);
    }
    let destroy = false;
    const onError = () => {
      destroy = true;
    };
    client.on('error', onError);
    try {
      return await work(runOn(client));
    } catch (error) {
      // After a timeout its answer may still come: such a connection is never used again.
      if (error instanceof Outage) destroy = true;
      throw error;
    } finally {
      client.off('error', onError);
      client.release(destroy);
    }
  }
}

function runOn(client: pg.ClientBase): Run {
  return async <T>(text: string, values: readonly unknown[] = []) => {
    try {
      return (await client.query(text, [...values])).rows as T[];
    } catch (error) {
      throw translate(error);
    }
  };
}

/** A statement the server cancelled at our deadline is the mailbox's trouble too, not a refusal. */
function translate(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === '57014') return new Outage('mailbox', error);
  return translateDriverError('mailbox', error);
}

/** Blanks and backslashes in a value of the `options` start-up parameter. */
function escapeOption(value: string): string {
  return value.replace(/[\\ ]/g, '\\$&');
}
