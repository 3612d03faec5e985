/**
 * What the business transaction writes (seed §5.3), as one statement: its parts touch different rows, so their order
 * is nobody's concern, and each further statement would cost as much as its work.
 */
import pg from 'pg';
import type { FlightRecord } from '../domain/flight.ts';
import { CHUNK_ROWS } from './chunks.ts';
import { statement, type Placeholder } from './statement.ts';
import { HELD, type Transaction } from './transaction.ts';
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
  // The indexes of its parts. It fails where fewer messages end than were given, where the lock is not held or not in
  // the generation that was read, and where the batch before it on the same connection has not been committed, so that
  // the commit behind it, which is already on its way, commits nothing. A setting of the session is taken back with the
  // transaction that has set it: it names the last batch that was committed.
  `with flights as (${upsertFlights(after(0))}),
   events as (${insertEvents(after(8))}),
   states as (${upsertStates(after(14))}),
   touched as (${insertFlightMessages(after(19))}),
   ended as (${finishMessages(after(24))})
   select 1 / (case when count(*) = $35 and ${HELD} = $36
       and ($37::text is null or current_setting('msgx.written', true) = $37)
     then case when $38::text is null then 1 else length(set_config('msgx.written', $38, false)) end
     else 0 end) as ended from ended`,
);

/** SQLSTATE of the division by which the statement fails where what was read holds no longer. */
const DIVISION_BY_ZERO = '22012';

/** Whether a transaction that was to write a batch failed because somebody else has changed its messages or flights. */
export function wasOvertaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === DIVISION_BY_ZERO;
}

/** What a batch stands on, and what it is called by those that stand on it. */
export interface BatchFacts {
  /** When it was decided. */
  readonly at: string;
  readonly profileHash: string;
  /** Generation of pipeline_lock that its reads hold under. */
  readonly generation: bigint;
  /** Its own name, used once in the life of a connection. */
  readonly name: string;
  /** Name of the batch sent before it on the same connection, whose commit may not be answered yet; null where none is. */
  readonly behind: string | null;
}

/**
 * Writes a batch, in several statements where a set has very many rows; the last of them, or the only one, goes out
 * with the commit. Where a message is not unfinished any more, or others have changed flights since `generation` was read,
 * the transaction fails ({@link wasOvertaken}); so it does where the batch `behind` was not committed. Throws LostLease.
 *
 * @param tx holds the pump's lock, or has been asked to
 * @param between what to do between two statements
 */
export async function writeBatch(
  tx: Transaction,
  rows: BatchRows,
  facts: BatchFacts,
  between: () => Promise<void>,
): Promise<void> {
  const { flights, events, flightMessages, terminals } = rows;
  const states = inLockOrder(rows.latestStates);
  const most = Math.max(flights.length, events.length, states.length, flightMessages.length);
  for (let from = 0; from === 0 || from < most; from += CHUNK_ROWS) {
    const part = <T>(all: readonly T[]) => all.slice(from, from + CHUNK_ROWS);
    const last = from + CHUNK_ROWS >= most;
    const ending = last ? terminals : [];
    const values = [
      ...flightValues(part(flights)),
      ...eventValues(part(events), facts.at),
      ...stateValues(part(states), facts.at),
      ...flightMessageValues(part(flightMessages)),
      ...terminalValues(ending, facts.at, facts.profileHash),
      ending.length,
      facts.generation.toString(),
      last ? facts.behind : null,
      last ? facts.name : null,
    ];
    if (last) {
      tx.last(WRITE, values);
    } else {
      await tx.query(WRITE, values);
      await between();
    }
  }
}
