/** Finding flights by number or FLID over all days, archived ones too, and the events of a flight. */
import type { JsonObject } from '../domain/json.ts';
import { FLIGHT_COLUMNS, type EventRow, type FlightRow } from './browse.ts';
import { statement, type Queryable } from './statement.ts';

/** What is searched for. */
export interface FlightSearch {
  /** A FLID, or the beginning of a flight number. */
  readonly text: string;
  /** On this operation day alone; null for all. */
  readonly day: string | null;
}

/** Place in the order of a search: day, newest first, then FLID. */
export interface FlightPlace {
  readonly day: string;
  readonly flid: string;
}

const SEARCH = statement(
  'browseFlights.search',
  // Numbers: flight_schd_number and flight_schd_hst_number by their beginning; FLID: primary keys. An archived flight that
  // was named again stands in both tables, and counts as the living one.
  `with found as (
     select flid, operation_day from flight_schd
     where flight_number collate "C" >= $1 and flight_number collate "C" < $2 and ($4::date is null or operation_day = $4)
     union
     select flid, operation_day from flight_schd_hst
     where left(state ->> 'flightNumber', 64) collate "C" >= $1 and left(state ->> 'flightNumber', 64) collate "C" < $2
       and ($4::date is null or operation_day = $4)
     union
     select flid, operation_day from flight_schd where flid = $3 and ($4::date is null or operation_day = $4)
     union
     select flid, operation_day from flight_schd_hst where flid = $3 and ($4::date is null or operation_day = $4)
   ), page as (
     select flid, operation_day from found
     where $5::date is null or operation_day < $5 or (operation_day = $5 and flid > $6)
     order by operation_day desc, flid limit $7
   )
   select f.* from page, lateral (
     select ${FLIGHT_COLUMNS}, false as archived from flight_schd where flid = page.flid
     union all
     select ${FLIGHT_COLUMNS}, true from flight_schd_hst where flid = page.flid
     order by archived limit 1
   ) f order by f."operationDay" desc, f.flid`,
);

/** Flights that fit, newest day first. */
export async function searchFlights(
  db: Queryable,
  { text, day }: FlightSearch,
  after: FlightPlace | null,
  limit: number,
): Promise<readonly FlightRow[]> {
  const number = text.toUpperCase().replaceAll(' ', '');
  return db.query<FlightRow>(SEARCH, [
    ...[number, `${number}\u{10ffff}`, text, day],
    ...[after?.day ?? null, after?.flid ?? null, limit],
  ]);
}

const SELECT_NAMED = statement(
  'browseFlights.named',
  // As above, whole numbers.
  `select flid from flight_schd where flight_number collate "C" = $1
   union select flid from flight_schd_hst where left(state ->> 'flightNumber', 64) collate "C" = $1 limit $2`,
);

/** The FLIDs of a flight number, on whatever days. */
export async function selectFlidsOf(
  db: Queryable,
  flightNumber: string,
  limit: number,
): Promise<readonly string[]> {
  return (await db.query<{ flid: string }>(SELECT_NAMED, [flightNumber, limit])).map(({ flid }) => flid);
}

/** An event of a flight with what it tells. */
export interface VersionRow extends Omit<EventRow, 'flightNumber'> {
  readonly attempts: number;
  readonly lastError: string | null;
  /** The flight as published; null for a deletion. */
  readonly flight: JsonObject | null;
}

const SELECT_VERSIONS = statement(
  'browseFlights.versions',
  // msg_event_flight, from the newest.
  `select event_id as "eventId", target, partition_key as flid, event_type as type, state_version as version, state,
     created_at as "createdAt", sent_at as "sentAt", msg_id as "msgId", body -> 'changed' as changed, attempts,
     last_error as "lastError", body -> 'flight' as flight
   from msg_event where target = 'KAFKA:msg' and partition_key = $1 and event_id < $2
   order by event_id desc limit $3`,
);

/** The KAFKA:msg events of a flight below an ID, newest first. */
export async function selectVersions(
  db: Queryable,
  flid: string,
  before: bigint,
  limit: number,
): Promise<readonly VersionRow[]> {
  return db.query<VersionRow>(SELECT_VERSIONS, [flid, before, limit]);
}
