/**
 * The live stream. The browser reconnects by itself only after some failures, and never notices a
 * connection that has gone silent; so the connection is watched here: msgx sends a status each second, and
 * five seconds of silence count as lost.
 */
import type { Connection, EventRow, FlightRow, Status } from './types.ts';

export interface LiveHandlers {
  readonly onConnection: (connection: Connection) => void;
  /** A connection is up; what happened while there was none has to be read again. */
  readonly onOpen: () => void;
  readonly onStatus: (status: Status) => void;
  readonly onFlights: (flights: readonly FlightRow[]) => void;
  readonly onEvents: (events: readonly EventRow[]) => void;
}

const SILENCE_MS = 5_000;
const BACKOFF_MS = [1_000, 2_000, 5_000, 10_000];

/** Opens the stream and keeps it open; the returned function ends it. */
export function openLive(handlers: LiveHandlers): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let heardAt = Date.now();

  const listen = (): void => {
    clearTimeout(timer);
    timer = setTimeout(lose, SILENCE_MS);
  };

  const on = <Data>(stream: EventSource, name: string, take: (data: Data) => void): void => {
    stream.addEventListener(name, (event: MessageEvent<string>) => {
      heardAt = Date.now();
      failures = 0;
      listen();
      take(JSON.parse(event.data) as Data);
    });
  };

  function connect(): void {
    const stream = new EventSource('api/v1/stream');
    source = stream;
    stream.onopen = () => {
      handlers.onConnection({ state: 'live' });
      handlers.onOpen();
      listen();
    };
    stream.onerror = lose;
    on<Status>(stream, 'status', handlers.onStatus);
    on<{ flights: readonly FlightRow[] }>(stream, 'flights', (data) => handlers.onFlights(data.flights));
    on<{ events: readonly EventRow[] }>(stream, 'events', (data) => handlers.onEvents(data.events));
    listen();
  }

  function lose(): void {
    source?.close();
    const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 10_000;
    failures += 1;
    handlers.onConnection({ state: 'lost', since: heardAt, retryAt: Date.now() + wait });
    clearTimeout(timer);
    timer = setTimeout(connect, wait);
  }

  connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
