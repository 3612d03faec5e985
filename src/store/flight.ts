/** Flights as the pump reads and writes them (seed §1 FLIGHT_SCHD): one read and one write per batch. */
import type { FlightRecord, FlightState, Stamps } from '../domain/flight.ts';
import { flid as flidOf, msgId as msgIdOf } from '../domain/ids.ts';
import { airportTime } from '../runtime/airport-time.ts';
import { chunksOf } from './chunks.ts';
import { statement, type Placeholder, type Queryable } from './database.ts';
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
  // Primary keys of both tables.
  `select ${COLUMNS}, false as archived from flight_schd where flid = any ($1::text[])
   union all
   select ${COLUMNS}, true from flight_schd_hst h where flid = any ($1::text[])
     and not exists (select 1 from flight_schd f where f.flid = h.flid)`,
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
   from unnest(${$(1)}::text[], ${$(2)}::integer[], ${$(3)}::date[], ${$(4)}::boolean[], ${$(5)}::text[], ${$(6)}::text[],
       ${$(7)}::bigint[], ${$(8)}::timestamptz[])
     as f (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
   on conflict (flid) do update set version = excluded.version, deleted = excluded.deleted, state = excluded.state,
     stamps = excluded.stamps, last_msg_id = excluded.last_msg_id, updated_at = excluded.updated_at`;

/** Parameters of {@link upsertFlights}. */
export function flightValues(records: readonly FlightRecord[]): readonly unknown[] {
  return [
    records.map(({ flid }) => flid),
    records.map(({ version }) => version),
    records.map(({ operationDay }) => operationDay),
    records.map(({ deleted }) => deleted),
    records.map(({ state }) => JSON.stringify(state)),
    records.map(({ stamps }) => JSON.stringify(stamps)),
    records.map(({ lastMsgId }) => lastMsgId),
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
