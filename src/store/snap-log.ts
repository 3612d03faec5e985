/** Trace of schedules (seed §1 SCHD_SNAP_LOG): appended outside the business transaction, rebuildable. */
import { statement, type Queryable } from './statement.ts';

export interface SnapshotTrace {
  readonly msgId: bigint;
  readonly styp: string;
  readonly outcome: string;
  /** Records in the package and flights visibly changed by it. */
  readonly records: number;
  readonly changed: number;
  /** First and last operation day named; null where there is none. */
  readonly scopeStart: string | null;
  readonly scopeEnd: string | null;
  readonly receivedAt: string;
}

const INSERT = statement(
  'snapLog.insert',
  `insert into schd_snap_log (msg_id, styp, outcome, records, changed, scope_start, scope_end, recv_at)
   select * from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::date[], $7::date[], $8::timestamptz[])`,
);

/** Appends the traces of a batch. */
export async function insertSnapshotTraces(db: Queryable, traces: readonly SnapshotTrace[]): Promise<void> {
  if (traces.length === 0) return;
  await db.query(INSERT, [
    traces.map(({ msgId }) => msgId),
    traces.map(({ styp }) => styp),
    traces.map(({ outcome }) => outcome),
    traces.map(({ records }) => records),
    traces.map(({ changed }) => changed),
    traces.map(({ scopeStart }) => scopeStart),
    traces.map(({ scopeEnd }) => scopeEnd),
    traces.map(({ receivedAt }) => receivedAt),
  ]);
}
