/** The archive of flights (seed §9.3; decisions.md, "Archives"): FLIGHT_SCHD to FLIGHT_SCHD_HST. */
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** A flight old enough, as it was read. */
export interface OldFlight {
  readonly flid: string;
  readonly version: number;
  /** yyyy-MM-dd. */
  readonly operationDay: string;
  readonly deleted: boolean;
}

const SELECT = statement(
  'flightArchive.select',
  // flight_schd_day up to the limit. Open events: msg_event_pending read once – the caller has seen that few are pending;
  // open states: the same, or msg_event_schd for each flight where many wait. version_floor_unsettled: after a restore
  // consumers may know more than the flight.
  `with open as materialized (
     select partition_key from msg_event where target = 'KAFKA:msg' and state = 'PENDING'
   )
   select flid, version, operation_day as "operationDay", deleted from flight_schd f
   where operation_day < $1::date and updated_at < $2::timestamptz
     and flid not in (select partition_key from open)
     and not exists (select from msg_event e
       where e.target = 'KAFKA:schd' and e.partition_key = f.flid and e.state = 'PENDING')
     and not exists (select from version_floor v where v.flid = f.flid and v.settled_at is null)
   order by operation_day, scheduled_time, flid limit $3`,
);

/** Flights whose operation day and last update lie before these, without an open event; the oldest first. */
export async function selectOldFlights(
  db: Queryable,
  age: { readonly day: string; readonly updatedBefore: number },
  limit: number,
): Promise<readonly OldFlight[]> {
  return db.query<OldFlight>(SELECT, [age.day, toTimestamp(age.updatedBefore), limit]);
}

const PENDING = statement(
  'flightArchive.pending',
  // msg_event_pending, as many entries as are asked for.
  `select count(*)::integer as pending from (
     select from msg_event where target = 'KAFKA:msg' and state = 'PENDING' limit $1) counted`,
);

/** Undelivered events, counted up to a limit. */
export async function countPendingEvents(db: Queryable, most: number): Promise<number> {
  return (await db.query<{ pending: number }>(PENDING, [most]))[0]?.pending ?? 0;
}

const COPY = statement(
  'flightArchive.copy',
  // Primary key. The version that was read is the expected one: whatever has happened since has raised it. Without a
  // deletion of its own the flight gets the version of the one that is told now.
  `insert into flight_schd_hst
     (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at, archived_at)
   select f.flid, case when f.deleted then f.version else f.version + 1 end, f.operation_day, true, f.state, f.stamps,
     f.last_msg_id, case when f.deleted then f.updated_at else $4::timestamptz end, $4::timestamptz
   from unnest($1::text[], $2::integer[], $3::boolean[]) as n (flid, version, deleted)
   join flight_schd f on f.flid = n.flid and f.version = n.version and f.deleted = n.deleted
   returning flid`,
);
const DELETE = statement(
  'flightArchive.delete',
  // Primary key.
  `delete from flight_schd where flid = any ($1::text[]) returning flid`,
);
const TOMBSTONES = statement(
  'flightArchive.tombstones',
  `insert into archive_tombstone (flid, version) select * from unnest($1::text[], $2::integer[]) on conflict do nothing`,
);

/**
 * Moves flights that still stand as they were read, and gives their FLIDs. Copy, count, delete; belongs in a transaction
 * that holds pipeline_lock as one of the others, with the events of {@link OldFlight}s that were not deleted. Throws an
 * Error where the counts differ.
 */
export async function archiveFlights(
  tx: Queryable,
  flights: readonly OldFlight[],
  now: number,
): Promise<ReadonlySet<string>> {
  const copied = await tx.query<{ flid: string }>(COPY, [
    flights.map(({ flid }) => flid),
    flights.map(({ version }) => version),
    flights.map(({ deleted }) => deleted),
    toTimestamp(now),
  ]);
  const moved = new Set(copied.map(({ flid }) => flid));
  const told = flights.filter(({ flid, deleted }) => moved.has(flid) && !deleted);
  await tx.query(TOMBSTONES, [told.map(({ flid }) => flid), told.map(({ version }) => version + 1)]);
  const deleted = await tx.query(DELETE, [[...moved]]);
  if (deleted.length !== moved.size) {
    throw new Error(`${moved.size} flights were copied into the archive and ${deleted.length} deleted`);
  }
  return moved;
}
