/** Connects the page with msgx: reads once, follows the stream, reads again after each reconnection. */
import {
  createContext,
  use,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import { openLive } from '../api/live.ts';
import { fetchEvents, fetchFlightPage, fetchFlights, fetchStatus, type FlightDay } from '../api/requests.ts';
import type { Connection, EventRow, FlightRow, Status } from '../api/types.ts';
import {
  createLiveState,
  EVENTS_KEPT,
  takeDay,
  takeEvents,
  takeFlights,
  takePart,
  takeStatus,
} from '../model/live-state.ts';
import type { FlightsState, LiveState, StatusState } from '../model/live-state.ts';
import type { Store } from '../model/store.ts';
import { useSession } from './session.tsx';

interface Live {
  readonly state: LiveState;
  /** Shows another operation day; null: the one that msgx chooses. */
  readonly showDay: (day: string | null) => void;
  /**
   * Reads the first flights at once, all of the day as soon as the stream is open or lost, and again after each
   * reconnection, until the returned function is called.
   */
  readonly watchFlights: () => () => void;
}

const Context = createContext<Live | null>(null);

export function LiveProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [state] = useState(createLiveState);
  const { check } = useSession();

  const live = useMemo(() => {
    let reader: AbortController | null = null;
    let watchers = 0;
    const showDay = (day: string | null): void => {
      reader?.abort();
      const controller = new AbortController();
      reader = controller;
      state.flights.update((flights) => ({ ...flights, loading: true }));
      const takeNow = (part: FlightDay): void => state.flights.update((flights) => takePart(flights, part));
      fetchFlights(day, controller.signal, takeNow).then(
        (answer) => state.flights.update((flights) => takeDay(flights, answer)),
        (error: unknown) => {
          if (controller.signal.aborted) return;
          state.flights.update((flights) => ({ ...flights, loading: false, error: String(error) }));
        },
      );
    };
    let first = Promise.resolve();
    const showFirst = (): void => {
      const controller = new AbortController();
      reader = controller;
      first = fetchFlightPage(null, null, controller.signal).then(
        (part) => {
          state.flights.update((flights) => takePart(flights, part));
          return painted();
        },
        // The whole day says what is wrong, if it still is.
        () => undefined,
      );
    };
    const watchFlights = (): (() => void) => {
      watchers += 1;
      // What changes while the stream is being opened would be missed: the whole day is read when it is open.
      if (state.connection.get().state !== 'connecting') showDay(state.flights.get().day);
      else if (state.flights.get().day === null) showFirst();
      return () => {
        watchers -= 1;
        if (watchers === 0) reader?.abort();
      };
    };
    // A day of flights is long: it is read only where it is on show.
    const readDay = (): void => {
      // What is on its way comes first: beside a whole day of megabytes it would be seen later.
      void first.then(() => {
        if (watchers > 0) showDay(state.flights.get().day);
      });
    };
    const readAgain = (signal: AbortSignal): void => {
      readDay();
      fetchEvents(EVENTS_KEPT, signal).then(
        (events) => state.events.update((known) => takeEvents(known, journalled(events))),
        // The stream brings events too, and its state is on show.
        () => undefined,
      );
    };
    return { state, showDay, watchFlights, readDay, readAgain };
  }, [state]);

  useLayoutEffect(() => {
    const readers = new AbortController();
    const takeNow = (status: Status): void =>
      state.status.update((known) => takeStatus(known, status, Date.now()));
    fetchStatus(readers.signal).then(takeNow, () => undefined);
    const close = openLive({
      onConnection: (connection) => {
        if (connection.state === 'lost' && state.connection.get().state === 'connecting') live.readDay();
        state.connection.set(connection);
        // A stream does not tell why it was refused: perhaps the session has ended.
        if (connection.state === 'lost') check();
      },
      onOpen: () => live.readAgain(readers.signal),
      onStatus: takeNow,
      onFlights: (rows) => state.flights.update((flights) => takeFlights(flights, rows, Date.now())),
      onEvents: (events) => {
        for (const store of [state.events, state.news]) {
          store.update((known) => takeEvents(known, journalled(events)));
        }
      },
    });
    return () => {
      readers.abort();
      close();
    };
  }, [live, state, check]);

  return <Context value={live}>{children}</Context>;
}

/** Once what was changed just now is to be seen; in a tab that is not on show a moment later. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve, 0));
    setTimeout(resolve, 250);
  });
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
export const useNews = (): readonly EventRow[] => useStore(useLive().state.news);

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
