/** What the page knows, in four stores that change at different paces, and how news changes them. Pure. */
import type { FlightDay } from '../api/requests.ts';
import type { Connection, DayCount, EventRow, FlightRow, StationName, Status } from '../api/types.ts';
import { createStore, type Store } from './store.ts';

/** Samples a sparkline shows: one a second, two minutes. */
export const HISTORY_LENGTH = 120;
/** Events the page keeps. */
export const EVENTS_KEPT = 100;

export interface StatusState {
  readonly status: Status | null;
  /** Browser's clock minus msgx's clock in ms, so that countdowns are right on a machine whose clock is not. */
  readonly clockOffset: number;
  /** Per station the rate per minute, oldest first. */
  readonly history: Readonly<Partial<Record<StationName, readonly number[]>>>;
}

/** `at`: browser's clock, ms; `before`: what the row was, null for a new one. */
export interface RowChange {
  readonly at: number;
  readonly before: FlightRow | null;
}

export interface FlightsState {
  readonly day: string | null;
  readonly days: readonly DayCount[];
  readonly flights: ReadonlyMap<string, FlightRow>;
  /** Flights that changed under the reader's eyes. */
  readonly changes: ReadonlyMap<string, RowChange>;
  readonly loading: boolean;
  /** Whether all flights of the day are here, and not only the first ones. */
  readonly complete: boolean;
  readonly error: string | null;
}

export interface LiveState {
  readonly connection: Store<Connection>;
  readonly status: Store<StatusState>;
  readonly flights: Store<FlightsState>;
  readonly events: Store<readonly EventRow[]>;
  /** Those of them that came with the stream, and not with what the page began with. */
  readonly news: Store<readonly EventRow[]>;
}

export function createLiveState(): LiveState {
  return {
    connection: createStore<Connection>({ state: 'connecting' }),
    status: createStore<StatusState>({ status: null, clockOffset: 0, history: {} }),
    flights: createStore<FlightsState>({
      day: null,
      days: [],
      flights: new Map(),
      changes: new Map(),
      loading: true,
      complete: false,
      error: null,
    }),
    events: createStore<readonly EventRow[]>([]),
    news: createStore<readonly EventRow[]>([]),
  };
}

/** Takes a status; `at` is the browser's clock in ms. */
export function takeStatus(state: StatusState, status: Status, at: number): StatusState {
  const history: Partial<Record<StationName, readonly number[]>> = {};
  for (const station of status.stations) {
    history[station.name] = [...(state.history[station.name] ?? []), station.perMinute].slice(
      -HISTORY_LENGTH,
    );
  }
  return { status, clockOffset: at - Date.parse(status.now), history };
}

/**
 * Takes flights of any day that changed. Those of the day on show replace older versions; the others only
 * let their day appear in the list of days.
 */
export function takeFlights(state: FlightsState, rows: readonly FlightRow[], at: number): FlightsState {
  const flights = new Map(state.flights);
  const changes = new Map(state.changes);
  const days = new Map(state.days.map((entry) => [entry.day, entry.flights]));
  for (const row of rows) {
    if (!days.has(row.operationDay)) days.set(row.operationDay, 1);
    else if (row.operationDay === state.day && !flights.has(row.flid)) {
      days.set(row.operationDay, flights.size + 1);
    }
    if (row.operationDay !== state.day) continue;
    const known = flights.get(row.flid);
    if (known !== undefined && known.version >= row.version) continue;
    flights.set(row.flid, row);
    changes.set(row.flid, { at, before: known ?? null });
  }
  return {
    ...state,
    flights,
    changes,
    days: [...days]
      .map(([day, count]) => ({ day, flights: count }))
      .sort((left, right) => (left.day < right.day ? -1 : 1)),
  };
}

/** Takes a day that was read as a whole; what the stream brought meanwhile and is newer stays. */
export function takeDay(state: FlightsState, read: FlightDay): FlightsState {
  const flights = new Map(read.flights.map((row) => [row.flid, row]));
  if (read.day === state.day) {
    for (const row of state.flights.values()) {
      const fresh = flights.get(row.flid);
      if (fresh !== undefined && fresh.version < row.version) flights.set(row.flid, row);
    }
  }
  const changes = read.day === state.day ? state.changes : new Map<string, RowChange>();
  return { day: read.day, days: read.days, flights, changes, loading: false, complete: true, error: null };
}

/** Takes what has been read of a day so far: at once where nothing of it is on show, else when it is complete. */
export function takePart(state: FlightsState, read: FlightDay): FlightsState {
  if (state.day === read.day && state.complete) return state;
  return { ...takeDay(state, read), loading: true, complete: false };
}

/** Takes new or changed events, in any order: newest first, each once, the later state of an event wins. */
export function takeEvents(known: readonly EventRow[], news: readonly EventRow[]): readonly EventRow[] {
  const byId = new Map(known.map((event) => [event.eventId, event]));
  for (const event of news) byId.set(event.eventId, event);
  return [...byId.values()]
    .sort((left, right) => compareIds(right.eventId, left.eventId))
    .slice(0, EVENTS_KEPT);
}

/** Orders decimal texts as numbers: IDs are 64-bit and never become a JavaScript number. */
export function compareIds(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
