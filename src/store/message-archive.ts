/**
 * The archive of processing records (seed §9.3; decisions.md, "Archives"): PROC_STATE to PROC_STATE_HST. Identities stay
 * where they are, so a plain move keeps duplicates known.
 */
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** Columns that both tables have; a test compares them with the tables. */
export const ARCHIVED_COLUMNS = `msg_id, type, styp, identity_key, state, attempts, error_class, last_error, reason,
     next_attempt_at, received_at, enqueued_at, terminal_at, terminal_seq, late, replayed, restored, shadow,
     marked_at_intake, detail, profile_hash, backfill_next_at, backfill_at, backfill_attempts, backfill_abandoned_at,
     backfill_abandoned_reason, backfill_confirmed_at, backfill_confirmed_by`;

/**
 * What may go: ended long ago, and nothing is to be done about its mark any more. An abandoned one that nobody has
 * confirmed may still be reopened. Parameter 2 is the time before which it has to have ended.
 */
const SETTLED = `terminal_at < $2::timestamptz
     and (shadow or backfill_at is not null or backfill_confirmed_at is not null)`;

/** A stretch of messages as a run meets them. */
export interface MessageStretch {
  /** Last ID looked at; null where there is none. */
  readonly last: bigint | null;
  /** Those that may be archived, ascending. */
  readonly ready: readonly bigint[];
  /** Rows old enough, ready or not. */
  readonly old: number;
  readonly looked: number;
}

const STRETCH = statement(
  'messageArchive.stretch',
  // Primary key from the given ID upwards.
  `select max(msg_id) as last, count(*)::integer as looked,
     count(*) filter (where coalesce(terminal_at, enqueued_at) < $2::timestamptz)::integer as old,
     array_agg(msg_id order by msg_id) filter (where ${SETTLED}) as ready
   from (select * from proc_state where msg_id > $1 order by msg_id limit $3) stretch`,
);

/** Looks at the messages behind an ID. */
export async function selectMessageStretch(
  db: Queryable,
  after: bigint,
  before: number,
  limit: number,
): Promise<MessageStretch> {
  const [row] = await db.query<{ last: bigint | null; looked: number; old: number; ready: bigint[] | null }>(
    STRETCH,
    [after, toTimestamp(before), limit],
  );
  return {
    last: row?.last ?? null,
    looked: row?.looked ?? 0,
    old: row?.old ?? 0,
    ready: (row?.ready ?? []).map(BigInt),
  };
}

const COPY = statement(
  'messageArchive.copy',
  // Primary key, the rows held in its order as a replay holds them: two that want the same wait in no circle.
  `with held as materialized (
     select ${ARCHIVED_COLUMNS} from proc_state where msg_id = any ($1::bigint[]) and ${SETTLED}
     order by msg_id for update
   )
   insert into proc_state_hst (${ARCHIVED_COLUMNS}, archived_at) select ${ARCHIVED_COLUMNS}, $3::timestamptz from held
   returning msg_id as id`,
);
const DELETE = statement(
  'messageArchive.delete',
  // Primary key.
  `delete from proc_state where msg_id = any ($1::bigint[]) returning msg_id as id`,
);

/**
 * Moves messages that are still ready; gives how many. Copy, count, delete: belongs in one transaction. Throws an Error
 * where the counts differ.
 */
export async function archiveMessages(
  tx: Queryable,
  ids: readonly bigint[],
  before: number,
  now: number,
): Promise<number> {
  if (ids.length === 0) return 0;
  const copied = await tx.query<{ id: bigint }>(COPY, [ids, toTimestamp(before), toTimestamp(now)]);
  const deleted = await tx.query<{ id: bigint }>(DELETE, [copied.map(({ id }) => id)]);
  if (deleted.length !== copied.length) {
    throw new Error(`${copied.length} messages were copied into the archive and ${deleted.length} deleted`);
  }
  return copied.length;
}
