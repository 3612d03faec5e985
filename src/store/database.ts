/**
 * Access to our own PostgreSQL: a small pool whose connections have deadlines, statements with names (they
 * are prepared once per connection), and transactions that check the lease's epoch when they begin.
 */
import pg from 'pg';
import { LostLease, Outage } from '../runtime/outage.ts';
import { DRIVER_TYPES, translateDriverError, withOwnSettings } from '../runtime/postgres.ts';
import { Sockets, closePool } from '../runtime/sockets.ts';

/** A SQL statement with a name, which is also its prepared name and its label in metrics. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Names a statement. Names are unique in the program. */
export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** Names the parameters of a part of a statement, from 1: `$(1)` may become `$9`. */
export type Placeholder = (place: number) => string;

/** A row as the driver gives it: int8 as BigInt, timestamptz and date as text, json parsed. */
export type Row = Record<string, unknown>;

/** Anything statements run on: the pool or one transaction. */
export interface Queryable {
  /**
   * Runs a statement. Throws Outage where the database is not available, else the driver's DatabaseError. On a
   * transaction, statements that are not waited for one by one run in the order of the calls, with one round trip
   * for all; where one fails, those behind it fail too.
   */
  query<T = Row>(statement: Statement, values?: readonly unknown[]): Promise<T[]>;
}

/** A statement with its values, to be sent. */
export interface Call {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** A transaction as its work sees it. */
export interface Transaction extends Queryable {
  /** Rows of `options.first`; nothing that was written before them is known to be there. */
  readonly first: Promise<readonly Row[]>;
  /**
   * Has a statement sent together with the commit, once: where it fails, nothing is committed and the transaction throws
   * its error. Its rows are not seen: what has to hold of them is its own business.
   */
  last(statement: Statement, values: readonly unknown[]): void;
}

/** A transaction that has been begun; whoever began it ends it. */
export interface OpenTransaction extends Transaction {
  /** Done when it has begun and what it was to hold is held. Throws LostLease and Outage. */
  readonly begun: Promise<void>;
  /** Commits, with what was to go out with it. Throws what kept it from being done; the transaction is over in any case. */
  commit(): Promise<void>;
  /** Ends it without a trace, whatever became of its begin; what `first` did stays. */
  rollback(): Promise<void>;
}

/** One connection for transactions one behind the other: the next may be begun while the commit of the one before is underway. */
export interface Session {
  begin(options: TransactionOptions): OpenTransaction;
}

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

/** The fence of the active instance: a transaction begun with it writes only while its epoch is current. */
export interface Fence {
  readonly epoch: bigint;
}

export interface TransactionOptions {
  /** Begin by locking the lease row of this epoch FOR KEY SHARE. */
  readonly fence?: Fence | null;
  /**
   * Take the lock that pump and cleaner exclude each other by (seed INV-18), until the transaction ends. Throws Outage
   * where it cannot be had before the statement's deadline: that is no message's failure.
   */
  readonly exclusive?: boolean;
  readonly isolation?: 'read committed' | 'repeatable read';
  readonly readOnly?: boolean;
  /** Sent ahead of the begin in the same round trip: a transaction of its own, whatever becomes of this one. */
  readonly first?: Call;
  /** Commit without waiting for the disk; the next synchronous commit flushes it too. */
  readonly asynchronous?: boolean;
}

export class Database implements Queryable {
  readonly schema: string;
  readonly #pool: pg.Pool;
  readonly #sockets = new Sockets();
  readonly #pids = new Set<number>();

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
      try {
        return await work({ begin: (options) => openTransaction(client, options, open) });
      } catch (error) {
        // A connection that failed is not used again.
        if (!(error instanceof Outage)) for (const tx of open) await tx.rollback();
        throw error;
      }
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

  /** Ends what is idle, then, where the server does not answer, everything else. */
  async close(): Promise<void> {
    await closePool(this.#pool, this.#sockets);
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

/** query_canceled by the statement's deadline, lock_not_available. */
const WAITED_TOO_LONG = new Set(['57014', '55P03']);

const FENCE = statement(
  'database.fence',
  // One row. Its epoch is its key: a takeover waits for whoever holds it, renewals do not.
  'select from lease where epoch = $1 for key share',
);
const EXCLUSIVE = statement('database.exclusive', 'select from pipeline_lock for update');
const FENCE_EXCLUSIVE = statement(
  'database.fenceExclusive',
  // One row each, the fence first: a transaction that has lost its lease does not wait for the lock.
  `with fence as materialized (select true as held from lease where epoch = $1 for key share),
   locked as materialized (select true as held from pipeline_lock where exists (select from fence) for update)
   select from locked`,
);
const NO_ROWS: Promise<readonly Row[]> = Promise.resolve([]);

/** Sends a statement whose answer is waited for later. */
function sent(client: pg.PoolClient, { statement, values }: Call): Promise<readonly Row[]> {
  const rows = run<Row>(client, statement, values);
  rows.catch(() => undefined);
  return rows;
}

/**
 * Begins a transaction without waiting: what it reads at once shares the round trip. It is given no result, and nothing
 * is written, before fence and lock hold.
 */
function openTransaction(
  client: pg.PoolClient,
  options: TransactionOptions,
  open: Set<OpenTransaction>,
): OpenTransaction {
  const first = options.first === undefined ? NO_ROWS : sent(client, options.first);
  const begun = begin(client, options);
  begun.catch(() => undefined);
  let last: Call | null = null;
  const tx: OpenTransaction = {
    first,
    begun,
    query: behind(begun, client),
    last: (statement, values) => {
      last = { statement, values };
    },
    commit: () => {
      open.delete(tx);
      return commit(client, last);
    },
    rollback: async () => {
      open.delete(tx);
      await control(client, 'rollback');
    },
  };
  open.add(tx);
  return tx;
}

/** Begins; where it throws, a transaction may be open and has to be rolled back. One round trip for all. */
async function begin(client: pg.PoolClient, options: TransactionOptions): Promise<void> {
  const { isolation, readOnly, asynchronous, fence, exclusive } = options;
  const parts = [
    `begin isolation level ${isolation ?? 'read committed'} ${readOnly === true ? 'read only' : ''}`,
    ...(asynchronous === true ? ['set local synchronous_commit = off'] : []),
  ];
  const begun = control(client, parts.join('; '));
  const held = heldBy(client, fence ?? null, exclusive === true);
  for (const answer of await Promise.allSettled([begun, held])) {
    if (answer.status === 'fulfilled') continue;
    const error: unknown = answer.reason;
    const late = error instanceof pg.DatabaseError && WAITED_TOO_LONG.has(error.code ?? '');
    throw exclusive === true && late ? new Outage('database', error) : error;
  }
  if (!(await held)) throw new LostLease();
}

/** Takes what the transaction is to hold; false where the fence's epoch is not current. */
async function heldBy(client: pg.PoolClient, fence: Fence | null, exclusive: boolean): Promise<boolean> {
  if (fence === null) {
    if (exclusive) await query(client, EXCLUSIVE, []);
    return true;
  }
  const { rowCount } = await query(client, exclusive ? FENCE_EXCLUSIVE : FENCE, [fence.epoch]);
  return rowCount === 1;
}

async function commit(client: pg.PoolClient, last: Call | null): Promise<void> {
  const written = last === null ? NO_ROWS : sent(client, last);
  const committed = control(client, 'commit');
  // A failure of the first is the reason for whatever the other answers.
  await Promise.allSettled([written, committed]);
  await written;
  const [answer] = await committed;
  if (answer?.command !== 'COMMIT')
    throw new Error('the commit was answered by a rollback: a statement had failed');
}

/**
 * The transaction as its work sees it. Only selects go out before the begin is answered: had it failed, anything
 * else would be committed at once, and without the fence. What fails because a statement before it has failed
 * throws that one's error.
 */
function behind(begun: Promise<void>, client: pg.PoolClient): Queryable['query'] {
  let open = false;
  let held = false;
  let cause: { readonly error: unknown } | null = null;
  begun.then(
    () => {
      open = true;
    },
    () => undefined,
  );
  const send = async <T>(statement: Statement, values: readonly unknown[]): Promise<T[]> => {
    try {
      return await run<T>(client, statement, values);
    } catch (error) {
      const follows = error instanceof pg.DatabaseError && error.code === IN_FAILED_TRANSACTION;
      if (follows && cause !== null) throw cause.error;
      cause ??= { error };
      throw error;
    }
  };
  return async <T = Row>(statement: Statement, values: readonly unknown[] = []): Promise<T[]> => {
    if (open) return send<T>(statement, values);
    if (!PLAIN_SELECT.test(statement.text) || held) {
      held = true;
      await begun;
      return send<T>(statement, values);
    }
    const rows = send<T>(statement, values);
    rows.catch(() => undefined);
    await begun;
    return rows;
  };
}

const PLAIN_SELECT = /^\s*select\b/i;
const IN_FAILED_TRANSACTION = '25P02';

/** Runs unprepared text without parameters: begin, commit, rollback. */
async function control(client: pg.PoolClient, text: string, deadlineMs?: number): Promise<pg.QueryResult[]> {
  try {
    // A deadline of one statement is missing in the driver's types.
    const query: pg.QueryConfig & { readonly query_timeout?: number } =
      deadlineMs === undefined ? { text } : { text, query_timeout: deadlineMs };
    const results: unknown = await client.query(query);
    return (Array.isArray(results) ? results : [results]) as pg.QueryResult[];
  } catch (error) {
    throw translate(error);
  }
}

async function run<T>(client: pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<T[]> {
  return (await query(client, statement, values)).rows as T[];
}

async function query(
  client: pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<pg.QueryResult> {
  try {
    return await client.query({ name: statement.name, text: statement.text, values: [...values] });
  } catch (error) {
    throw translate(error);
  }
}

function pidOf(client: pg.PoolClient): number | null {
  const pid = (client as unknown as { processID?: number | null }).processID;
  return typeof pid === 'number' ? pid : null;
}

function translate(error: unknown): unknown {
  return translateDriverError('database', error);
}
