/** Reading API for flights: search over all days, and the versions of one with what changed between them. */
import type { FastifyInstance } from 'fastify';
import { MAX_ID } from '../../domain/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { searchFlights, selectVersions, type VersionRow } from '../../store/browse-flights.ts';
import type { Database } from '../../store/database.ts';
import { seesEverything, type Access } from '../access.ts';
import { idOf } from '../change.ts';
import { EVENT_COLUMNS, FLIGHT_COLUMNS, ref } from '../openapi/components.ts';
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
  text,
  upTo,
} from '../openapi/shapes.ts';
import { isText, limitOf } from '../query.ts';
import { cursorOf, cursorText, eventJson, flightJson, isDay } from './browse.ts';

export interface FlightRouteOptions {
  readonly access: Access;
  readonly database: Database;
}

interface SearchQuery {
  readonly q?: string;
  readonly day?: string;
  readonly after?: string;
  readonly limit?: string;
}

const VERSION = object({
  ...EVENT_COLUMNS,
  ...{ attempts: count, lastError: nullable(text) },
  beforeKept: about(flag, 'Whether the version before is known.'),
  differences: list(object({ path: text, before: anything, after: anything })),
});

/** Registers the routes. */
export function registerFlights(app: FastifyInstance, { access, database }: FlightRouteOptions): void {
  const search = described(access, {
    name: 'searchFlights',
    summary: 'Flights of any day, archived ones among them, by FLID or how the flight number begins.',
    roles: ['viewer'],
    query: {
      q: { ...about(text, 'The beginning of a flight number, or a FLID.'), pattern: '\\S', maxLength: 64 },
      ...{ day, after, limit: upTo(500, 50) },
    },
    needs: ['q'],
    answers: {
      200: json(page('flights', object({ ...FLIGHT_COLUMNS, archived: flag }))),
      400: json(ref('Error')),
    },
  });
  app.get<{ Querystring: SearchQuery }>('/api/v1/search/flights', search, async (request, reply) => {
    const { query } = request;
    const { q, day } = query;
    if (!isText(q) || q.trim() === '' || q.length > 64) {
      return reply.code(400).send({ error: 'q is the beginning of a flight number, or a FLID' });
    }
    if (day !== undefined && !isDay(day)) return reply.code(400).send({ error: 'day must be YYYY-MM-DD' });
    const limit = limitOf(query.limit, 50, 500);
    const { time: afterDay, flid } = cursorOf(query.after);
    const after = isDay(afterDay) ? { day: afterDay, flid } : null;
    const rows = await searchFlights(database, { text: q.trim(), day: day ?? null }, after, limit);
    const last = rows.at(-1);
    return {
      flights: rows.map((row) => ({ ...flightJson(row, seesEverything(request)), archived: row.archived })),
      next: rows.length === limit && last !== undefined ? cursorText(last.operationDay, last.flid) : null,
    };
  });

  app.get<{ Params: { flid: string }; Querystring: { before?: string; limit?: string } }>(
    '/api/v1/flights/:flid/versions',
    described(access, {
      name: 'listFlightVersions',
      summary: 'Versions of a flight as they were told, newest first, each with what it changed.',
      roles: ['viewer'],
      params: { flid: text },
      query: {
        before: about(id, 'Where the page begins: "next" of the page before.'),
        limit: upTo(100, 20),
      },
      answers: { 200: json(page('versions', VERSION, {}, 'before')) },
    }),
    async ({ params: { flid }, query }, reply) => {
      const before = query.before === undefined ? MAX_ID : idOf(query.before);
      if (before === null) return reply.code(400).send({ error: 'before must be an event ID' });
      const limit = limitOf(query.limit, 20, 100);
      // One more than is shown: what a version changed is seen by the one before it.
      const rows = isText(flid) ? await selectVersions(database, flid, before, limit + 1) : [];
      const shown = rows.slice(0, limit);
      return {
        versions: shown.map((row, index) => versionJson(row, rows[index + 1] ?? null)),
        next: rows.length > limit ? (shown.at(-1)?.eventId.toString() ?? null) : null,
      };
    },
  );
}

/** What one version changed. `before` is null where the version before is not kept. */
function versionJson(row: VersionRow, before: VersionRow | null): object {
  const { flight, ...event } = row;
  const adjacent = before !== null && before.version === row.version - 1;
  return {
    ...eventJson({ ...event, flightNumber: null }),
    beforeKept: adjacent || row.version === 1,
    differences: (row.changed ?? [])
      .filter((path) => path !== 'deleted')
      .map((path) => ({
        path,
        before: adjacent ? valueAt(before.flight, path) : null,
        after: valueAt(flight, path),
      })),
  };
}

/** A field of a published flight. Persons are left out: a difference is told to viewers too. */
function valueAt(flight: JsonObject | null, path: string): Json {
  let value: Json = flight;
  for (const key of path.split('.')) value = isJsonObject(value) ? (value[key] ?? null) : null;
  if (path !== 'vips' || !Array.isArray(value)) return value;
  return (value as readonly Json[]).map((entry) => (isJsonObject(entry) ? { ...entry, code: null } : entry));
}
