/** Which message touched which flight, and how: the history and the ground of the audit (invariant 7). */
import type { Placeholder } from './database.ts';

export interface FlightMessage {
  readonly flid: string;
  readonly msgId: bigint;
  /** The version that the message made; null where it made none. */
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
}

/** Inserts the rows of a batch; 5 parameters. Part of the statement that writes it. */
export const insertFlightMessages = ($: Placeholder): string =>
  `insert into flight_message (flid, msg_id, state_version, changed, superseded)
   select flid, msg_id, state_version,
     array(select jsonb_array_elements_text(changed::jsonb)), array(select jsonb_array_elements_text(superseded::jsonb))
   from unnest(${$(1)}::text[], ${$(2)}::bigint[], ${$(3)}::integer[], ${$(4)}::text[], ${$(5)}::text[])
     as m (flid, msg_id, state_version, changed, superseded)`;

/** Parameters of {@link insertFlightMessages}. */
export function flightMessageValues(rows: readonly FlightMessage[]): readonly unknown[] {
  return [
    rows.map(({ flid }) => flid),
    rows.map(({ msgId }) => msgId),
    rows.map(({ stateVersion }) => stateVersion),
    rows.map(({ changed }) => JSON.stringify(changed)),
    rows.map(({ superseded }) => JSON.stringify(superseded)),
  ];
}
