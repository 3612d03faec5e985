/** Statements on the lease row (decisions.md, "One active instance, fenced"). One row: no index is needed. */
import { statement, type Queryable } from './statement.ts';

/** The lease as another instance sees it. */
export interface LeaseRow {
  readonly epoch: bigint;
  readonly holder: string | null;
  /** By database time. */
  readonly expired: boolean;
  readonly backendPids: readonly number[];
}

const SELECT = statement(
  'lease.select',
  `select epoch, holder, expires_at <= clock_timestamp() as expired, backend_pids as "backendPids" from lease`,
);

/** Reads the lease. */
export async function selectLease(db: Queryable): Promise<LeaseRow> {
  const [row] = await db.query<LeaseRow>(SELECT);
  if (row === undefined) throw new Error('the lease row is missing: run msgx migrate');
  return row;
}

const SERIALISE = statement(
  'lease.serialise',
  `select pg_try_advisory_xact_lock(hashtext('msgx lease'), hashtext(current_schema)) as locked`,
);

/** Serialises takeovers; false where another standby is raising the epoch right now. */
export async function serialiseTakeover(tx: Queryable): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(SERIALISE);
  return row?.locked === true;
}

const TERMINATE = statement(
  'lease.terminate',
  `select pg_terminate_backend(pid) from pg_stat_activity
   where application_name = $1 and datname = current_database() and usename = current_user
     and pid <> pg_backend_pid()`,
);

/**
 * Ends the sessions of a former holder, so that it keeps no row lock. They bear its unique name: the PIDs in the
 * lease are for people, they lack the sessions opened since its last renewal and may have been given out again.
 */
export async function terminateSessions(tx: Queryable, applicationName: string): Promise<void> {
  await tx.query(TERMINATE, [applicationName]);
}

const RAISE = statement(
  'lease.raise',
  `update lease set epoch = epoch + 1, holder = $2, backend_pids = '{}',
     expires_at = clock_timestamp() + $3::integer * interval '1 millisecond'
   where epoch = $1 and expires_at <= clock_timestamp()
   returning epoch`,
);

/** Takes the lease over from an expired epoch; null where somebody was faster. Waits for holders of the row. */
export async function raiseEpoch(
  tx: Queryable,
  from: bigint,
  holder: string,
  ttlMs: number,
): Promise<bigint | null> {
  const [row] = await tx.query<{ epoch: bigint }>(RAISE, [from, holder, ttlMs]);
  return row?.epoch ?? null;
}

const RENEW = statement(
  'lease.renew',
  `update lease set expires_at = clock_timestamp() + $3::integer * interval '1 millisecond', backend_pids = $4
   where epoch = $1 and holder = $2
   returning epoch`,
);

/** Renews; false where the epoch is no longer ours. Touches no key column, so it waits for no station. */
export async function renewLease(
  db: Queryable,
  epoch: bigint,
  holder: string,
  ttlMs: number,
  backendPids: readonly number[],
): Promise<boolean> {
  return (await db.query(RENEW, [epoch, holder, ttlMs, backendPids])).length === 1;
}

const RELEASE = statement(
  'lease.release',
  `update lease set expires_at = '-infinity', holder = null, backend_pids = '{}' where epoch = $1 and holder = $2`,
);

/** Gives the lease back at a clean stop, so that the next instance need not wait. */
export async function releaseLease(db: Queryable, epoch: bigint, holder: string): Promise<void> {
  await db.query(RELEASE, [epoch, holder]);
}

const NOW = statement('lease.now', `select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`);

/** Database time in milliseconds: what clocks are anchored to. */
export async function databaseNow(db: Queryable): Promise<number> {
  const [row] = await db.query<{ now: bigint }>(NOW);
  return Number(row?.now ?? 0n);
}
