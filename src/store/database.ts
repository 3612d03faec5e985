/**
 * Access to our own PostgreSQL: a small pool whose connections have deadlines, statements with names (they
 * are prepared once per connection), and transactions.
 */
import pg from 'pg';
import { Outage } from '../runtime/outage.ts';
import { DRIVER_TYPES, withOwnSettings } from '../runtime/postgres.ts';
import { Sockets, closePool } from '../runtime/sockets.ts';
import { control, run, translate } from './connection.ts';
import type { Queryable, Row, Statement } from './statement.ts';
import {
  openTransaction,
  type OpenTransaction,
  type Session,
  type Transaction,
  type TransactionOptions,
} from './transaction.ts';

export interface DatabaseOptions {
  readonly url: string;
  readonly schema: string;
  /** Most connections in the pool. Default 6. */
  readonly maxConnections?: number;
  /** Deadline of one statement, ms. Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** Deadline of connecting, ms. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * A session idle inside a transaction longer than this is ended by the server, ms. Default 3,000, below
   * the lease's TTL, so that a stopped holder cannot keep its row locks (decisions.md).
   */
  readonly idleInTransactionMs?: number;
  readonly applicationName?: string;
}

export class Database implements Queryable {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #sockets = new Sockets();
  readonly #pids = new Set<number>();
  #closed: Promise<void> | null = null;

  constructor(options: DatabaseOptions) {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(options.schema)) {
      throw new RangeError(`database.schema ${JSON.stringify(options.schema)} is no plain lower-case name`);
    }
    this.schema = options.schema;
    const statementTimeout = options.statementTimeoutMs ?? 30_000;
    this.#pool = new pg.Pool({
      ...withOwnSettings(options.url, sessionSettings(options, statementTimeout)),
      max: options.maxConnections ?? 6,
      // Statements go out as they come, not each after the answer to the one before.
      pipeline: true,
      types: DRIVER_TYPES,
      stream: this.#sockets.create,
      keepAlive: true,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      idleTimeoutMillis: 0,
      // The client's own deadline lies above the server's: it only matters on a half-open connection.
      query_timeout: statementTimeout + 2_000,
      application_name: options.applicationName ?? 'msgx',
    });
    this.#pool.on('error', () => {
      // An idle connection was lost; the pool drops it and the next query connects anew or reports.
    });
    this.#pool.on('connect', (client) => {
      const pid = pidOf(client);
      if (pid !== null) this.#pids.add(pid);
    });
    this.#pool.on('remove', (client) => {
      const pid = pidOf(client);
      if (pid !== null) this.#pids.delete(pid);
    });
  }

  /** Backend PIDs of the open connections; the lease stores them for a standby to terminate. */
  get backendPids(): readonly number[] {
    return [...this.#pids];
  }

  async query<T = Row>(statement: Statement, values: readonly unknown[] = []): Promise<T[]> {
    const client = await this.#connect();
    return this.#on(client, () => run<T>(client, statement, values));
  }

  /**
   * Runs work in a transaction. Throws LostLease where the fence's epoch is no longer current, Outage where
   * the database is not available (the commit may or may not have happened: the rows tell). The work begins
   * when the fence holds.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.session(async (session) => {
      const tx = session.begin(options);
      await tx.begun;
      const result = await work(tx);
      await tx.commit();
      return result;
    });
  }

  /** Runs work on one connection; a transaction that it leaves open is rolled back. Throws Outage, and what the work throws. */
  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    return this.#on(client, async () => {
      const open = new Set<OpenTransaction>();
      const leave = async () => {
        for (const tx of open) await tx.rollback();
      };
      let result: T;
      try {
        result = await work({
          begin: (options) => openTransaction(client, options, open),
          query: (statement, values = []) => run(client, statement, values),
        });
      } catch (error) {
        // A connection that failed is not used again.
        if (!(error instanceof Outage)) await leave();
        throw error;
      }
      await leave();
      return result;
    });
  }

  /** Runs work in a transaction that is always rolled back: a trial. */
  async trial<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    return this.#on(client, async () => {
      await control(client, 'begin');
      try {
        return await work({ query: (statement, values = []) => run(client, statement, values) });
      } finally {
        await control(client, 'rollback');
      }
    });
  }

  /** Whether the database answers at all, within a deadline of its own after that of connecting. */
  async probe(): Promise<boolean> {
    return this.#answers('select 1');
  }

  /**
   * Whether the database also commits in time: a record in its log, flushed. It tells a statement that is too slow
   * by itself from a server whose disk does not answer.
   */
  async commits(): Promise<boolean> {
    return this.#answers(`select pg_logical_emit_message(true, 'msgx', '')`);
  }

  /** Ends all connections at once, with what is underway on them: an Outage for whoever waits. New calls connect anew. */
  dropConnections(): void {
    this.#sockets.destroy();
  }

  /** Ends what is idle, then, where the server does not answer, everything else. May be called again. */
  close(): Promise<void> {
    // The pool throws at its second end, and a stop in time closes what the orderly end is closing too.
    return (this.#closed ??= closePool(this.#pool, this.#sockets));
  }

  /** Runs a statement as a transaction of its own; a session that does not answer to it is not used again. */
  async #answers(text: string): Promise<boolean> {
    try {
      const client = await this.#connect();
      await this.#on(client, () => control(client, text, PROBE_MS));
      return true;
    } catch {
      return false;
    }
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw translate(error);
    }
  }

  /** Runs on a client and gives it back; a client whose connection failed or timed out is destroyed. */
  async #on<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
    let destroy = false;
    const onError = () => {
      destroy = true;
    };
    client.on('error', onError);
    try {
      return await work();
    } catch (error) {
      if (error instanceof Outage) destroy = true;
      throw error;
    } finally {
      client.off('error', onError);
      client.release(destroy);
    }
  }
}

/** The `options` start-up parameter: settings of every session. */
function sessionSettings(
  { schema, idleInTransactionMs }: DatabaseOptions,
  statementTimeoutMs: number,
): string {
  return [
    `-c search_path=${schema}`,
    '-c TimeZone=UTC',
    '-c DateStyle=ISO',
    `-c statement_timeout=${String(statementTimeoutMs)}`,
    `-c idle_in_transaction_session_timeout=${String(idleInTransactionMs ?? 3_000)}`,
    // Whoever waits for somebody else's lock is told so before a deadline that could be its own fault.
    `-c lock_timeout=${String(Math.ceil(statementTimeoutMs * 0.8))}`,
    '-c tcp_user_timeout=3000',
  ].join(' ');
}

/** Deadline of a probe, ms. */
const PROBE_MS = 5_000;

function pidOf(client: pg.PoolClient): number | null {
  const pid = (client as unknown as { processID?: number | null }).processID;
  return typeof pid === 'number' ? pid : null;
}
