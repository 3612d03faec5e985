/** Reading API behind the console: status, flights, events and the live stream (contract, "/api/v1/…"). */
import type { FastifyInstance } from 'fastify';
import type { Dialect } from '../../dialect/port.ts';
import { codesOf, namesOf, type Names } from '../../domain/names.ts';
import { canonicalise } from '../../domain/state.ts';
import type { Config } from '../../config/schema.ts';
import {
  selectDays,
  selectFlight,
  selectFlightHistory,
  selectFlightsOfDay,
  selectNewestEvents,
  type EventRow,
  type FlightRow,
} from '../../store/browse.ts';
import type { Database } from '../../store/database.ts';
import { selectRecords } from '../../store/reference-names.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../../store/time.ts';
import type { StatusReader } from '../../service/status.ts';
import type { Access } from '../access.ts';
import { isText, limitOf } from '../query.ts';

export interface BrowseOptions {
  readonly access: Access;
  readonly config: Config;
  readonly dialect: Dialect;
  readonly database: Database;
  readonly status: StatusReader;
}

/** Registers the routes. */
export function registerBrowse(app: FastifyInstance, options: BrowseOptions): void {
  const { database } = options;
  const onRequest = options.access.require('viewer');

  app.get('/api/v1/status', { onRequest }, async () => options.status.read());

  app.get<{ Querystring: { day?: string; after?: string; limit?: string } }>(
    '/api/v1/flights',
    { onRequest },
    async (request, reply) => {
      const limit = limitOf(request.query.limit, 500, 2_000);
      const days = await selectDays(database);
      const day = request.query.day ?? defaultDay(days, options.config.timeZone);
      if (!isDay(day)) return reply.code(400).send({ error: 'day must be YYYY-MM-DD' });
      const after = cursorOf(request.query.after);
      const rows = await selectFlightsOfDay(database, day, after, limit);
      const last = rows.at(-1);
      return {
        day,
        days,
        flights: rows.map(flightJson),
        next: rows.length === limit && last !== undefined ? cursorText(last) : null,
      };
    },
  );

  app.get<{ Params: { flid: string } }>('/api/v1/flights/:flid', { onRequest }, async (request, reply) => {
    const { flid } = request.params;
    const row = isText(flid) ? await selectFlight(database, flid) : null;
    if (row === null) return reply.code(404).send({ error: `no flight ${flid}` });
    const messages = await selectFlightHistory(database, row.flid, 200);
    return {
      ...flightJson(row),
      archived: row.archived,
      names: await namesIn(database, options.dialect, row),
      namedFields: options.dialect.names?.fields ?? {},
      stamps: row.stamps,
      messages: messages.map((message) => ({ ...message, msgId: message.msgId.toString() })),
    };
  });

  app.get<{ Querystring: { limit?: string } }>('/api/v1/events', { onRequest }, async (request) => {
    const rows = await selectNewestEvents(database, limitOf(request.query.limit, 50, 500));
    return { events: rows.map(eventJson) };
  });
}

/** Names of the codes in a flight, whether or not events carry them. */
async function namesIn(database: Database, { names: rules }: Dialect, { state }: FlightRow): Promise<Names> {
  if (rules === undefined) return {};
  return namesOf(state, rules, await selectRecords(database, codesOf(state, rules)));
}

/** A flight as the API gives it. */
export function flightJson(row: FlightRow): object {
  const { flid, version, operationDay, deleted, updatedAt, lastMsgId, state } = row;
  return {
    flid,
    version,
    operationDay,
    deleted,
    updatedAt: toTimestamp(toMillis(updatedAt)),
    lastMsgId: lastMsgId.toString(),
    flight: canonicalise(state),
  };
}

/** An event as the API gives it. */
export function eventJson(row: EventRow): object {
  const sentAt = toMillisOrNull(row.sentAt);
  return {
    ...row,
    eventId: row.eventId.toString(),
    msgId: row.msgId?.toString() ?? null,
    createdAt: toTimestamp(toMillis(row.createdAt)),
    sentAt: sentAt === null ? null : toTimestamp(sentAt),
    changed: row.changed ?? [],
  };
}

/** The airport's today where it has flights, else the first day after it that has, else the last before. */
function defaultDay(days: readonly { readonly day: string }[], timeZone: string): string {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(new Date());
  return (days.find(({ day }) => day >= today) ?? days.at(-1))?.day ?? today;
}

/** A day of the calendar. A query string may hold anything, also a key twice. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function cursorText(row: FlightRow): string {
  const time = row.state['scheduledTime'];
  return Buffer.from(JSON.stringify([typeof time === 'string' ? time : '', row.flid])).toString('base64url');
}

function cursorOf(text: string | undefined): { time: string; flid: string } {
  if (text === undefined) return { time: '', flid: '' };
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (Array.isArray(parsed) && isText(parsed[0]) && isText(parsed[1])) {
      return { time: parsed[0], flid: parsed[1] };
    }
  } catch {
    // An unreadable cursor starts from the beginning, like none.
  }
  return { time: '', flid: '' };
}
