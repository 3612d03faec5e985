/** /api/v1/outbox: events of a target that wait to be sent, in the order of delivery. */
import type { FastifyInstance } from 'fastify';
import { selectPendingEvents } from '../../store/browse-outbox.ts';
import type { Database } from '../../store/database.ts';
import { toMillis, toMillisOrNull, toTimestamp } from '../../store/time.ts';
import type { Access } from '../access.ts';
import { idOf } from '../change.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  count,
  id,
  nullable,
  object,
  oneOf,
  page,
  text,
  time,
  upTo,
} from '../openapi/shapes.ts';
import { TARGETS, eventFilterOf, limitOf } from '../query.ts';

export interface OutboxOptions {
  readonly access: Access;
  readonly database: Database;
}

const TARGET = { ...oneOf(...TARGETS), default: 'KAFKA:msg' };
const PENDING = object({
  ...{
    eventId: id,
    target: oneOf(...TARGETS),
    flid: text,
    type: oneOf('UPSERT', 'TOMBSTONE'),
    version: count,
  },
  ...{ attempts: count, lastError: about(nullable(text), 'Of the last attempt.'), msgId: nullable(id) },
  ...{ createdAt: time, nextAttemptAt: nullable(time) },
});

/** Registers the route. */
export function registerOutbox(app: FastifyInstance, { access, database }: OutboxOptions): void {
  app.get<{ Querystring: { target?: string; flid?: string; after?: string; limit?: string } }>(
    '/api/v1/outbox',
    described(access, {
      name: 'listOutbox',
      summary: 'Events of a target that wait to be sent, in the order of delivery.',
      roles: ['viewer'],
      query: { target: TARGET, flid: text, after, limit: upTo(500, 50) },
      answers: { 200: json(page('events', PENDING, { target: TARGET })), 400: json(ref('Error')) },
    }),
    async ({ query }, reply) => {
      const filter = eventFilterOf(query);
      if ('error' in filter) return reply.code(400).send(filter);
      const limit = limitOf(query.limit, 50, 500);
      const wanted = { target: filter.target ?? 'KAFKA:msg', flid: filter.flid };
      const rows = await selectPendingEvents(database, wanted, idOf(query.after) ?? -1n, limit);
      return {
        target: wanted.target,
        events: rows.map(({ eventId, msgId, nextAttemptAt, createdAt, ...event }) => {
          const next = toMillisOrNull(nextAttemptAt);
          return {
            ...{ eventId: eventId.toString(), ...event, msgId: msgId?.toString() ?? null },
            createdAt: toTimestamp(toMillis(createdAt)),
            nextAttemptAt: next === null ? null : toTimestamp(next),
          };
        }),
        next: rows.length === limit ? (rows.at(-1)?.eventId.toString() ?? null) : null,
      };
    },
  );
}
