/**
 * What the business transaction writes (seed §5.3), as one statement: its parts touch different rows, so their order
 * is nobody's concern, and each further statement would cost as much as its work.
 */
import type { FlightRecord } from '../domain/flight.ts';
import { CHUNK_ROWS } from './chunks.ts';
import { statement, type Placeholder, type Queryable } from './database.ts';
import { flightMessageValues, insertFlightMessages, type FlightMessage } from './flight-message.ts';
import { flightValues, upsertFlights } from './flight.ts';
import { eventValues, insertEvents, type NewMessageEvent } from './msg-event.ts';
import { finishMessages, terminalValues, type Terminal } from './proc-state.ts';
import { inLockOrder, stateValues, upsertStates, type LatestState } from './schd-event.ts';

/** A batch as it is to be written. */
export interface BatchRows {
  readonly flights: readonly FlightRecord[];
  /** In the order that their IDs are to have. */
  readonly events: readonly NewMessageEvent[];
  readonly latestStates: readonly LatestState[];
  readonly flightMessages: readonly FlightMessage[];
  /** In the order in which the messages ended. */
  readonly terminals: readonly Terminal[];
}

/** Placeholders of a part whose first parameter comes after so many others. */
const after =
  (parameters: number): Placeholder =>
  (place) =>
    `$${parameters + place}`;

const WRITE = statement(
  'batch.write',
  // The indexes of its parts.
  `with flights as (${upsertFlights(after(0))}),
   events as (${insertEvents(after(8))}),
   states as (${upsertStates(after(14))}),
   touched as (${insertFlightMessages(after(19))}),
   ended as (${finishMessages(after(24))})
   select count(*)::integer as ended from ended`,
);

/**
 * Writes a batch, in several statements where a set has very many rows. Gives how many messages were still
 * unfinished: fewer than given means that somebody else was there.
 *
 * @param between what to do between two statements
 */
export async function writeBatch(
  tx: Queryable,
  rows: BatchRows,
  facts: { readonly at: string; readonly profileHash: string },
  between: () => Promise<void>,
): Promise<number> {
  const { flights, events, flightMessages, terminals } = rows;
  const states = inLockOrder(rows.latestStates);
  const most = Math.max(flights.length, events.length, states.length, flightMessages.length);
  let ended = 0;
  for (let from = 0; from === 0 || from < most; from += CHUNK_ROWS) {
    const part = <T>(all: readonly T[]) => all.slice(from, from + CHUNK_ROWS);
    const last = from + CHUNK_ROWS >= most;
    const [answer] = await tx.query<{ ended: number }>(WRITE, [
      ...flightValues(part(flights)),
      ...eventValues(part(events), facts.at),
      ...stateValues(part(states), facts.at),
      ...flightMessageValues(part(flightMessages)),
      ...terminalValues(last ? terminals : [], facts.at, facts.profileHash),
    ]);
    ended += answer?.ended ?? 0;
    if (!last) await between();
  }
  return ended;
}
