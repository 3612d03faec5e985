/** Connects the page with msgx: reads once, follows the stream, reads again after each reconnection. */
import {
  createContext,
  use,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import { openLive } from '../api/live.ts';
import { fetchEvents, fetchFlights, fetchStatus } from '../api/requests.ts';
import type { Connection, EventRow, FlightRow, Status } from '../api/types.ts';
import {
  createLiveState,
  EVENTS_KEPT,
  takeDay,
  takeEvents,
  takeFlights,
  takeStatus,
} from '../model/live-state.ts';
import type { FlightsState, LiveState, StatusState } from '../model/live-state.ts';
import type { Store } from '../model/store.ts';

interface Live {
  readonly state: LiveState;
  /** Shows another operation day. */
  readonly showDay: (day: string) => void;
}

const Context = createContext<Live | null>(null);

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [state] = useState(createLiveState);
  const reader = useRef<AbortController | null>(null);

  const live = useMemo(() => {
    const read = (day: string | null): void => {
      reader.current?.abort();
      const controller = new AbortController();
      reader.current = controller;
      state.flights.update((flights) => ({ ...flights, loading: true }));
      fetchFlights(day, controller.signal).then(
        (answer) => state.flights.update((flights) => takeDay(flights, answer)),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          state.flights.update((flights) => ({ ...flights, loading: false, error: String(error) }));
        },
      );
      fetchEvents(EVENTS_KEPT, controller.signal).then(
        (events) => state.events.update((known) => takeEvents(known, journalled(events))),
        // The stream brings events too, and its state is on show.
        () => undefined,
      );
    };
    return { state, read, showDay: (day: string) => read(day) };
  }, [state]);

  useEffect(() => {
    const first = new AbortController();
    const takeNow = (status: Status): void =>
      state.status.update((known) => takeStatus(known, status, Date.now()));
    fetchStatus(first.signal).then(takeNow, () => undefined);
    const close = openLive({
      onConnection: (connection) => state.connection.set(connection),
      onOpen: () => live.read(state.flights.get().day),
      onStatus: takeNow,
      onFlights: (rows) => state.flights.update((flights) => takeFlights(flights, rows, Date.now())),
      onEvents: (events) => state.events.update((known) => takeEvents(known, journalled(events))),
    });
    return () => {
      first.abort();
      reader.current?.abort();
      close();
    };
  }, [live, state]);

  return <Context value={live}>{children}</Context>;
}

/** The list shows what happened to flights; events of the schedule target repeat the same changes. */
const journalled = (events: readonly EventRow[]): readonly EventRow[] =>
  events.filter((event) => event.target === 'KAFKA:msg');

export function useLive(): Live {
  const live = use(Context);
  if (live === null) throw new Error('useLive outside of LiveProvider');
  return live;
}

function useStore<State>(store: Store<State>): State {
  return useSyncExternalStore(store.subscribe, store.get);
}

export const useConnection = (): Connection => useStore(useLive().state.connection);
export const useStatus = (): StatusState => useStore(useLive().state.status);
export const useFlights = (): FlightsState => useStore(useLive().state.flights);
export const useEvents = (): readonly EventRow[] => useStore(useLive().state.events);

/** One flight of the day on show, as it is now. */
export function useFlight(flid: string | null): FlightRow | null {
  const { flights } = useFlights();
  return flid === null ? null : (flights.get(flid) ?? null);
}

/** msgx's clock in ms, moving each second. */
export function useClock(): number {
  const { clockOffset } = useStatus();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now - clockOffset;
}
