/** Reading API behind the console: status, flights, events and the live stream (contract, "/api/v1/…"). */
import type { FastifyInstance } from 'fastify';
import type { Dialect } from '../../dialect/port.ts';
import { codesOf, namesOf, type Names } from '../../domain/names.ts';
import { publishedFlight } from '../../domain/event.ts';
import type { Stamps } from '../../domain/flight.ts';
import { lineage } from '../../domain/stamps.ts';
import type { Config } from '../../config/schema.ts';
import {
  selectDays,
  selectFlight,
  selectFlightHistory,
  selectFlightsOfDay,
  selectNewestEvents,
  selectTerminalTimes,
  type EventRow,
  type FlightRow,
} from '../../store/browse.ts';
import type { Database } from '../../store/database.ts';
import { selectRecords } from '../../store/reference-names.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../../store/time.ts';
import type { StatusReader } from '../../service/status.ts';
import { seesEverything, type Access } from '../access.ts';
import { FLIGHT_COLUMNS, ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  anything,
  count,
  day,
  flag,
  id,
  list,
  nullable,
  object,
  page,
  record,
  text,
  time,
  upTo,
} from '../openapi/shapes.ts';
import { STATUS } from '../openapi/status.ts';
import { isText, limitOf } from '../query.ts';

export interface BrowseOptions {
  readonly access: Access;
  readonly config: Config;
  readonly dialect: Dialect;
  readonly database: Database;
  readonly status: StatusReader;
}

const FLIGHT = object({
  ...FLIGHT_COLUMNS,
  archived: flag,
  names: about(record(record(text)), 'Names of its codes, by type and code.'),
  namedFields: about(record(text), 'Types of reference data, by field.'),
  stamps: about(record(anything), 'The message that set each field, as it is stored.'),
  lineage: about(
    record(object({ msgId: id, at: nullable(time) })),
    'The message that set each field, and when it ended.',
  ),
  messages: list(
    object({
      ...{ msgId: id, type: nullable(text), styp: nullable(text), state: nullable(text) },
      ...{ reason: nullable(text), stateVersion: nullable(count), changed: list(text) },
      ...{ superseded: list(text), terminalAt: nullable(time), late: flag, replayed: flag },
    }),
  ),
});

/** Registers the routes. */
export function registerBrowse(app: FastifyInstance, options: BrowseOptions): void {
  const { access, database } = options;

  const status = described(access, {
    name: 'getStatus',
    summary: 'How the pipeline stands.',
    roles: ['viewer'],
    answers: { 200: json(STATUS) },
  });
  app.get('/api/v1/status', status, async () => options.status.read());

  app.get<{ Querystring: { day?: string; after?: string; limit?: string } }>(
    '/api/v1/flights',
    described(access, {
      name: 'listFlights',
      summary: 'Flights of an operation day, by scheduled time.',
      roles: ['viewer'],
      query: {
        day: about(day, "The airport's today, or the nearest day that has flights, where none is given."),
        ...{ after, limit: upTo(2_000, 500) },
      },
      answers: {
        200: json(page('flights', ref('ListedFlight'), { day, days: list(object({ day, flights: count })) })),
        400: json(ref('Error')),
      },
    }),
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
        flights: rows.map((row) => flightJson(row, seesEverything(request))),
        next: rows.length === limit && last !== undefined ? cursorText(scheduledTime(last), last.flid) : null,
      };
    },
  );

  const flight = described(access, {
    name: 'getFlight',
    summary: 'One flight, where its fields come from, and the messages that touched it, newest first.',
    roles: ['viewer'],
    params: { flid: text },
    answers: { 200: json(FLIGHT) },
  });
  app.get<{ Params: { flid: string } }>('/api/v1/flights/:flid', flight, async (request, reply) => {
    const { flid } = request.params;
    const row = isText(flid) ? await selectFlight(database, flid) : null;
    if (row === null) return reply.code(404).send({ error: `no flight ${flid}` });
    const messages = await selectFlightHistory(database, row.flid, 200);
    const setBy = lineage(row.stamps as unknown as Stamps);
    const setAt = await selectTerminalTimes(database, [...new Set(setBy.values())]);
    return {
      ...flightJson(row, seesEverything(request)),
      archived: row.archived,
      names: await namesIn(database, options.dialect, row),
      namedFields: options.dialect.names?.fields ?? {},
      stamps: row.stamps,
      lineage: Object.fromEntries(
        [...setBy].map(([field, msgId]) => {
          const at = toMillisOrNull(setAt.get(msgId) ?? null);
          return [field, { msgId, at: at === null ? null : toTimestamp(at) }];
        }),
      ),
      messages: messages.map(({ terminalAt, ...message }) => ({
        ...message,
        msgId: message.msgId.toString(),
        terminalAt: terminalAt === null ? null : toTimestamp(toMillis(terminalAt)),
      })),
    };
  });

  const events = described(access, {
    name: 'listEvents',
    summary: 'The newest events of KAFKA:msg, newest first.',
    roles: ['viewer'],
    query: { limit: upTo(500, 50) },
    answers: { 200: json(object({ events: list(ref('Event')) })) },
  });
  app.get<{ Querystring: { limit?: string } }>('/api/v1/events', events, async (request) => {
    const rows = await selectNewestEvents(database, limitOf(request.query.limit, 50, 500));
    return { events: rows.map(eventJson) };
  });
}

/** Names of the codes in a flight, whether or not events carry them. */
async function namesIn(database: Database, { names: rules }: Dialect, { state }: FlightRow): Promise<Names> {
  if (rules === undefined) return {};
  return namesOf(state, rules, await selectRecords(database, codesOf(state, rules)));
}

/** A flight as the API gives it. @param persons whether VIP persons may be named: to operators only */
export function flightJson(row: FlightRow, persons: boolean): object {
  const { flid, version, operationDay, deleted, updatedAt, lastMsgId, state } = row;
  return {
    flid,
    version,
    operationDay,
    deleted,
    updatedAt: toTimestamp(toMillis(updatedAt)),
    lastMsgId: lastMsgId.toString(),
    flight: publishedFlight(state, { vipPersons: persons }),
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
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function scheduledTime({ state }: FlightRow): string {
  const time = state['scheduledTime'];
  return typeof time === 'string' ? time : '';
}

/** A place in an order by a text, then FLID, as a cursor. */
export function cursorText(time: string, flid: string): string {
  return Buffer.from(JSON.stringify([time, flid])).toString('base64url');
}

/** The place that a cursor names; the beginning where it names none. */
export function cursorOf(text: string | undefined): { time: string; flid: string } {
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
