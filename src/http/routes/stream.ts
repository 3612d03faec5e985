/**
 * /api/v1/stream: server-sent events behind the console. One reader serves all listeners: the status each
 * second, flights and events as they change. A listener that does not keep up is cut off, never buffered.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../runtime/log.ts';
import { messageOf } from '../../runtime/outage.ts';
import {
  selectEventsAfter,
  selectFlightsByFlid,
  selectNewestEvents,
  selectSettledEvents,
} from '../../store/browse.ts';
import type { Database } from '../../store/database.ts';
import type { StatusReader } from '../../service/status.ts';
import { seesEverything, type Access } from '../access.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, text } from '../openapi/shapes.ts';
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
  const { database } = options;
  const listeners = new Map<FastifyReply, FastifyRequest>();
  let timer: NodeJS.Timeout | null = null;
  /** The newest event told. */
  let place = -1n;
  /** Events told while they were pending: told again when they are not. */
  const pending = new Set<bigint>();
  let busy = false;

  /** @param guarded in its place for those who may not see everything */
  function tell(event: string, data: unknown, guarded = data): void {
    const textOf = (what: unknown) => `event: ${event}\ndata: ${JSON.stringify(what)}\n\n`;
    const text = textOf(data);
    const guardedText = guarded === data ? text : textOf(guarded);
    for (const [reply, request] of listeners) {
      if (reply.raw.writableLength > MOST_UNREAD) reply.raw.destroy();
      else reply.raw.write(seesEverything(request) ? text : guardedText);
    }
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  async function round(): Promise<void> {
    if (busy) return;
    busy = true;
    try {
      // A token that was revoked, or a session that was closed, ends its streams too.
      for (const [reply, request] of listeners) {
        if (!(await options.access.stillKnows(request))) reply.raw.end();
      }
      tell('status', await options.status.read());
      const events = await selectEventsAfter(database, place, MOST_ROWS);
      place = events.at(-1)?.eventId ?? place;
      const settled = await selectSettledEvents(database, [...pending]);
      for (const { eventId } of settled) pending.delete(eventId);
      for (const { eventId, state } of events) {
        if (state === 'PENDING' && pending.size < MOST_ROWS) pending.add(eventId);
      }
      // Every visible change of a flight has an event: the flights are those of the new events.
      const flights = await selectFlightsByFlid(database, [...new Set(events.map(({ flid }) => flid))]);
      if (flights.length > 0) {
        const shown = (persons: boolean) => ({ flights: flights.map((row) => flightJson(row, persons)) });
        tell('flights', shown(true), shown(false));
      }
      const told = [...events, ...settled];
      if (told.length > 0) tell('events', { events: told.map(eventJson) });
    } catch (error) {
      tell('trouble', { error: messageOf(error) });
    } finally {
      busy = false;
    }
  }

  const stream = described(options.access, {
    name: 'stream',
    summary: 'Server-sent events: "status" each second, "flights" and "events" as they change, "trouble".',
    roles: ['viewer'],
    answers: {
      200: { 'text/event-stream': about(text, 'Events of the HTML standard.') },
      503: json(ref('Error')),
    },
    endless: true,
  });
  app.get('/api/v1/stream', stream, async (request, reply) => {
    if (listeners.size >= MOST_LISTENERS) return reply.code(503).send({ error: 'too many listeners' });
    if (listeners.size === 0) {
      place = (await selectNewestEvents(database, 1))[0]?.eventId ?? -1n;
      pending.clear();
    }
    reply.hijack();
    reply.raw.writeHead(200, {
      ...(reply.getHeaders() as Readonly<Record<string, string>>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    reply.raw.write('retry: 1000\n\n');
    listeners.set(reply, request);
    timer ??= setInterval(() => void round(), EVERY_MS);
    // The connection's end; a request of its own is closed when it has been read.
    reply.raw.on('close', () => {
      listeners.delete(reply);
      if (listeners.size === 0) stop();
    });
    await round();
    return reply;
  });

  app.addHook('preClose', async () => {
    stop();
    const open = [...listeners.keys()];
    // First out of the list: a round under way must not write behind the end.
    listeners.clear();
    for (const reply of open) reply.raw.end();
  });
}
