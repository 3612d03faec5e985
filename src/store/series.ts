/** What came, what was done and how long it took, in buckets of time. Read-only statements behind charts. */
import { statement, type Queryable } from './statement.ts';

/** A bucket of messages, at its begin, s since 1970. Latency: enqueued to ended, ms; null where nothing ended. */
export interface MessageBucket {
  readonly at: number;
  readonly enqueued: number;
  /** By the time of ending. */
  readonly finished: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** A bucket of events of KAFKA:msg. Latency: made to acknowledged, ms. */
export interface EventBucket {
  readonly at: number;
  readonly sent: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

/** From when on, s since 1970, in buckets of how many seconds. */
export interface SeriesRange {
  readonly from: number;
  readonly bucketSeconds: number;
}

/** What ended longer than this after it was enqueued is not counted as finished, s: it lies too far back to be read. */
const LOOK_BACK = 86_400;

const FIRST_ID = statement(
  'series.firstId',
  // Primary key, once per halving. IDs are enqueued in their order, but for late ones: the first one of a time is found by
  // bisection, without an index on a time that every message would have to pay for.
  `with recursive search (low, high) as (
     select min(msg_id), max(msg_id) from proc_state
     union all
     select case when probe.enqueued_at < to_timestamp($1) then probe.msg_id + 1 else low end,
       case when probe.enqueued_at < to_timestamp($1) then high else low + (high - low) / 2 end
     from search, lateral (
       select msg_id, enqueued_at from proc_state where msg_id >= low + (high - low) / 2 order by msg_id limit 1
     ) probe
     where low < high
   )
   select low as "msgId" from search where low >= high`,
);

const MESSAGES = statement(
  'series.messages',
  // Primary key, from the ID found above.
  `with rows as materialized (
     select enqueued_at, terminal_at from proc_state where msg_id >= $1
   ), came as (
     select date_bin(make_interval(secs => $3), enqueued_at, 'epoch') as at, count(*)::integer as messages
     from rows where enqueued_at >= to_timestamp($2) group by 1
   ), done as (
     select date_bin(make_interval(secs => $3), terminal_at, 'epoch') as at, count(*)::integer as messages,
       percentile_disc(array[0.5, 0.99]) within group (
         order by greatest(0, date_part('epoch', terminal_at - enqueued_at) * 1000)) as latency
     from rows where terminal_at >= to_timestamp($2) group by 1
   )
   select date_part('epoch', coalesce(came.at, done.at)) as at, coalesce(came.messages, 0) as enqueued,
     coalesce(done.messages, 0) as finished, done.latency[1] as p50, done.latency[2] as p99
   from came full join done on done.at = came.at order by 1`,
);

/** Messages by bucket, ascending; those with none are left out. */
export async function selectMessageBuckets(
  db: Queryable,
  { from, bucketSeconds }: SeriesRange,
): Promise<readonly MessageBucket[]> {
  const [first] = await db.query<{ msgId: bigint }>(FIRST_ID, [from - LOOK_BACK]);
  if (first === undefined) return [];
  return db.query<MessageBucket>(MESSAGES, [first.msgId, from, bucketSeconds]);
}

const EVENTS = statement(
  'series.events',
  // msg_event_sent alone: the rows, wide with their bodies, are not read where they are settled.
  `select date_part('epoch', date_bin(make_interval(secs => $2), sent_at, 'epoch')) as at, count(*)::integer as sent,
     percentile_disc(0.5) within group (order by greatest(0, date_part('epoch', sent_at - created_at) * 1000)) as p50,
     percentile_disc(0.99) within group (order by greatest(0, date_part('epoch', sent_at - created_at) * 1000)) as p99
   from msg_event where state = 'SENT' and target = 'KAFKA:msg' and sent_at >= to_timestamp($1)
   group by 1 order by 1`,
);

/** Events sent by bucket, ascending; those with none are left out. */
export async function selectEventBuckets(
  db: Queryable,
  { from, bucketSeconds }: SeriesRange,
): Promise<readonly EventBucket[]> {
  return db.query<EventBucket>(EVENTS, [from, bucketSeconds]);
}

const COUNT_BACKLOG = statement(
  'series.backlog',
  // proc_state_unfinished holds exactly these rows.
  `select count(*)::integer as messages from proc_state where state in ('PENDING', 'FAILED')`,
);

/** Messages that have not ended. */
export async function countBacklog(db: Queryable): Promise<number> {
  return (await db.query<{ messages: number }>(COUNT_BACKLOG))[0]?.messages ?? 0;
}
