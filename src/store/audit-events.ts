/** What `msgx verify` asks of events and of what was told (contract, "Invariants" 5 and 6). The statements scan. */
import { MOST_OFFENDERS } from './audit-messages.ts';
import { statement, type Queryable } from './statement.ts';

const VERSION_FAULTS = statement(
  'audit.versions',
  // Retention cleans SENT events by age, the oldest first, and notes how far it has come: behind an event that is left
  // at or below that front – dead, dropped, or sent late – versions may be missing. So they may behind a dead or dropped
  // one that is older than every SENT event left, where somebody else has cleaned.
  `with flights as (
     select flid, version from flight_schd
     union all
     select flid, version from flight_schd_hst h where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ),
   cleaned as (
     select (select event_id from event_front) as front, coalesce(min(sent_at), 'infinity') as before
     from msg_event where target = 'KAFKA:msg' and state = 'SENT'
   ),
   ordered as (
     select partition_key as flid, event_id, state_version,
       lag(state_version) over w as before,
       lead(event_id) over w is null as last,
       kept, lag(kept) over w as kept_before
     from (
       select e.*, event_id <= front or (state in ('DEAD', 'DROPPED') and created_at < before) as kept
       from msg_event e, cleaned where target = 'KAFKA:msg'
     ) told
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
   from (
     select partition_key, state_version, state from msg_event where target = 'KAFKA:schd' and partition_key > $1
     union all
     -- Retention has taken the row: it was SENT.
     select flid, version, 'SENT' from flight_schd n where flid > $1
       and not exists (select from msg_event m where m.target = 'KAFKA:schd' and m.partition_key = n.flid)
   ) e left join flight_schd f on f.flid = e.partition_key
   order by e.partition_key limit $2`,
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
