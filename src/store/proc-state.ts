/** The processing records as the pump works on them (seed §1 PROC_STATE, §5). */
import type { ErrorClass } from '../domain/outcome.ts';
import type { JsonObject } from '../domain/json.ts';
import { bigintArray, textArray } from './arrays.ts';
import { statement, type Placeholder, type Queryable } from './statement.ts';
import type { KeptText } from './raw-message.ts';
import { toMillisOrNull, toTimestamp } from './time.ts';

/** An unfinished message at the head of the queue. */
export interface Head {
  readonly msgId: bigint;
  readonly state: 'PENDING' | 'FAILED';
  readonly attempts: number;
  /** ms; null where it may be tried now. */
  readonly nextAttemptAt: number | null;
  /** Length of the kept text, 0 where there is none. */
  readonly bytes: number;
  /** The text, where it came along; null says nothing. */
  readonly kept: KeptText | null;
}

interface HeadRow {
  readonly msgId: bigint;
  readonly state: 'PENDING' | 'FAILED';
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly bytes: bigint | null;
  readonly read: boolean;
  readonly body: Uint8Array | null;
  readonly watermark: bigint;
  readonly generation: bigint;
}

const SELECT_HEADS = statement(
  'procState.heads',
  // proc_state_unfinished from its first entry; raw_message by primary key, as a lateral subselect, because a generic
  // plan does not know the limit and would rather hash the whole table. W comes along in the same snapshot. So do the
  // texts that the batch will most likely have: those within the bytes given, where the first message is new or due. And
  // the generation of the lock, before anything is read that it stands for.
  `select h.msg_id as "msgId", h.state, h.attempts, h.next_attempt_at as "nextAttemptAt", h.bytes, h.read,
     case when h.read then h.body end as body, h.watermark, l.generation
   from (
     select p.*, r.bytes, r.body, c.watermark,
       r.bytes is not null and p.msg_id <= c.watermark and case row_number() over w
         when 1 then p.next_attempt_at is null or p.next_attempt_at <= $3::timestamptz
         else sum(r.bytes) over w <= $2 and first_value(p.state) over w = 'PENDING' end
         and not p.msg_id between $5 and $6 as read
     from (
       select msg_id, state, attempts, next_attempt_at from proc_state
       where state in ('PENDING', 'FAILED') and msg_id > $4 order by msg_id limit $1
     ) p
     left join lateral (select bytes, body from raw_message where msg_id = p.msg_id offset 0) r on true
     cross join inbox_cursor c
     window w as (order by p.msg_id)
   ) h
   cross join pipeline_lock l
   order by h.msg_id`,
);

/** How much of the line to look at. */
export interface HeadLimits {
  readonly messages: number;
  /** Most bytes of text that come along, the first message's aside. */
  readonly bytes: number;
  /** ms; the text of a head whose next attempt lies behind it stays where it is. */
  readonly now: number;
  /** IDs whose texts are at hand and stay where they are; null where none is. */
  readonly held?: { readonly from: bigint; readonly to: bigint } | null;
  /** Only messages behind this one; all where it is absent. */
  readonly after?: bigint;
}

/** The head of the line, ascending, with W and the generation as of the same moment. */
export interface Heads {
  readonly watermark: bigint;
  /** Generation of pipeline_lock. */
  readonly generation: bigint;
  readonly heads: readonly Head[];
}

/** The smallest unfinished messages, ascending, with W and the generation as of the same moment. */
export async function selectHeads(
  db: Queryable,
  { messages, bytes, now, held, after }: HeadLimits,
): Promise<Heads> {
  const rows = await db.query<HeadRow>(SELECT_HEADS, [
    messages,
    bytes,
    toTimestamp(now),
    after ?? BELOW_ALL,
    held?.from ?? 0n,
    held?.to ?? BELOW_ALL,
  ]);
  return {
    watermark: rows[0]?.watermark ?? 0n,
    generation: rows[0]?.generation ?? 0n,
    heads: rows.map(({ msgId, state, attempts, nextAttemptAt, bytes, read, body }) => ({
      msgId,
      state,
      attempts,
      nextAttemptAt: toMillisOrNull(nextAttemptAt),
      bytes: Number(bytes ?? 0n),
      kept: read ? { body, bytes: Number(bytes ?? 0n) } : null,
    })),
  };
}

const BELOW_ALL = -1n;

/** The mark is owed from now on (seed §5.2): not in shadow, nor for a replayed row whose mark is settled. */
export const isOwed = (now: string) =>
  `case when p.shadow or p.backfill_at is not null or p.backfill_abandoned_at is not null then null
       else ${now}::timestamptz end`;

/** How a message ended. */
export interface Terminal {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly identity: string | null;
  readonly state: 'SUCCEEDED' | 'SKIPPED' | 'DEAD';
  /** Set for DEAD. */
  readonly errorClass: ErrorClass | null;
  /** `reason` of SUCCEEDED and SKIPPED, `last_error` of DEAD. */
  readonly reason: string | null;
  readonly detail: JsonObject | null;
}

/**
 * Ends messages that have not ended, in the order given, and returns them: terminal_seq ascends in it; 10 parameters.
 * Primary key: `terminal_at is null` says the same as the state, and keeps the planner from reading the whole backlog
 * by proc_state_unfinished. Numbered apart, so that no join draws a number twice. Part of the statement that writes a batch.
 */
export const finishMessages = ($: Placeholder): string =>
  `with numbered as materialized (
     select listed.*, nextval('terminal_seq') as seq from (
       select unnest(${$(1)}::bigint[]) as msg_id, unnest(${$(2)}::text[]) as type, unnest(${$(3)}::text[]) as styp,
         unnest(${$(4)}::text[]) as identity_key, unnest(${$(5)}::text[]) as state,
         unnest(${$(6)}::text[]) as error_class, unnest(${$(7)}::text[]) as reason, unnest(${$(8)}::text[]) as detail,
         generate_subscripts(${$(1)}::bigint[], 1) as place
       order by place
     ) listed
   )
   update proc_state p set
     type = coalesce(u.type, p.type), styp = coalesce(u.styp, p.styp),
     identity_key = coalesce(p.identity_key, u.identity_key),
     state = u.state, error_class = u.error_class,
     last_error = case when u.state = 'DEAD' then u.reason end,
     reason = case when u.state <> 'DEAD' then u.reason end,
     detail = u.detail::jsonb, profile_hash = ${$(9)}, next_attempt_at = null,
     terminal_at = ${$(10)}::timestamptz, terminal_seq = u.seq,
     backfill_next_at = ${isOwed($(10))}
   from numbered u
   where p.msg_id = u.msg_id and p.msg_id = any (${$(1)}::bigint[]) and p.terminal_at is null
   returning p.msg_id`;

/** Parameters of {@link finishMessages}; `at` is when they ended. */
export function terminalValues(
  terminals: readonly Terminal[],
  at: string,
  profileHash: string,
): readonly unknown[] {
  return [
    bigintArray(terminals.map(({ msgId }) => msgId)),
    textArray(terminals.map(({ type }) => type)),
    textArray(terminals.map(({ styp }) => styp)),
    textArray(terminals.map(({ identity }) => identity)),
    textArray(terminals.map(({ state }) => state)),
    textArray(terminals.map(({ errorClass }) => errorClass)),
    textArray(terminals.map(({ reason }) => reason)),
    textArray(terminals.map(({ detail }) => (detail === null ? null : JSON.stringify(detail)))),
    profileHash,
    at,
  ];
}

/** One failed attempt. */
export interface Failure {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly identity: string | null;
  readonly errorClass: 'CODEC_ERROR' | 'UNSUPPORTED' | 'INFRA';
  readonly reason: string;
  readonly detail: JsonObject | null;
  /** The attempt that failed, 1-based. */
  readonly attempt: number;
  /** ms; null where it was the last one. */
  readonly nextAttemptAt: number | null;
}

const FAIL = statement(
  'procState.fail',
  // Primary key; the expected attempts make a repeated write harmless.
  `update proc_state set state = 'FAILED', attempts = $2, error_class = $3, last_error = $4, detail = $5::jsonb,
     next_attempt_at = $6::timestamptz, type = coalesce($7, type), styp = coalesce($8, styp),
     identity_key = coalesce(identity_key, $9), profile_hash = $10
   where msg_id = $1 and state in ('PENDING', 'FAILED') and attempts = $2 - 1`,
);

/** Records a failed attempt before the next one may start (seed §9.1). */
export async function failMessage(tx: Queryable, failure: Failure, profileHash: string): Promise<void> {
  await tx.query(FAIL, [
    failure.msgId,
    failure.attempt,
    failure.errorClass,
    failure.reason,
    failure.detail === null ? null : JSON.stringify(failure.detail),
    failure.nextAttemptAt === null ? null : toTimestamp(failure.nextAttemptAt),
    failure.type,
    failure.styp,
    failure.identity,
    profileHash,
  ]);
}

const EXHAUST = statement(
  'procState.exhaust',
  // Primary key. One statement: terminal state and the owed mark together (seed §5.1 rule 3); last_error stays.
  `update proc_state p set state = 'DEAD', error_class = 'EXHAUSTED', next_attempt_at = null,
     terminal_at = $3::timestamptz, terminal_seq = nextval('terminal_seq'),
     backfill_next_at = ${isOwed('$3')}
   where msg_id = $1 and state = 'FAILED' and attempts >= $2
   returning type, styp`,
);

/** Ends a message whose attempts are used up; null where it is not so any more. */
export async function exhaustMessage(
  tx: Queryable,
  msgId: bigint,
  maxAttempts: number,
  now: number,
): Promise<{ readonly type: string | null; readonly styp: string | null } | null> {
  const rows = await tx.query<{ type: string | null; styp: string | null }>(EXHAUST, [
    msgId,
    maxAttempts,
    toTimestamp(now),
  ]);
  return rows[0] ?? null;
}

const SELECT_DEAD = statement(
  'procState.deadAmong',
  // Primary keys of both tables.
  `select msg_id as "msgId" from proc_state where msg_id = any ($1::bigint[]) and state = 'DEAD'
   union all
   select msg_id from proc_state_hst where msg_id = any ($1::bigint[]) and state = 'DEAD'`,
);

/** Those of the messages that are DEAD, archived or not. */
export async function selectDeadAmong(db: Queryable, ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (ids.length === 0) return new Set();
  return new Set((await db.query<{ msgId: bigint }>(SELECT_DEAD, [ids])).map(({ msgId }) => msgId));
}

const KEEP_ALIVE = statement('procState.keepAlive', `select 1`);

/** Says something on an open transaction, so that the server does not end it as idle during long work. */
export async function keepAlive(tx: Queryable): Promise<void> {
  await tx.query(KEEP_ALIVE);
}
