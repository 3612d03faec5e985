/** Lists for the console and the API: flights, events, one flight's history. Keyset paging, read-only. */
import type { JsonObject } from '../domain/json.ts';
import { statement, type Queryable } from './statement.ts';

/** A flight as listed; state comes as jsonb gives it, canonicalise before publishing. */
export interface FlightRow {
  readonly flid: string;
  readonly version: number;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly updatedAt: string;
  readonly lastMsgId: bigint;
  readonly state: JsonObject;
  readonly stamps: JsonObject;
  readonly archived: boolean;
}

/** What is told of a flight. */
export const FLIGHT_COLUMNS = `flid, version, operation_day as "operationDay", deleted, updated_at as "updatedAt",
  last_msg_id as "lastMsgId", state, stamps`;

const SELECT_DAY = statement(
  'browse.day',
  // flight_schd_day: (operation_day, scheduled_time, flid).
  `select ${FLIGHT_COLUMNS}, false as archived from flight_schd
   where operation_day = $1 and (coalesce(scheduled_time, ''), flid) > ($2, $3)
   order by coalesce(scheduled_time, ''), flid limit $4`,
);

/** Flights of an operation day after a place in (scheduled time, FLID) order. */
export async function selectFlightsOfDay(
  db: Queryable,
  day: string,
  after: { readonly time: string; readonly flid: string },
  limit: number,
): Promise<readonly FlightRow[]> {
  return db.query<FlightRow>(SELECT_DAY, [day, after.time, after.flid, limit]);
}

const SELECT_BY_FLID = statement(
  'browse.byFlid',
  // Primary key.
  `select ${FLIGHT_COLUMNS}, false as archived from flight_schd where flid = any ($1::text[])`,
);

/** Flights by FLID. */
export async function selectFlightsByFlid(
  db: Queryable,
  flids: readonly string[],
): Promise<readonly FlightRow[]> {
  return flids.length === 0 ? [] : db.query<FlightRow>(SELECT_BY_FLID, [flids]);
}

const SELECT_DAYS = statement(
  'browse.days',
  // flight_schd_day, index only.
  `select operation_day as day, count(*)::integer as flights from flight_schd group by operation_day order by 1`,
);

/** Operation days that have flights, with their numbers. */
export async function selectDays(
  db: Queryable,
): Promise<readonly { readonly day: string; readonly flights: number }[]> {
  return db.query<{ day: string; flights: number }>(SELECT_DAYS);
}

const SELECT_FLIGHT = statement(
  'browse.flight',
  // Primary keys of flight_schd and flight_schd_hst.
  `select ${FLIGHT_COLUMNS}, false as archived from flight_schd where flid = $1
   union all
   select ${FLIGHT_COLUMNS}, true from flight_schd_hst h
   where flid = $1 and not exists (select 1 from flight_schd f where f.flid = h.flid)`,
);

/** One flight, archived or not; null where we never heard of it. */
export async function selectFlight(db: Queryable, flid: string): Promise<FlightRow | null> {
  return (await db.query<FlightRow>(SELECT_FLIGHT, [flid]))[0] ?? null;
}

/** A message that touched a flight. */
export interface FlightMessageRow {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
  readonly terminalAt: string | null;
  readonly late: boolean;
  readonly replayed: boolean;
}

const SELECT_HISTORY = statement(
  'browse.history',
  // Primary keys: flight_message (flid, msg_id), proc_state, proc_state_hst.
  `select m.msg_id as "msgId", coalesce(p.type, h.type) as type, coalesce(p.styp, h.styp) as styp,
     coalesce(p.state, h.state) as state, coalesce(p.reason, h.reason) as reason,
     m.state_version as "stateVersion", m.changed, m.superseded,
     coalesce(p.terminal_at, h.terminal_at) as "terminalAt",
     coalesce(p.late, h.late, false) as late, coalesce(p.replayed, h.replayed, false) as replayed
   from flight_message m
   left join proc_state p on p.msg_id = m.msg_id
   left join proc_state_hst h on h.msg_id = m.msg_id
   where m.flid = $1 order by m.msg_id desc limit $2`,
);

/** The messages that touched a flight, newest first. */
export async function selectFlightHistory(
  db: Queryable,
  flid: string,
  limit: number,
): Promise<readonly FlightMessageRow[]> {
  return db.query<FlightMessageRow>(SELECT_HISTORY, [flid, limit]);
}

const SELECT_TERMINAL_TIMES = statement(
  'browse.terminalTimes',
  // Primary keys of proc_state and proc_state_hst.
  `select msg_id as "msgId", terminal_at as "terminalAt" from proc_state where msg_id = any ($1::bigint[])
   union
   select msg_id, terminal_at from proc_state_hst where msg_id = any ($1::bigint[])`,
);

/** When messages ended, by MSG_ID; without those that have not. */
export async function selectTerminalTimes(
  db: Queryable,
  msgIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ msgId: bigint; terminalAt: string | null }>(SELECT_TERMINAL_TIMES, [msgIds]);
  return new Map(
    rows.flatMap(({ msgId, terminalAt }) => (terminalAt === null ? [] : [[msgId.toString(), terminalAt]])),
  );
}

export interface EventRow {
  readonly eventId: bigint;
  readonly target: string;
  readonly flid: string;
  readonly type: string;
  readonly version: number;
  readonly state: string;
  readonly createdAt: string;
  readonly sentAt: string | null;
  readonly msgId: bigint | null;
  readonly changed: readonly string[] | null;
  readonly flightNumber: string | null;
}

/** What is told of an event. */
export const EVENT_COLUMNS = `event_id as "eventId", target, partition_key as flid, event_type as type,
     state_version as version, state, created_at as "createdAt", sent_at as "sentAt", msg_id as "msgId",
     body -> 'changed' as changed, body -> 'flight' ->> 'flightNumber' as "flightNumber"`;

const SELECT_NEWEST_EVENTS = statement(
  'browse.newestEvents',
  // Primary key, from the newest.
  `select ${EVENT_COLUMNS} from msg_event where target = 'KAFKA:msg' order by event_id desc limit $1`,
);

/** The newest KAFKA:msg events, newest first. */
export async function selectNewestEvents(db: Queryable, limit: number): Promise<readonly EventRow[]> {
  return db.query<EventRow>(SELECT_NEWEST_EVENTS, [limit]);
}

const SELECT_EVENTS_AFTER = statement(
  'browse.eventsAfter',
  // Primary key.
  `select ${EVENT_COLUMNS} from msg_event where target = 'KAFKA:msg' and event_id > $1 order by event_id limit $2`,
);

/** KAFKA:msg events above an ID, oldest first: IDs ascend in commit order, so none is passed over. */
export async function selectEventsAfter(
  db: Queryable,
  after: bigint,
  limit: number,
): Promise<readonly EventRow[]> {
  return db.query<EventRow>(SELECT_EVENTS_AFTER, [after, limit]);
}

const SELECT_SETTLED = statement(
  'browse.settledEvents',
  // Primary key.
  `select ${EVENT_COLUMNS} from msg_event where event_id = any ($1::bigint[]) and state <> 'PENDING'`,
);

/** Those of the events that are no longer pending. */
export async function selectSettledEvents(
  db: Queryable,
  eventIds: readonly bigint[],
): Promise<readonly EventRow[]> {
  return eventIds.length === 0 ? [] : db.query<EventRow>(SELECT_SETTLED, [eventIds]);
}
