/**
 * The backfill facts of proc_state (seed §6): marks owed to the mailbox, confirmed and abandoned. Every write
 * names the expected state, so that a row put back to work by a replay in the meantime is left alone.
 */
import { statement, type Queryable } from './statement.ts';

/** Why a mark was given up (seed §6.2). */
export type AbandonReason = 'MISSING_ROW' | 'TRANSIENT_DEADLINE';

/** A mark that is due. */
export interface OwedMark {
  readonly msgId: bigint;
  readonly attempts: number;
  /** Local time of enqueueing: the only basis of the deadline R. */
  readonly enqueuedAt: string;
}

const OWED = `state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and backfill_at is null and backfill_abandoned_at is null
     and not shadow`;

const SELECT_DUE = statement(
  'owedMark.due',
  // proc_state_owed: its predicate and its order are those of this statement.
  `select msg_id as "msgId", backfill_attempts as attempts, enqueued_at as "enqueuedAt" from proc_state
   where ${OWED}
     and (backfill_next_at is null or backfill_next_at <= $1 or enqueued_at < $2)
   order by backfill_attempts, msg_id limit $3`,
);

/**
 * Marks due now, those tried least first (seed §6.1).
 *
 * @param overdueBefore now − R: rows enqueued before are due whatever their backoff
 */
export async function selectDueMarks(
  db: Queryable,
  now: string,
  overdueBefore: string,
  limit: number,
): Promise<readonly OwedMark[]> {
  return db.query<OwedMark>(SELECT_DUE, [now, overdueBefore, limit]);
}

const CONFIRM = statement(
  'owedMark.confirm',
  // Primary key.
  `update proc_state set backfill_at = $2, backfill_next_at = null
   where msg_id = any ($1::bigint[]) and ${OWED}`,
);

/** Records that the mailbox carries these marks. */
export async function confirmMarks(tx: Queryable, msgIds: readonly bigint[], at: string): Promise<void> {
  if (msgIds.length > 0) await tx.query(CONFIRM, [msgIds, at]);
}

const ABANDON = statement(
  'owedMark.abandon',
  // Primary key. backfill_at stays null: abandoned is not confirmed.
  `update proc_state set backfill_abandoned_at = $2, backfill_abandoned_reason = $3, backfill_next_at = null,
     backfill_attempts = backfill_attempts + 1
   where msg_id = any ($1::bigint[]) and ${OWED}`,
);

/** Ends the automatic attempts for these marks; a human has to look at them. */
export async function abandonMarks(
  tx: Queryable,
  msgIds: readonly bigint[],
  reason: AbandonReason,
  at: string,
): Promise<void> {
  if (msgIds.length > 0) await tx.query(ABANDON, [msgIds, at, reason]);
}

/** A charged attempt. */
export interface PostponedMark {
  readonly msgId: bigint;
  /** Attempts including the one charged now. */
  readonly attempts: number;
  readonly nextAt: string;
}

const POSTPONE = statement(
  'owedMark.postpone',
  // Primary key.
  `update proc_state set backfill_attempts = p.attempts, backfill_next_at = p.next_at
   from unnest($1::bigint[], $2::integer[], $3::timestamptz[]) as p (id, attempts, next_at)
   where msg_id = p.id and backfill_attempts = p.attempts - 1 and ${OWED}`,
);

/** Charges an attempt to each of these marks and sets when it is tried again. */
export async function postponeMarks(tx: Queryable, marks: readonly PostponedMark[]): Promise<void> {
  if (marks.length === 0) return;
  await tx.query(POSTPONE, [
    marks.map(({ msgId }) => msgId),
    marks.map(({ attempts }) => attempts),
    marks.map(({ nextAt }) => nextAt),
  ]);
}

const REOPEN = statement(
  'owedMark.reopen',
  // Primary key.
  `update proc_state set backfill_abandoned_at = null, backfill_abandoned_reason = null, backfill_attempts = 0,
     backfill_next_at = $2
   where msg_id = any ($1::bigint[]) and backfill_abandoned_at is not null and backfill_confirmed_at is null
     and state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and backfill_at is null
   returning msg_id as "msgId"`,
);

/** Owes abandoned marks again (seed §6.3, reopen); gives the IDs that were reopened. Confirmed ones stay. */
export async function reopenAbandoned(
  tx: Queryable,
  msgIds: readonly bigint[],
  at: string,
): Promise<readonly bigint[]> {
  const rows = await tx.query<{ msgId: bigint }>(REOPEN, [msgIds, at]);
  return rows.map(({ msgId }) => msgId);
}

const CONFIRM_ABANDONED = statement(
  'owedMark.confirmAbandoned',
  // Primary key. backfill_at stays null: nobody has seen the mark.
  `update proc_state set backfill_confirmed_at = $2, backfill_confirmed_by = $3
   where msg_id = any ($1::bigint[]) and backfill_abandoned_at is not null and backfill_confirmed_at is null
   returning msg_id as "msgId"`,
);

/** Records that people have settled abandoned marks with the mailbox's owner (seed §6.3); gives the IDs. */
export async function confirmAbandoned(
  tx: Queryable,
  msgIds: readonly bigint[],
  at: string,
  by: string,
): Promise<readonly bigint[]> {
  const rows = await tx.query<{ msgId: bigint }>(CONFIRM_ABANDONED, [msgIds, at, by]);
  return rows.map(({ msgId }) => msgId);
}

/** An abandoned mark, for people. */
export interface AbandonedMark {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: string;
  readonly receivedAt: string | null;
  readonly enqueuedAt: string;
  readonly terminalAt: string | null;
  readonly attempts: number;
  readonly abandonedAt: string;
  readonly because: AbandonReason;
  readonly confirmedAt: string | null;
  readonly confirmedBy: string | null;
}

const ABANDONED_COLUMNS = `msg_id as "msgId", type, styp, state, received_at as "receivedAt",
     enqueued_at as "enqueuedAt", terminal_at as "terminalAt", backfill_attempts as attempts,
     backfill_abandoned_at as "abandonedAt", backfill_abandoned_reason as because,
     backfill_confirmed_at as "confirmedAt", backfill_confirmed_by as "confirmedBy"`;

const SELECT_ABANDONED = statement(
  'owedMark.abandoned',
  // proc_state_abandoned holds exactly these rows.
  `select ${ABANDONED_COLUMNS} from proc_state
   where backfill_abandoned_at is not null and msg_id > $1 and ($2 or backfill_confirmed_at is null)
   order by msg_id limit $3`,
);

/** Abandoned marks above an ID, ascending; those that are confirmed only where they are wanted. */
export async function selectAbandoned(
  db: Queryable,
  {
    after,
    confirmed,
    limit,
  }: { readonly after: bigint; readonly confirmed: boolean; readonly limit: number },
): Promise<readonly AbandonedMark[]> {
  return db.query<AbandonedMark>(SELECT_ABANDONED, [after, confirmed, limit]);
}

const LOCK_MARKS = statement(
  'owedMark.lock',
  // Primary key, in its order: two operators at once wait for each other and not in a circle.
  `select ${ABANDONED_COLUMNS} from proc_state where msg_id = any ($1::bigint[]) order by msg_id for no key update`,
);

/** Reads the marks of messages, abandoned or not, and holds their rows until the transaction ends. */
export async function lockMarks(
  tx: Queryable,
  msgIds: readonly bigint[],
): Promise<readonly (Omit<AbandonedMark, 'abandonedAt'> & { readonly abandonedAt: string | null })[]> {
  return tx.query(LOCK_MARKS, [msgIds]);
}
