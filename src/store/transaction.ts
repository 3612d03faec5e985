/**
 * Transactions that check the lease's epoch when they begin, and cost as few round trips as they can: statements go out
 * without waiting for those before them, wherever what fails cannot do harm.
 */
import pg from 'pg';
import { LostLease, Outage } from '../runtime/outage.ts';
import { control, query, run } from './connection.ts';
import { statement, type Call, type Queryable, type Row, type Statement } from './statement.ts';

/** A transaction as its work sees it. */
export interface Transaction extends Queryable {
  /**
   * Has a statement sent together with the commit, once: where it fails, nothing is committed and the transaction throws
   * its error. Its rows are not seen: what has to hold of them is its own business. So is what the begin was to hold
   * ({@link HELD}), whose answer it does not wait for.
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

/**
 * One connection for transactions one behind the other: the next may be begun while the commit of the one before is
 * underway. What is asked between them is a transaction of its own, and is answered behind what was sent before.
 */
export interface Session extends Queryable {
  begin(options: TransactionOptions): OpenTransaction;
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
   * where it cannot be had before the statement's deadline: that is no message's failure. Whoever is not the pump
   * raises the generation with it, so that the pump knows that what it has read before need not hold any more.
   */
  readonly exclusive?: 'pump' | 'others';
  readonly isolation?: 'read committed' | 'repeatable read';
  readonly readOnly?: boolean;
  /** Commit without waiting for the disk; the next synchronous commit flushes it too. */
  readonly asynchronous?: boolean;
}

/** query_canceled by the statement's deadline, lock_not_available. */
const WAITED_TOO_LONG = new Set(['57014', '55P03']);

const FENCE = statement(
  'database.fence',
  // One row. Its epoch is its key: a takeover waits for whoever holds it, renewals do not.
  'select from lease where epoch = $1 for key share',
);

/** One row: what is locked, and by whom. The pump's generation goes along with its transaction. */
const LOCK = {
  pump: (condition: string) => `select generation from pipeline_lock ${condition} for update`,
  others: (condition: string) =>
    `update pipeline_lock set generation = generation + 1 ${condition} returning generation`,
};
const SET_HELD = `select set_config('msgx.held', generation::text, true) from locked`;

const exclusive = (who: 'pump' | 'others') => ({
  unfenced: statement(
    `database.exclusive.${who}`,
    `with locked as ${who === 'pump' ? 'materialized' : ''} (${LOCK[who]('')}) ${SET_HELD}`,
  ),
  fenced: statement(
    `database.fenceExclusive.${who}`,
    // The fence first: a transaction that has lost its lease does not wait for the lock.
    `with fence as materialized (select true as held from lease where epoch = $1 for key share),
     locked as ${who === 'pump' ? 'materialized' : ''} (${LOCK[who]('where exists (select from fence)')})
     ${SET_HELD}`,
  ),
});
const EXCLUSIVE = { pump: exclusive('pump'), others: exclusive('others') };

/**
 * The generation of pipeline_lock in a transaction that holds it, and the lease where it has a fence; NULL or empty in
 * every other one, and where none has begun. For statements that do not wait for the begin.
 */
export const HELD = `current_setting('msgx.held', true)`;

const HELD_GENERATION = statement('database.held', `select ${HELD}::bigint as generation`);

/** {@link HELD}, in a transaction that holds the lock. */
export async function heldGeneration(tx: Queryable): Promise<bigint> {
  const [row] = await tx.query<{ generation: bigint }>(HELD_GENERATION);
  if (row === undefined) throw new Error('pipeline_lock is not held');
  return row.generation;
}

const NO_ROWS: Promise<readonly Row[]> = Promise.resolve([]);

/** Sends a statement whose answer is waited for later. */
function sent(client: pg.PoolClient, { statement, values }: Call): Promise<readonly Row[]> {
  const rows = run<Row>(client, statement, values);
  rows.catch(() => undefined);
  return rows;
}

/**
 * Begins a transaction without waiting: what it reads at once shares the round trip. It is given no result, and nothing
 * is written, before fence and lock hold, but for the last statement, which sees to it itself.
 */
export function openTransaction(
  client: pg.PoolClient,
  options: TransactionOptions,
  open: Set<OpenTransaction>,
): OpenTransaction {
  const begun = begin(client, options);
  begun.catch(() => undefined);
  let last: Call | null = null;
  const tx: OpenTransaction = {
    begun,
    query: behind(begun, client),
    last: (statement, values) => {
      last = { statement, values };
    },
    commit: () => {
      open.delete(tx);
      return commit(client, begun, last);
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
  const held = heldBy(client, fence ?? null, exclusive);
  for (const answer of await Promise.allSettled([begun, held])) {
    if (answer.status === 'fulfilled') continue;
    const error: unknown = answer.reason;
    const late = error instanceof pg.DatabaseError && WAITED_TOO_LONG.has(error.code ?? '');
    throw exclusive !== undefined && late ? new Outage('database', error) : error;
  }
  if (!(await held)) throw new LostLease();
}

/** Takes what the transaction is to hold; false where the fence's epoch is not current. */
async function heldBy(
  client: pg.PoolClient,
  fence: Fence | null,
  exclusive: 'pump' | 'others' | undefined,
): Promise<boolean> {
  if (fence === null) {
    if (exclusive !== undefined) await query(client, EXCLUSIVE[exclusive].unfenced, []);
    return true;
  }
  const held = exclusive === undefined ? FENCE : EXCLUSIVE[exclusive].fenced;
  const { rowCount } = await query(client, held, [fence.epoch]);
  return rowCount === 1;
}

/** Sends the commit at once where a last statement answers for the begin, else when it has begun. */
async function commit(client: pg.PoolClient, begun: Promise<void>, last: Call | null): Promise<void> {
  if (last === null) await begun;
  const written = last === null ? NO_ROWS : sent(client, last);
  const committed = control(client, 'commit');
  // A failure of the first is the reason for whatever the others answer.
  await Promise.allSettled([begun, written, committed]);
  await begun;
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
