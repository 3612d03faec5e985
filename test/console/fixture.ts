/** A stand-in for msgx that serves the built console, invented data and a stream, for tests and for designing. */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../src/domain/json.ts';
import type { EventRow, FlightRow, Status } from '../../src/console/api/types.ts';
import { airportDate, airportTime, fixtureEvent, fixtureFlight } from './fixture-day.ts';
import { FIXTURE_NAMES, fixtureRow, fixtureRows, fixtureTypes } from './fixture-reference.ts';
import { FixtureRequests } from './fixture-requests.ts';
import { calmStatus } from './fixture-status.ts';

/** Where `npm run console:build` puts the page. */
export const CONSOLE_ROOT = fileURLToPath(new URL('../../dist/console', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Fixture {
  readonly url: string;
  readonly flights: ReadonlyMap<string, FlightRow>;
  /** Answers and streams this from now on; called for each status with the present moment. */
  setStatus(make: (now: number) => Status): void;
  /** Changes fields of a flight as a message would: next version, event, both streamed. */
  changeFlight(flid: string, fields: Readonly<Record<string, Json>>): void;
  readonly requests: FixtureRequests;
  /** Cuts every stream; `refuse` lets none be opened again until it is called with false. */
  cut(refuse: boolean): void;
  close(): Promise<void>;
}

/** Starts it on a free port of the loopback, or on the given one. */
export async function startFixture({ port = 0, count = 1200 } = {}): Promise<Fixture> {
  const requests = new FixtureRequests();
  let makeStatus: (now: number) => Status = (now) => {
    const calm = calmStatus(now);
    return { ...calm, requests: { ...calm.requests, byState: requests.counts() } };
  };
  let refused = false;
  let nextEvent = 50_000;
  const flights = new Map<string, FlightRow>();
  for (let index = 0; index < count; index += 1) {
    const row = fixtureFlight(index, count, Date.now());
    flights.set(row.flid, row);
  }
  const events: EventRow[] = [...flights.values()]
    .slice(0, 30)
    .map((row, index) => fixtureEvent(nextEvent - 100 + index, row, ['estimatedTime', 'gates'], Date.now()));
  const streams = new Set<ServerResponse>();
  const send = (stream: ServerResponse, name: string, data: unknown): void => {
    stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const broadcast = (name: string, data: unknown): void => {
    for (const stream of streams) send(stream, name, data);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fixture');
    const json = (data: unknown): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(data));
    };
    switch (url.pathname) {
      case '/api/v1/session':
        json({ name: null, role: 'operator', signIn: false });
        return;
      case '/api/v1/status':
        json(makeStatus(Date.now()));
        return;
      case '/api/v1/flights':
        json(page(flights, url.searchParams));
        return;
      case '/api/v1/events':
        json({ events: events.toReversed().slice(0, Number(url.searchParams.get('limit') ?? 50)) });
        return;
      case '/api/v1/requests':
        json(requests.page(url.searchParams));
        return;
      case '/api/v1/search/flights': {
        const q = (url.searchParams.get('q') ?? '').toUpperCase();
        const found = [...flights.values()].filter(
          ({ flid, flight: { flightNumber: number } }) =>
            flid === q || (typeof number === 'string' && number.startsWith(q)),
        );
        json({ flights: found.map((row) => ({ ...row, archived: false })), next: null });
        return;
      }
      case '/api/v1/reference':
        json({ types: fixtureTypes() });
        return;
      case '/api/v1/reference/STTS':
        json(fixtureRows(url.searchParams));
        return;
      case '/api/v1/reference/STTS/BRD%2F1':
        json(fixtureRow());
        return;
      case '/api/v1/stream':
        if (refused) {
          response.writeHead(503).end();
          return;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
        streams.add(response);
        response.on('close', () => streams.delete(response));
        send(response, 'status', makeStatus(Date.now()));
        return;
      default:
        if (url.pathname.startsWith('/api/v1/flights/')) {
          const [flid = '', part] = url.pathname.slice('/api/v1/flights/'.length).split('/');
          const row = flights.get(flid);
          if (row === undefined) response.writeHead(404).end('{"error":"no such flight"}');
          else if (part === 'versions') json({ versions: [], next: null });
          else json({ ...row, archived: false, ...FIXTURE_NAMES, lineage: {}, messages: [] });
          return;
        }
        void serveFile(url.pathname, response);
    }
  });
  const heartbeat = setInterval(() => broadcast('status', makeStatus(Date.now())), 1000);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    flights,
    requests,
    setStatus(make) {
      makeStatus = make;
      broadcast('status', make(Date.now()));
    },
    changeFlight(flid, fields) {
      const row = flights.get(flid);
      if (row === undefined) throw new Error(`the fixture has no flight ${flid}`);
      const changed: FlightRow = {
        ...row,
        version: row.version + 1,
        updatedAt: airportTime(Date.now()),
        lastMsgId: String(Number(row.lastMsgId) + 1),
        flight: { ...row.flight, ...fields },
      };
      flights.set(flid, changed);
      const event = fixtureEvent((nextEvent += 1), changed, Object.keys(fields), Date.now());
      events.push(event);
      broadcast('flights', { flights: [changed] });
      broadcast('events', { events: [event] });
    },
    cut(refuse) {
      refused = refuse;
      for (const stream of streams) stream.destroy();
    },
    async close() {
      clearInterval(heartbeat);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A page of the flights of a day, cursors being positions. */
function page(flights: ReadonlyMap<string, FlightRow>, query: URLSearchParams): unknown {
  const today = airportDate(Date.now());
  const tomorrow = airportDate(Date.now() + 86_400_000);
  const day = query.get('day') ?? today;
  const after = Number(query.get('after') ?? 0);
  const limit = Number(query.get('limit') ?? 500);
  const ofDay = [...flights.values()].filter(({ operationDay }) => operationDay === day);
  return {
    day,
    days: [
      { day: today, flights: flights.size },
      { day: tomorrow, flights: 0 },
    ],
    flights: ofDay.slice(after, after + limit),
    next: after + limit < ofDay.length ? String(after + limit) : null,
  };
}

async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const file = join(CONSOLE_ROOT, normalize(path === '/' ? '/index.html' : path));
  try {
    const body = await readFile(file);
    // The policy msgx answers with, so that a page that needs more fails here already.
    response
      .writeHead(200, {
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'content-security-policy': "default-src 'self'",
      })
      .end(body);
  } catch {
    response.writeHead(404).end();
  }
}
