/** Which message touched which flight, and how: the history and the ground of the audit (invariant 7). */
import { chunksOf } from './chunks.ts';
import { statement, type Queryable } from './database.ts';

export interface FlightMessage {
  readonly flid: string;
  readonly msgId: bigint;
  /** The version that the message made; null where it made none. */
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
}

const INSERT = statement(
  'flightMessage.insert',
  `insert into flight_message (flid, msg_id, state_version, changed, superseded)
   select flid, msg_id, state_version,
     array(select jsonb_array_elements_text(changed::jsonb)), array(select jsonb_array_elements_text(superseded::jsonb))
   from unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::text[])
     as m (flid, msg_id, state_version, changed, superseded)`,
);

/** Inserts the rows of a batch. */
export async function insertFlightMessages(tx: Queryable, rows: readonly FlightMessage[]): Promise<void> {
  for (const part of chunksOf(rows)) {
    await tx.query(INSERT, [
      part.map(({ flid }) => flid),
      part.map(({ msgId }) => msgId),
      part.map(({ stateVersion }) => stateVersion),
      part.map(({ changed }) => JSON.stringify(changed)),
      part.map(({ superseded }) => JSON.stringify(superseded)),
    ]);
  }
}
