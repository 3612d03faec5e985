/** Messages put back to work by operators (seed §9.1): which may be, and the conditional update that does it. */
import { bigintArray, integerArray, textArray } from './arrays.ts';
import { statement, type Queryable } from './statement.ts';
import type { MessageRecord } from './message-actions.ts';

/** Classes that can be replayed as a whole. MALFORMED only where the profile has changed since. */
export const REPLAY_CLASSES = ['CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED', 'MALFORMED'] as const;
export type ReplayClass = (typeof REPLAY_CLASSES)[number];

const OF_CLASS = statement(
  'replay.ofClass',
  // proc_state_unfinished and proc_state_dead hold exactly these rows.
  `select msg_id as "msgId" from (
     select msg_id, error_class, profile_hash from proc_state where state = 'DEAD'
     union all
     select msg_id, error_class, profile_hash from proc_state where state in ('PENDING', 'FAILED') and error_class = $1
   ) p
   where error_class = $1 and (error_class <> 'MALFORMED' or profile_hash is distinct from $2) and msg_id > $3
   order by msg_id limit $4`,
);

/** FAILED and DEAD messages of a class above an ID, ascending; MALFORMED ones that another profile has judged. */
export async function selectReplayable(
  db: Queryable,
  errorClass: ReplayClass,
  profileHash: string,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<readonly bigint[]> {
  const rows = await db.query<{ msgId: bigint }>(OF_CLASS, [errorClass, profileHash, after, limit]);
  return rows.map(({ msgId }) => msgId);
}

const REENQUEUE = statement(
  'replay.reenqueue',
  // Primary key, the rows held in its order: two operators at once wait for each other and not in a circle. The ending
  // that was read is part of the expected state, so that nothing is put back that has ended anew meanwhile. The identity
  // stays (seed §9.1), and so does a mark that is confirmed or abandoned; one still owed is owed again at the next ending.
  `with listed as (
     select unnest($1::bigint[]) as msg_id, unnest($2::text[]) as state, unnest($3::bigint[]) as terminal_seq,
       unnest($4::integer[]) as attempts
   ),
   held as materialized (
     select p.msg_id from proc_state p join listed l on l.msg_id = p.msg_id
     where p.state = l.state and p.attempts = l.attempts and p.terminal_seq is not distinct from l.terminal_seq
     order by p.msg_id for no key update of p
   )
   update proc_state p set state = 'PENDING', attempts = 0, error_class = null, last_error = null, reason = null,
     detail = null, next_attempt_at = null, terminal_at = null, terminal_seq = null, replayed = true,
     backfill_next_at = null, backfill_attempts = 0
   from held where p.msg_id = held.msg_id
   returning p.msg_id as "msgId"`,
);

/** Puts messages back to the line where they still stand as they were read; gives their IDs. */
export async function reenqueue(
  tx: Queryable,
  messages: readonly MessageRecord[],
): Promise<ReadonlySet<bigint>> {
  const rows = await tx.query<{ msgId: bigint }>(REENQUEUE, [
    bigintArray(messages.map(({ msgId }) => msgId)),
    textArray(messages.map(({ state }) => state)),
    bigintArray(messages.map(({ terminalSeq }) => terminalSeq)),
    integerArray(messages.map(({ attempts }) => attempts)),
  ]);
  return new Set(rows.map(({ msgId }) => msgId));
}
