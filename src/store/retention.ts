/** What is deleted by age (seed §8.3, §9.3): texts, delivered events, the schedule trace, requests and reports. */
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

const OLD_TEXTS = statement(
  'retention.texts',
  // Primary keys. The walk goes by ID because texts are stored in that order: an index on their age would be paid for by
  // every message. What has not ended needs its text, however old it is.
  `with stretch as materialized (
     select msg_id, stored_at from raw_message where msg_id > $1 order by msg_id limit $3
   ), gone as (
     delete from raw_message r using stretch s
     where r.msg_id = s.msg_id and s.stored_at < $2::timestamptz
       and not exists (select from proc_state p where p.msg_id = s.msg_id and p.terminal_at is null)
     returning r.msg_id
   )
   select max(msg_id) as last, count(*)::integer as looked,
     count(*) filter (where stored_at < $2::timestamptz)::integer as old,
     (select count(*)::integer from gone) as gone
   from stretch`,
);

/** What a stretch of texts was like. */
export interface TextStretch {
  readonly last: bigint | null;
  readonly looked: number;
  readonly old: number;
  readonly gone: number;
}

/** Deletes old texts of ended messages among those behind an ID. */
export async function deleteOldTexts(
  tx: Queryable,
  after: bigint,
  before: number,
  limit: number,
): Promise<TextStretch> {
  const [row] = await tx.query<TextStretch>(OLD_TEXTS, [after, toTimestamp(before), limit]);
  return row ?? { last: null, looked: 0, old: 0, gone: 0 };
}

const SENT_EVENTS = statement(
  'retention.events',
  // msg_event_sent, from the oldest. SENT and nothing else; a row that pump or delivery hold is left for the next time,
  // so that nobody waits in a circle. The front tells the audit how far versions may be missing.
  `with old as materialized (
     select event_id from msg_event where state = 'SENT' and sent_at < $1::timestamptz
     order by sent_at limit $2 for update skip locked
   ), gone as (
     delete from msg_event e using old where e.event_id = old.event_id and e.state = 'SENT'
     returning e.event_id, e.target
   ), moved as (
     update event_front set event_id = greatest(event_front.event_id, top.id)
     from (select max(event_id) as id from gone where target = 'KAFKA:msg') top where top.id > event_front.event_id
   )
   select count(*)::integer as gone from gone`,
);

/** Deletes events sent before a time; gives how many. */
export async function deleteSentEvents(tx: Queryable, before: number, limit: number): Promise<number> {
  return (await tx.query<{ gone: number }>(SENT_EVENTS, [toTimestamp(before), limit]))[0]?.gone ?? 0;
}

const TRACES = statement(
  'retention.traces',
  // schd_snap_log_age, and the primary key. A trace without a day goes by its time alone.
  `delete from schd_snap_log where snap_id in (
     (select snap_id from schd_snap_log where scope_end < $1::date and recv_at < $2::timestamptz limit $3)
     union all
     (select snap_id from schd_snap_log where scope_end is null and recv_at < $2::timestamptz limit $3))
   returning snap_id`,
);

/** Deletes traces whose last day and time of receipt lie before these; gives how many. */
export async function deleteTraces(
  tx: Queryable,
  age: { readonly day: string; readonly receivedBefore: number },
  limit: number,
): Promise<number> {
  return (await tx.query(TRACES, [age.day, toTimestamp(age.receivedBefore), limit])).length;
}

const REQUESTS = statement(
  'retention.requests',
  // A few rows a day: the whole of both tables is read. The newest row in COUTMSGS stays: after a restore it tells what
  // we know of them. What is still being looked for stays, and a report as long as its message can be replayed.
  `with newest as (
     select greatest((select max(out_id) from req_track), (select max(out_id) from error_report), 0) as id
   ), requests as (
     delete from req_track r using newest
     where r.state in ('DONE', 'EXPIRED') and r.look_at is null
       and coalesce(r.done_at, r.expired_at) < $1::timestamptz and r.out_id is distinct from newest.id
     returning r.req_id
   ), reports as (
     delete from error_report e using newest
     where e.state = 'SENT' and e.look_at is null and e.sent_at < $1::timestamptz and e.out_id is distinct from newest.id
       and not exists (select from proc_state p where p.msg_id = e.msg_id)
     returning e.msg_id
   )
   select (select count(*)::integer from requests) + (select count(*)::integer from reports) as gone`,
);

/** Deletes requests that ended, and reports that were sent, before a time; gives how many. */
export async function deleteRequests(tx: Queryable, before: number): Promise<number> {
  return (await tx.query<{ gone: number }>(REQUESTS, [toTimestamp(before)]))[0]?.gone ?? 0;
}
