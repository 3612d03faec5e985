/** Which message touched which flight, and how: the history and the ground of the audit (invariant 7). */
import { bigintArray, integerArray, textArray } from './arrays.ts';
import type { Placeholder } from './statement.ts';

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
   from (select unnest(${$(1)}::text[]) as flid, unnest(${$(2)}::bigint[]) as msg_id,
     unnest(${$(3)}::integer[]) as state_version, unnest(${$(4)}::text[]) as changed,
     unnest(${$(5)}::text[]) as superseded) m`;

/** Parameters of {@link insertFlightMessages}. */
export function flightMessageValues(rows: readonly FlightMessage[]): readonly unknown[] {
  return [
    textArray(rows.map(({ flid }) => flid)),
    bigintArray(rows.map(({ msgId }) => msgId)),
    integerArray(rows.map(({ stateVersion }) => stateVersion)),
    textArray(rows.map(({ changed }) => JSON.stringify(changed))),
    textArray(rows.map(({ superseded }) => JSON.stringify(superseded))),
  ];
}
