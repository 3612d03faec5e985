/** What people ask of the state of the pipeline: read-only statements behind status, metrics and console. */
import { statement, type Queryable } from './statement.ts';

/** Messages by state and, where failed or dead, class. */
export interface MessageCount {
  readonly state: string;
  readonly errorClass: string | null;
  readonly messages: number;
}

const COUNT_UNFINISHED = statement(
  'status.unfinished',
  // proc_state_unfinished and proc_state_dead hold exactly these rows.
  `select state, error_class as "errorClass", count(*)::integer as messages from proc_state
   where state in ('PENDING', 'FAILED') group by state, error_class
   union all
   select state, error_class, count(*)::integer from proc_state where state = 'DEAD' group by state, error_class`,
);
const COUNT_DONE = statement(
  'status.done',
  // A scan of the whole table: the caller asks seldom.
  `select state, null as "errorClass", count(*)::integer as messages from proc_state
   where state in ('SUCCEEDED', 'SKIPPED') group by state`,
);

/** What has been done by delivery and backfill. */
export interface DoneCount {
  readonly sentMsg: number;
  readonly sentSchd: number;
  readonly confirmedMarks: number;
}

const COUNT_DELIVERED = statement(
  'status.delivered',
  // Scans msg_event_sent and the whole of proc_state: the caller asks seldom.
  `select
     (select count(*)::integer from msg_event where state = 'SENT' and target = 'KAFKA:msg') as "sentMsg",
     (select count(*)::integer from msg_event where state = 'SENT' and target = 'KAFKA:schd') as "sentSchd",
     (select count(*)::integer from proc_state where backfill_at is not null) as "confirmedMarks"`,
);

/** Counts of events sent (and kept) and of marks confirmed: a scan, to be cached. */
export async function countDelivered(db: Queryable): Promise<DoneCount> {
  const [row] = await db.query<DoneCount>(COUNT_DELIVERED);
  return row ?? { sentMsg: 0, sentSchd: 0, confirmedMarks: 0 };
}

/** Counts of what is unfinished or dead: cheap, few rows. */
export async function countUnfinished(db: Queryable): Promise<readonly MessageCount[]> {
  return db.query<MessageCount>(COUNT_UNFINISHED);
}

/** Counts of what is done: a scan, to be cached. */
export async function countDone(db: Queryable): Promise<readonly MessageCount[]> {
  return db.query<MessageCount>(COUNT_DONE);
}

/** The head of line: the smallest unfinished message (seed §1). */
export interface HeadRow {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: 'PENDING' | 'FAILED';
  readonly attempts: number;
  readonly errorClass: string | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: string | null;
  readonly enqueuedAt: string;
}

const SELECT_HEAD = statement(
  'status.head',
  // proc_state_unfinished: first entry.
  `select msg_id as "msgId", type, styp, state, attempts, error_class as "errorClass", last_error as "lastError",
     next_attempt_at as "nextAttemptAt", enqueued_at as "enqueuedAt"
   from proc_state where state in ('PENDING', 'FAILED') order by msg_id limit 1`,
);

/** The head of line, or null where everything is done. */
export async function selectHead(db: Queryable): Promise<HeadRow | null> {
  return (await db.query<HeadRow>(SELECT_HEAD))[0] ?? null;
}

export interface OutboxCount {
  readonly target: 'KAFKA:msg' | 'KAFKA:schd';
  readonly pending: number;
  readonly dead: number;
  readonly oldest: string | null;
}

const COUNT_OUTBOX = statement(
  'status.outbox',
  // msg_event_pending and msg_event_dead hold exactly these rows.
  `select target, sum(pending)::integer as pending, sum(dead)::integer as dead, min(oldest) as oldest from (
     select target, count(*) as pending, 0 as dead, min(created_at) as oldest
       from msg_event where state = 'PENDING' group by target
     union all
     select target, 0, count(*), null from msg_event where state = 'DEAD' group by target
     union all
     select 'KAFKA:msg', 0, 0, null union all select 'KAFKA:schd', 0, 0, null
   ) counted group by target order by target`,
);

/** Events pending and dead per target; both targets always. */
export async function countOutbox(db: Queryable): Promise<readonly OutboxCount[]> {
  return db.query<OutboxCount>(COUNT_OUTBOX);
}

export interface MarkCount {
  readonly owed: number;
  readonly missingRow: number;
  readonly transientDeadline: number;
}

const COUNT_MARKS = statement(
  'status.marks',
  // proc_state_owed and proc_state_abandoned hold exactly these rows.
  `select
     (select count(*)::integer from proc_state
      where state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and backfill_at is null and backfill_abandoned_at is null
        and not shadow) as owed,
     (select count(*)::integer from proc_state
      where backfill_abandoned_at is not null and backfill_confirmed_at is null
        and backfill_abandoned_reason = 'MISSING_ROW') as "missingRow",
     (select count(*)::integer from proc_state
      where backfill_abandoned_at is not null and backfill_confirmed_at is null
        and backfill_abandoned_reason = 'TRANSIENT_DEADLINE') as "transientDeadline"`,
);

/** Marks owed, and abandoned without a human's confirmation. */
export async function countMarks(db: Queryable): Promise<MarkCount> {
  const [row] = await db.query<MarkCount>(COUNT_MARKS);
  return row ?? { owed: 0, missingRow: 0, transientDeadline: 0 };
}

export interface LastTimes {
  readonly enqueuedAt: string | null;
  readonly processedAt: string | null;
  readonly sentAt: string | null;
  readonly markedAt: string | null;
}

const SELECT_LAST = statement(
  'status.last',
  // Rows next to the head of line, by primary key, stand for what was processed last; msg_event_sent for sent_at.
  `with head as (
     select coalesce((select min(msg_id) from proc_state where state in ('PENDING', 'FAILED')),
       (select max(msg_id) + 1 from proc_state)) as msg_id
   ), done as (
     select terminal_at, backfill_at from proc_state
     where msg_id < (select msg_id from head) order by msg_id desc limit 1000
   )
   select (select enqueued_at from proc_state order by msg_id desc limit 1) as "enqueuedAt",
     (select max(terminal_at) from done) as "processedAt",
     (select max(sent_at) from msg_event where state = 'SENT') as "sentAt",
     (select max(backfill_at) from done) as "markedAt"`,
);

/** When things last happened. */
export async function selectLastTimes(db: Queryable): Promise<LastTimes> {
  const [row] = await db.query<LastTimes>(SELECT_LAST);
  return row ?? { enqueuedAt: null, processedAt: null, sentAt: null, markedAt: null };
}

const COUNT_DEAD_SCHEDULES = statement(
  'status.deadSchedules',
  // proc_state_dead.
  `select count(*)::integer as messages from proc_state where state = 'DEAD' and type = 'SCHD'`,
);

/** Schedules that ended DEAD: what needs a human first. */
export async function countDeadSchedules(db: Queryable): Promise<number> {
  return (await db.query<{ messages: number }>(COUNT_DEAD_SCHEDULES))[0]?.messages ?? 0;
}

export interface HoleCount {
  readonly permanentIds: bigint;
  readonly lateArrivals: number;
}

const COUNT_HOLES = statement(
  'status.holes',
  // inbox_hole is small: ranges, not IDs.
  `select coalesce(sum(to_id - from_id + 1) filter (where released_at is not null and found_at is null and not past), 0)::bigint
       as "permanentIds",
     count(*) filter (where found_at is not null)::integer as "lateArrivals"
   from inbox_hole`,
);

/** IDs released as permanently missing, and holes found filled later. */
export async function countHoles(db: Queryable): Promise<HoleCount> {
  return (await db.query<HoleCount>(COUNT_HOLES))[0] ?? { permanentIds: 0n, lateArrivals: 0 };
}

export interface PauseRow {
  readonly station: string;
  readonly by: string;
  readonly reason: string;
  readonly since: string;
}

const SELECT_PAUSES = statement('status.pauses', `select station, by, reason, since from station_pause`);

/** Stations that an operator has paused. */
export async function selectPauses(db: Queryable): Promise<readonly PauseRow[]> {
  return db.query<PauseRow>(SELECT_PAUSES);
}
