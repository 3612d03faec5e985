/** Flights as the pump reads and writes them (seed §1 FLIGHT_SCHD): one read and one write per batch. */
import type { FlightRecord, FlightState, Stamps } from '../domain/flight.ts';
import { flid as flidOf, msgId as msgIdOf } from '../domain/ids.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { chunksOf } from './chunks.ts';
import { bigintArray, booleanArray, integerArray, textArray } from './arrays.ts';
import { statement, type Placeholder, type Queryable } from './statement.ts';
import { toMillis } from './time.ts';

interface FlightRow {
  readonly flid: string;
  readonly version: number;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly state: FlightState;
  readonly stamps: Stamps;
  readonly lastMsgId: bigint;
  readonly updatedAt: string;
  readonly archived: boolean;
}

const COLUMNS = `flid, version, operation_day as "operationDay", deleted, state, stamps, last_msg_id as "lastMsgId",
     updated_at as "updatedAt"`;

const SELECT = statement(
  'flight.select',
  // Primary keys of both tables, one probe for each flight, whatever the planner thinks of their number: a plan for an
  // unknown number of them would read the whole table, and to plan anew each time costs more than to read one flight.
  `select f.* from unnest($1::text[]) as named (flid) cross join lateral (
     select ${COLUMNS}, false as archived from flight_schd where flid = named.flid
     union all
     select ${COLUMNS}, true from flight_schd_hst where flid = named.flid
       and not exists (select from flight_schd where flid = named.flid)
     offset 0
   ) f`,
);

/** A flight as read: an archived one counts as deleted and goes on from its archived version and stamps. */
export interface ReadFlight {
  readonly record: FlightRecord;
  readonly archived: boolean;
}

/**
 * Reads flights, archived ones included; those never known are missing from the result. For many flights it takes
 * several statements: belongs in a transaction that holds pipeline_lock.
 */
export async function selectFlights(
  tx: Queryable,
  flids: readonly string[],
  timeZone: string,
): Promise<ReadonlyMap<string, ReadFlight>> {
  const flights = new Map<string, ReadFlight>();
  for (const part of chunksOf(flids)) {
    for (const row of await tx.query<FlightRow>(SELECT, [part]))
      flights.set(row.flid, readFlight(row, timeZone));
  }
  return flights;
}

function readFlight(row: FlightRow, timeZone: string): ReadFlight {
  return {
    archived: row.archived,
    record: {
      flid: flidOf(row.flid),
      version: row.version,
      operationDay: row.operationDay,
      deleted: row.deleted || row.archived,
      state: row.state,
      stamps: row.stamps,
      lastMsgId: msgIdOf(row.lastMsgId),
      updatedAt: airportTime(toMillis(row.updatedAt), timeZone),
    },
  };
}

/**
 * Writes flights, each once; 8 parameters. Primary key. The operation day is written once, at the insert.
 * Part of the statement that writes a batch.
 */
export const upsertFlights = ($: Placeholder): string =>
  `insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
   select flid, version, operation_day, deleted, state::jsonb, stamps::jsonb, last_msg_id, updated_at
   from (select unnest(${$(1)}::text[]) as flid, unnest(${$(2)}::integer[]) as version,
     unnest(${$(3)}::date[]) as operation_day, unnest(${$(4)}::boolean[]) as deleted, unnest(${$(5)}::text[]) as state,
     unnest(${$(6)}::text[]) as stamps, unnest(${$(7)}::bigint[]) as last_msg_id,
     unnest(${$(8)}::timestamptz[]) as updated_at) f
   on conflict (flid) do update set version = excluded.version, deleted = excluded.deleted, state = excluded.state,
     stamps = excluded.stamps, last_msg_id = excluded.last_msg_id, updated_at = excluded.updated_at`;

/** Parameters of {@link upsertFlights}. */
export function flightValues(records: readonly FlightRecord[]): readonly unknown[] {
  return [
    textArray(records.map(({ flid }) => flid)),
    integerArray(records.map(({ version }) => version)),
    records.map(({ operationDay }) => operationDay),
    booleanArray(records.map(({ deleted }) => deleted)),
    textArray(records.map(({ state }) => JSON.stringify(state))),
    textArray(records.map(({ stamps }) => JSON.stringify(stamps))),
    bigintArray(records.map(({ lastMsgId }) => lastMsgId)),
    records.map(({ updatedAt }) => updatedAt),
  ];
}

const UNARCHIVE = statement(
  'flight.unarchive',
  // Primary key.
  `delete from flight_schd_hst where flid = any ($1::text[])`,
);

/** Takes flights out of the archive that are named again. */
export async function unarchiveFlights(tx: Queryable, flids: readonly string[]): Promise<void> {
  if (flids.length > 0) await tx.query(UNARCHIVE, [flids]);
}
