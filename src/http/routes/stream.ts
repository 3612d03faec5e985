/**
 * /api/v1/stream: server-sent events behind the console. One reader serves all listeners: the status each
 * second, flights and events as they change. A listener that does not keep up is cut off, never buffered.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Log } from '../../runtime/log.ts';
import { messageOf } from '../../runtime/outage.ts';
import { selectEventsAfter, selectFlightsChangedSince } from '../../store/browse.ts';
import type { Database } from '../../store/database.ts';
import { databaseNow } from '../../store/lease.ts';
import { toMillis, toTimestamp } from '../../store/time.ts';
import type { StatusReader } from '../../service/status.ts';
import type { Access } from '../access.ts';
import { eventJson, flightJson } from './browse.ts';

const EVERY_MS = 1_000;
const MOST_LISTENERS = 50;
/** Bytes a listener may leave unread before it is cut off. */
const MOST_UNREAD = 4 * 1024 * 1024;
const MOST_ROWS = 300;

export interface StreamOptions {
  readonly access: Access;
  readonly database: Database;
  readonly status: StatusReader;
  readonly log: Log;
}

/** Registers the route; its timer runs only while somebody listens and ends with the server. */
export function registerStream(app: FastifyInstance, options: StreamOptions): void {
  const listeners = new Set<FastifyReply>();
  let timer: NodeJS.Timeout | null = null;
  let place = { flights: '', event: -1n };
  let busy = false;

  function tell(event: string, data: unknown): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const reply of listeners) {
      if (reply.raw.writableLength > MOST_UNREAD) reply.raw.destroy();
      else reply.raw.write(text);
    }
  }

  async function round(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      tell('status', await options.status.read());
      const flights = await selectFlightsChangedSince(options.database, place.flights, MOST_ROWS);
      const last = flights.at(-1);
      if (last !== undefined) {
        // Times are whole rows' times: the next round starts just after the newest one seen.
        place = { ...place, flights: toTimestamp(toMillis(last.updatedAt) + 1) };
        tell('flights', { flights: flights.map(flightJson) });
      }
      const events = await selectEventsAfter(options.database, place.event, MOST_ROWS);
      const newest = events[0];
      if (newest !== undefined) {
        place = { ...place, event: newest.eventId };
        tell('events', { events: events.map(eventJson) });
      }
    } catch (error) {
      tell('trouble', { error: messageOf(error) });
    } finally {
      busy = false;
    }
  }

  app.get('/api/v1/stream', { onRequest: options.access.require('viewer') }, async (request, reply) => {
    if (listeners.size >= MOST_LISTENERS) return reply.code(503).send({ error: 'too many listeners' });
    if (listeners.size === 0) {
      const [newest] = await selectEventsAfter(options.database, -1n, 1);
      place = { flights: toTimestamp(await databaseNow(options.database)), event: newest?.eventId ?? -1n };
    }
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    reply.raw.write('retry: 1000\n\n');
    listeners.add(reply);
    timer ??= setInterval(() => void round(), EVERY_MS);
    request.raw.on('close', () => {
      listeners.delete(reply);
      if (listeners.size === 0 && timer !== null) {
        clearInterval(timer);
        timer = null;
      }
    });
    await round();
    return reply;
  });

  app.addHook('preClose', async () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    for (const reply of listeners) reply.raw.end();
  });
}
