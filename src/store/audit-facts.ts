/**
 * What `msgx verify` asks of our own tables (contract, "Invariants"). Each statement gives the offenders of one
 * invariant, at most a page of them, or totals. They scan: an audit looks at everything.
 */
import { statement, type Queryable } from './statement.ts';

/** Most offenders that a statement gives. */
export const MOST_OFFENDERS = 20;

/** All messages, archived ones too. */
const MESSAGE_COLUMNS = `msg_id, state, error_class, reason, last_error, identity_key, terminal_seq, late, replayed,
    restored, shadow, marked_at_intake, backfill_next_at, backfill_at, backfill_abandoned_at, backfill_confirmed_at,
    profile_hash`;
const ALL_MESSAGES = `(select ${MESSAGE_COLUMNS} from proc_state
  union all
  select ${MESSAGE_COLUMNS} from proc_state_hst)`;

const UNCOVERED = statement(
  'audit.uncovered',
  `with bounds as (select seed, watermark from inbox_cursor),
   covered as (
     select msg_id as a, msg_id as b from proc_state, bounds where msg_id > seed and msg_id <= watermark
     union all
     select msg_id, msg_id from proc_state_hst, bounds where msg_id > seed and msg_id <= watermark
     union all
     select greatest(from_id, seed + 1), least(to_id, watermark) from inbox_hole, bounds
     where released_at is not null and to_id > seed and from_id <= watermark
     union all
     select seed, seed from bounds
   ),
   reached as (
     select a, max(b) over (order by a, b rows between unbounded preceding and 1 preceding) as until from covered
   )
   -- Nothing is added to W, which may be the last ID there is.
   select until + 1 as "from", a - 1 as "to" from reached where a - 1 > until
   union all
   select until + 1, watermark from (select max(b) as until from covered) as ended, bounds where until < watermark
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Ranges in (seed, W] that are neither a message nor a released hole (invariant 1). */
export async function uncoveredIds(db: Queryable): Promise<readonly { from: bigint; to: bigint }[]> {
  return db.query<{ from: bigint; to: bigint }>(UNCOVERED);
}

const SHARED_IDENTITIES = statement(
  'audit.sharedIdentities',
  `select p.msg_id as "msgId", p.identity_key as identity, i.msg_id as owner
   from ${ALL_MESSAGES} p left join message_identity i on i.identity_key = p.identity_key
   where p.identity_key is not null and not (p.state = 'SKIPPED' and coalesce(p.reason, '') like 'duplicate-of:%')
     and i.msg_id is distinct from p.msg_id
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Messages, no duplicates, whose identity belongs to another one or to none (invariant 2). */
export async function sharedIdentities(
  db: Queryable,
): Promise<readonly { msgId: bigint; identity: string; owner: bigint | null }[]> {
  return db.query<{ msgId: bigint; identity: string; owner: bigint | null }>(SHARED_IDENTITIES);
}

const ORPHANED_DUPLICATES = statement(
  'audit.orphanedDuplicates',
  `select p.msg_id as "msgId", p.reason from ${ALL_MESSAGES} p
   where p.state = 'SKIPPED' and p.reason like 'duplicate-of:%'
     and not exists (
       select 1 from message_identity i
       where i.msg_id = (substring(p.reason from '^duplicate-of:([0-9]+)'))::bigint and i.msg_id <> p.msg_id
         and (p.identity_key is null or i.identity_key = p.identity_key))
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Duplicates whose original is not the owner of their identity (invariant 2). */
export async function orphanedDuplicates(
  db: Queryable,
): Promise<readonly { msgId: bigint; reason: string }[]> {
  return db.query<{ msgId: bigint; reason: string }>(ORPHANED_DUPLICATES);
}

const OUT_OF_ORDER = statement(
  'audit.outOfOrder',
  `select msg_id as "msgId", before from (
     select msg_id, lag(msg_id) over (order by terminal_seq) as before from ${ALL_MESSAGES} p
     where terminal_seq is not null and not late and not replayed
       and not (state = 'SKIPPED' and coalesce(reason, '') like 'operator:%')
   ) ordered where before > msg_id order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Messages that ended after a larger one, without a reason to (invariant 3). */
export async function outOfOrder(db: Queryable): Promise<readonly { msgId: bigint; before: bigint }[]> {
  return db.query<{ msgId: bigint; before: bigint }>(OUT_OF_ORDER);
}

const BACKFILL_FACTS = statement(
  'audit.backfillFacts',
  `select msg_id as "msgId", state from ${ALL_MESSAGES} p
   where (state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and not shadow
       and backfill_next_at is null and backfill_at is null and backfill_abandoned_at is null)
     or (state in ('PENDING', 'FAILED') and not replayed and not restored
       and (backfill_next_at is not null or backfill_at is not null or backfill_abandoned_at is not null))
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Terminal messages without a backfill fact, and others with one (invariant 4). */
export async function wrongBackfillFacts(
  db: Queryable,
): Promise<readonly { msgId: bigint; state: string }[]> {
  return db.query<{ msgId: bigint; state: string }>(BACKFILL_FACTS);
}

const VERSION_FAULTS = statement(
  'audit.versions',
  // Retention cleans SENT events by age and keeps DEAD and dropped ones: behind one of these that is older than
  // every SENT event left, versions may be missing.
  `with flights as (
     select flid, version from flight_schd
     union all
     select flid, version from flight_schd_hst h where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ),
   cleaned as (
     select coalesce(min(sent_at), 'infinity') as before from msg_event where target = 'KAFKA:msg' and state = 'SENT'
   ),
   ordered as (
     select partition_key as flid, event_id, state_version,
       lag(state_version) over w as before,
       lead(event_id) over w is null as last,
       state in ('DEAD', 'DROPPED') and created_at < cleaned.before as kept,
       lag(state in ('DEAD', 'DROPPED') and created_at < cleaned.before) over w as kept_before
     from msg_event, cleaned where target = 'KAFKA:msg'
     window w as (partition by partition_key order by event_id)
   )
   select o.flid, o.event_id as "eventId", o.state_version as version, o.before, f.version as "flightVersion"
   from ordered o left join flights f on f.flid = o.flid
   where (o.before is not null and o.state_version <> o.before + 1 and not (kept_before and o.state_version > o.before)
       -- The jump over what consumers knew before a restore.
       and not (o.state_version > o.before and exists (
         select from version_floor v where v.flid = o.flid and v.version = o.state_version - 1)))
     or (o.last and f.version is distinct from o.state_version and not (kept and coalesce(f.version > o.state_version, false)))
   order by o.event_id limit ${String(MOST_OFFENDERS)}`,
);

/** Gaps, repetitions and wrong ends in the versions of a flight's events (invariant 5). */
export async function versionFaults(db: Queryable): Promise<
  readonly {
    flid: string;
    eventId: bigint;
    version: number;
    before: number | null;
    flightVersion: number | null;
  }[]
> {
  return db.query(VERSION_FAULTS);
}

const EVENT_TOTALS = statement(
  'audit.eventTotals',
  `select count(*) filter (where state = 'PENDING')::integer as pending,
     count(*) filter (where state = 'SENT')::integer as sent,
     count(*) filter (where state = 'DEAD')::integer as dead,
     count(*) filter (where state = 'DROPPED')::integer as dropped
   from msg_event where target = $1`,
);

export interface EventTotals {
  readonly pending: number;
  readonly sent: number;
  readonly dead: number;
  readonly dropped: number;
}

/** Events by state of one target. */
export async function eventTotals(db: Queryable, target: string): Promise<EventTotals> {
  const [row] = await db.query<EventTotals>(EVENT_TOTALS, [target]);
  return row ?? { pending: 0, sent: 0, dead: 0, dropped: 0 };
}

const SENT_EVENTS = statement(
  'audit.sentEvents',
  `select event_id as "eventId", partition_key as flid, state_version as version, sent_at as "sentAt"
   from msg_event where target = 'KAFKA:msg' and state = 'SENT' and event_id > $1 order by event_id limit $2`,
);

export interface SentEvent {
  readonly eventId: bigint;
  readonly flid: string;
  readonly version: number;
  readonly sentAt: string;
}

/** SENT KAFKA:msg events after an ID, ascending (invariant 6). */
export async function sentEventsAfter(
  db: Queryable,
  after: bigint,
  limit: number,
): Promise<readonly SentEvent[]> {
  return db.query<SentEvent>(SENT_EVENTS, [after, limit]);
}

const SENT_AT = statement(
  'audit.sentAt',
  `select sent_at as "sentAt" from msg_event where event_id = $1 and state = 'SENT'`,
);

/** When an event was sent; null where it was not, or is not kept any more. */
export async function sentAtOf(db: Queryable, eventId: bigint): Promise<string | null> {
  return (await db.query<{ sentAt: string }>(SENT_AT, [eventId]))[0]?.sentAt ?? null;
}

const VERSION_JUMPS = statement(
  'audit.versionJumps',
  `select count(*)::integer as jumps from msg_event e join version_floor v
     on v.flid = e.partition_key and v.version = e.state_version - 1
   where e.target = 'KAFKA:msg'`,
);

/** Events that follow a recorded jump (invariant 5). */
export async function versionJumps(db: Queryable): Promise<number> {
  return (await db.query<{ jumps: number }>(VERSION_JUMPS))[0]?.jumps ?? 0;
}

const RETRIED_EVENTS = statement(
  'audit.retriedEvents',
  `select substr(target, 7)::bigint as "eventId" from op_audit where action = 'retry' and target ~ '^event:[0-9]+$'`,
);

/** Events that operators had sent again after they were dead: they may be delivered behind newer ones (invariant 6). */
export async function retriedEvents(db: Queryable): Promise<ReadonlySet<bigint>> {
  return new Set((await db.query<{ eventId: bigint }>(RETRIED_EVENTS)).map(({ eventId }) => eventId));
}

export interface LatestFact {
  readonly flid: string;
  /** Version that was to be told. */
  readonly version: number;
  readonly sent: boolean;
  /** Null where the flight is deleted or archived. */
  readonly state: Record<string, unknown> | null;
  /** Version of the flight; null where flight_schd has none. */
  readonly flightVersion: number | null;
  /** After a restore, until a version above that known to consumers has been made. */
  readonly restoring: boolean;
}

const LATEST_FACTS = statement(
  'audit.latest',
  `select e.partition_key as flid, e.state_version as version, e.state = 'SENT' as sent,
     case when f.deleted then null else f.state end as state, f.version as "flightVersion",
     exists (select from version_floor v where v.flid = e.partition_key and v.settled_at is null
       and v.version >= e.state_version) as restoring
   from msg_event e left join flight_schd f on f.flid = e.partition_key
   where e.target = 'KAFKA:schd' and e.partition_key > $1 order by e.partition_key limit $2`,
);

/** The newest state of each flight as it should have been told, by FLID after a place (invariant 6). */
export async function latestFactsAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<readonly LatestFact[]> {
  return db.query<LatestFact>(LATEST_FACTS, [after, limit]);
}

const VERSION_NOW = statement('audit.versionNow', `select version from flight_schd where flid = $1`);

/** The version a flight has now, outside the audit's snapshot; null where flight_schd has none. */
export async function versionNow(db: Queryable, flid: string): Promise<number | null> {
  return (await db.query<{ version: number }>(VERSION_NOW, [flid]))[0]?.version ?? null;
}

export interface AppliedMessage {
  readonly msgId: bigint;
  readonly flids: readonly string[];
  readonly profileHash: string | null;
}

const OPEN_APPLIED = statement(
  'audit.applied',
  // One sort of everything, then page after page of it: no index leads to flight_message by message.
  `declare applied_messages no scroll cursor for
   select m.msg_id as "msgId", array_agg(m.flid) as flids,
     max(coalesce(p.profile_hash, h.profile_hash)) as "profileHash"
   from flight_message m
   left join proc_state p on p.msg_id = m.msg_id
   left join proc_state_hst h on h.msg_id = m.msg_id
   where coalesce(p.state, h.state) = 'SUCCEEDED'
   group by m.msg_id order by m.msg_id`,
);
const CLOSE_APPLIED = statement('audit.applied.close', 'close applied_messages');

/** SUCCEEDED messages and the flights they were applied to, page by page in ID order (invariant 7). Needs a transaction. */
export async function* appliedMessages(
  tx: Queryable,
  page: number,
): AsyncGenerator<readonly AppliedMessage[]> {
  const next = statement(`audit.applied.next.${String(page)}`, `fetch ${String(page)} from applied_messages`);
  await tx.query(OPEN_APPLIED);
  for (;;) {
    const rows = await tx.query<AppliedMessage>(next);
    if (rows.length > 0) yield rows;
    if (rows.length < page) break;
  }
  await tx.query(CLOSE_APPLIED);
}

export interface StoredFlight {
  readonly flid: string;
  readonly deleted: boolean;
  readonly operationDay: string;
  readonly state: Record<string, unknown>;
  readonly stamps: Record<string, unknown>;
  readonly archived: boolean;
}

const STORED = statement(
  'audit.stored',
  `select flid, deleted, operation_day as "operationDay", state, stamps, archived from (
     select flid, deleted, operation_day, state, stamps, false as archived from flight_schd
     union all
     select flid, deleted, operation_day, state, stamps, true from flight_schd_hst h
     where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ) flights where flid > $1 order by flid limit $2`,
);

/** Flights as stored, archived ones too, by FLID after a place (invariant 7). */
export async function storedAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<readonly StoredFlight[]> {
  return db.query<StoredFlight>(STORED, [after, limit]);
}

export interface MarkFact {
  readonly msgId: bigint;
  readonly terminal: boolean;
  readonly excused: boolean;
  readonly confirmed: boolean;
}

const MARK_FACTS = statement(
  'audit.marks',
  `select msg_id as "msgId", state in ('SUCCEEDED', 'SKIPPED', 'DEAD') as terminal,
     marked_at_intake or replayed or restored as excused, backfill_at is not null and not shadow as confirmed
   from ${ALL_MESSAGES} p where msg_id between $1 and $2`,
);

/** What we hold of the marks of a range of messages (invariant 8). */
export async function markFacts(db: Queryable, from: bigint, to: bigint): Promise<readonly MarkFact[]> {
  return db.query<MarkFact>(MARK_FACTS, [from, to]);
}

const UNAUDITED = statement(
  'audit.unaudited',
  `select 'skip of message ' || msg_id as what from ${ALL_MESSAGES} p
   where state = 'SKIPPED' and reason like 'operator:%'
     and not exists (select 1 from op_audit a where a.action = 'skip' and a.target = 'message:' || p.msg_id)
   union all
   select 'replay of message ' || msg_id from ${ALL_MESSAGES} p
   where replayed
     and not exists (select 1 from op_audit a where a.action = 'replay' and a.target = 'message:' || p.msg_id)
   union all
   select 'drop of event ' || event_id from msg_event e
   where state = 'DROPPED'
     and not exists (select 1 from op_audit a where a.action = 'drop' and a.target = 'event:' || e.event_id)
   union all
   select 'confirmation of mark ' || msg_id from ${ALL_MESSAGES} p
   where backfill_confirmed_at is not null
     and not exists (select 1 from op_audit a where a.action = 'confirm' and a.target = 'message:' || p.msg_id)
   union all
   select 'pause of station ' || station from station_pause s
   where not exists (select 1 from op_audit a where a.action = 'pause' and a.target = 'station:' || s.station)
   union all
   -- Pending with a time to wait for and no attempt: told again on demand (store/republish.ts).
   select 'republish of flight ' || partition_key from msg_event e left join flight_schd f on f.flid = partition_key
   where target = 'KAFKA:schd' and e.state = 'PENDING' and attempts = 0 and next_attempt_at is not null
     and not exists (select 1 from op_audit a where a.action = 'republish'
       and a.target in ('flid:' || partition_key, 'day:' || f.operation_day, 'all'))
   union all
   -- What the service asks by itself is registered as msgx:….
   select 'request ' || req_id from req_track r
   where not starts_with(requested_by, 'msgx:')
     and not exists (select 1 from op_audit a where a.action = 'request' and a.target = 'request:' || r.req_id)
   union all
   select 'number of partitions of topic ' || substr(s.name, 18) from fixed_setting s
   where starts_with(s.name, 'kafka.partitions:')
     and s.value <> (select a.after ->> 'partitions' from op_audit a
       where a.action = 'accept-partitions' and a.target = 'topic:' || substr(s.name, 18)
       order by a.audit_id desc limit 1)
   limit ${String(MOST_OFFENDERS)}`,
);

/** Operator changes without an audit row (invariant 9). */
export async function unauditedChanges(db: Queryable): Promise<readonly string[]> {
  return (await db.query<{ what: string }>(UNAUDITED)).map(({ what }) => what);
}

const PENDING_WORK = statement(
  'audit.pendingWork',
  // proc_state_unfinished and proc_state_owed.
  `select (select count(*)::integer from proc_state where state in ('PENDING', 'FAILED')) as unfinished,
     (select count(*)::integer from proc_state where state in ('SUCCEEDED', 'SKIPPED', 'DEAD')
        and backfill_at is null and backfill_abandoned_at is null and not shadow) as owed,
     (select count(*)::integer from ${ALL_MESSAGES} p) as messages`,
);

/** What is still pending or owed: counted, not broken. */
export async function pendingWork(
  db: Queryable,
): Promise<{ unfinished: number; owed: number; messages: number }> {
  const [row] = await db.query<{ unfinished: number; owed: number; messages: number }>(PENDING_WORK);
  return row ?? { unfinished: 0, owed: 0, messages: 0 };
}

const DIGEST_FLIGHTS = statement(
  'digest.flights',
  `select flid, version, operation_day as "operationDay", deleted, state from (
     select flid, version, operation_day, deleted, state from flight_schd
     union all
     select flid, version, operation_day, deleted, state from flight_schd_hst h
     where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ) flights where flid > $1 order by flid limit $2`,
);

export interface DigestFlight {
  readonly flid: string;
  readonly version: number;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly state: Record<string, unknown>;
}

/** Flights for the digest, by FLID after a place. */
export async function digestFlightsAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<readonly DigestFlight[]> {
  return db.query<DigestFlight>(DIGEST_FLIGHTS, [after, limit]);
}

const DIGEST_REFERENCE = statement(
  'digest.reference',
  // jsonb text has one canonical form; order and form depend on no setting of the server.
  `select md5(coalesce(string_agg(jsonb_build_array(rtype, rkey, active, body)::text, chr(10)
       order by rtype collate "C", rkey collate "C"), '')) as hash, count(*)::integer as rows from ref_master`,
);
const DIGEST_MESSAGES = statement(
  'digest.messages',
  `select md5(coalesce(string_agg(jsonb_build_array(msg_id, state, error_class, reason, last_error)::text, chr(10)
       order by msg_id), '')) as hash, count(*)::integer as rows from ${ALL_MESSAGES} p`,
);

/** Hashes of reference data and of the messages' outcomes. */
export async function digestParts(
  db: Queryable,
): Promise<{ reference: { hash: string; rows: number }; messages: { hash: string; rows: number } }> {
  const [reference] = await db.query<{ hash: string; rows: number }>(DIGEST_REFERENCE);
  const [messages] = await db.query<{ hash: string; rows: number }>(DIGEST_MESSAGES);
  return { reference: reference ?? { hash: '', rows: 0 }, messages: messages ?? { hash: '', rows: 0 } };
}
