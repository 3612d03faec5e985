/** When upkeep jobs ran and run next (seed §9.3). A handful of rows: no statement needs another index than the primary key. */
import { statement, type Queryable } from './statement.ts';
import { toMillis, toMillisOrNull, toTimestamp } from './time.ts';

/** A job as it stands; times in ms. */
export interface JobRow {
  readonly job: string;
  readonly nextAt: number;
  readonly startedAt: number | null;
  /** End of the last run that came to its end. */
  readonly endedAt: number | null;
  /** Rows of the run underway or of the last one, and of all runs. */
  readonly rowsRun: number;
  readonly rowsTotal: number;
  /** Failures since the last batch that went well. */
  readonly failures: number;
  readonly failedAt: number | null;
  readonly error: string | null;
}

interface StoredJob {
  readonly job: string;
  readonly nextAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly rowsRun: bigint;
  readonly rowsTotal: bigint;
  readonly failures: number;
  readonly failedAt: string | null;
  readonly error: string | null;
}

const SELECT = statement(
  'upkeepJob.select',
  `select job, next_at as "nextAt", started_at as "startedAt", ended_at as "endedAt", rows_run as "rowsRun",
     rows_total as "rowsTotal", failures, failed_at as "failedAt", error
   from upkeep_job order by job`,
);

/** Every job that has been begun at least once. */
export async function selectJobs(db: Queryable): Promise<readonly JobRow[]> {
  return (await db.query<StoredJob>(SELECT)).map((row) => ({
    ...row,
    nextAt: toMillis(row.nextAt),
    startedAt: toMillisOrNull(row.startedAt),
    endedAt: toMillisOrNull(row.endedAt),
    failedAt: toMillisOrNull(row.failedAt),
    rowsRun: Number(row.rowsRun),
    rowsTotal: Number(row.rowsTotal),
  }));
}

const BEGIN = statement(
  'upkeepJob.begin',
  `insert into upkeep_job (job, next_at, started_at) values ($1, $2, $2)
   on conflict (job) do update set started_at = excluded.started_at, rows_run = 0`,
);

/** A run begins. */
export async function beginJob(tx: Queryable, job: string, now: number): Promise<void> {
  await tx.query(BEGIN, [job, toTimestamp(now)]);
}

const PROGRESS = statement(
  'upkeepJob.progress',
  `update upkeep_job set rows_run = rows_run + $2, rows_total = rows_total + $2, failures = 0, error = null
   where job = $1`,
);

/** A batch went well; belongs in its transaction. */
export async function progressJob(tx: Queryable, job: string, rows: number): Promise<void> {
  await tx.query(PROGRESS, [job, rows]);
}

const END = statement(
  'upkeepJob.end',
  `update upkeep_job set ended_at = $2, next_at = $3, failures = 0, error = null where job = $1`,
);

/** The run has come to its end. */
export async function endJob(tx: Queryable, job: string, now: number, nextAt: number): Promise<void> {
  await tx.query(END, [job, toTimestamp(now), toTimestamp(nextAt)]);
}

const FAIL = statement(
  'upkeepJob.fail',
  `insert into upkeep_job (job, next_at, started_at, failures, failed_at, error) values ($1, $3, $2, 1, $2, $4)
   on conflict (job) do update set next_at = excluded.next_at, failures = upkeep_job.failures + 1,
     failed_at = excluded.failed_at, error = excluded.error`,
);

/** A batch failed for its own sake; it is tried again at `nextAt`. */
export async function failJob(
  tx: Queryable,
  job: string,
  failure: { readonly now: number; readonly nextAt: number; readonly error: string },
): Promise<void> {
  await tx.query(FAIL, [job, toTimestamp(failure.now), toTimestamp(failure.nextAt), failure.error]);
}

const LOAD = statement(
  'upkeepJob.load',
  // proc_state_unfinished: its first entry, and no more entries than are asked for.
  `select (select count(*)::integer from (
       select from proc_state where state in ('PENDING', 'FAILED') limit $1) counted) as backlog,
     (select case when state = 'PENDING' or next_attempt_at <= $2 then coalesce(next_attempt_at, enqueued_at) end
      from proc_state where state in ('PENDING', 'FAILED') order by msg_id limit 1) as "waitingSince"`,
);

/** How the line stands: unfinished messages, counted up to a limit, and since when its head could have been processed. */
export interface LineLoad {
  readonly backlog: number;
  /** ms; null where there is no head, or it waits for its next attempt. */
  readonly waitingSince: number | null;
}

/** Reads how the line stands. */
export async function selectLineLoad(db: Queryable, most: number, now: number): Promise<LineLoad> {
  const values = [most, toTimestamp(now)];
  const [row] = await db.query<{ backlog: number; waitingSince: string | null }>(LOAD, values);
  return { backlog: row?.backlog ?? 0, waitingSince: toMillisOrNull(row?.waitingSince ?? null) };
}
