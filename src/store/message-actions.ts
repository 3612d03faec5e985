/**
 * What operators change in the processing records (seed §5.4). Every write names the expected state: pump and backfill
 * work on the same rows, and a command line is another process than they are.
 */
import { reason as reasonOf } from '../domain/reasons.ts';
import type { ErrorClass, ProcState } from '../domain/outcome.ts';
import { statement, type Queryable } from './statement.ts';
import { isOwed } from './proc-state.ts';
import { toTimestamp } from './time.ts';

/** A message as the precheck of an action reads it. */
export interface MessageRecord {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: ProcState;
  readonly attempts: number;
  readonly errorClass: ErrorClass | null;
  readonly lastError: string | null;
  readonly reason: string | null;
  /** Where the message has ended: drawn anew each time, so that it names this ending. */
  readonly terminalSeq: bigint | null;
  readonly profileHash: string | null;
  readonly archived: boolean;
}

const COLUMNS = `msg_id as "msgId", type, styp, state, attempts, error_class as "errorClass",
     last_error as "lastError", reason, terminal_seq as "terminalSeq", profile_hash as "profileHash"`;

const SELECT = statement(
  'messageActions.select',
  // Primary keys of proc_state and proc_state_hst.
  `select ${COLUMNS}, false as archived from proc_state where msg_id = any ($1::bigint[])
   union all
   select ${COLUMNS}, true from proc_state_hst where msg_id = any ($1::bigint[])
   order by 1`,
);

/** Those of the messages that we know, archived or not, by MSG_ID. */
export async function selectMessages(
  db: Queryable,
  msgIds: readonly bigint[],
): Promise<readonly MessageRecord[]> {
  return db.query<MessageRecord>(SELECT, [msgIds]);
}

const SKIP = statement(
  'messageActions.skip',
  // Primary key. One statement: terminal state and the owed mark together (seed §5.3). Where the pump has the row, this
  // waits for its commit and then finds no unfinished one.
  `update proc_state p set state = 'SKIPPED', reason = $2, error_class = null, last_error = null,
     next_attempt_at = null, terminal_at = $3::timestamptz, terminal_seq = nextval('terminal_seq'),
     backfill_next_at = ${isOwed('$3')}
   where msg_id = $1 and state = $4 and attempts = $5 and terminal_at is null
   returning reason`,
);

/**
 * Ends an unfinished message as SKIPPED(operator:TEXT) where it still stands as it was read; the reason, or null where
 * it does not.
 */
export async function skipMessage(
  tx: Queryable,
  { msgId, state, attempts }: MessageRecord,
  text: string,
  now: number,
): Promise<string | null> {
  const values = [msgId, reasonOf('operator', text), toTimestamp(now), state, attempts];
  return (await tx.query<{ reason: string }>(SKIP, values))[0]?.reason ?? null;
}
