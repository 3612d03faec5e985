/** Stations paused by an operator: facts in the database, so that they survive a restart and a takeover. */
import type { StationName } from '../runtime/station.ts';
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** A pause as stored. */
export interface StoredPause {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
}

const INSERT = statement(
  'stationPause.insert',
  // Primary key.
  `insert into station_pause (station, by, reason, since) values ($1, $2, $3, $4)
   on conflict (station) do nothing returning by, reason, since`,
);

/** Pauses a station; null where it is paused already. */
export async function insertPause(
  tx: Queryable,
  station: StationName,
  pause: { readonly by: string; readonly reason: string; readonly now: number },
): Promise<StoredPause | null> {
  const rows = await tx.query<StoredPause>(INSERT, [station, pause.by, pause.reason, toTimestamp(pause.now)]);
  return rows[0] ?? null;
}

const DELETE = statement(
  'stationPause.delete',
  // Primary key.
  `delete from station_pause where station = $1 returning by, reason, since`,
);

/** Ends the pause of a station and gives it; null where it was not paused. */
export async function deletePause(tx: Queryable, station: StationName): Promise<StoredPause | null> {
  return (await tx.query<StoredPause>(DELETE, [station]))[0] ?? null;
}

const SELECT = statement(
  'stationPause.select',
  // Primary key.
  `select by, reason, since from station_pause where station = $1`,
);

/** The pause of a station; null where it is not paused. */
export async function selectPause(db: Queryable, station: StationName): Promise<StoredPause | null> {
  return (await db.query<StoredPause>(SELECT, [station]))[0] ?? null;
}
