/** Dead events over HTTP (contract, "HTTP"): the list, one of them, and what can be done. */
import type { FastifyInstance } from 'fastify';
import { settleEvents } from '../../actions/dead-events.ts';
import type { Clock } from '../../domain/clock.ts';
import { deadEventJson } from '../../service/dead-event-json.ts';
import type { Database } from '../../store/database.ts';
import { selectDeadEventIds, selectEventBody, selectEvents } from '../../store/dead-event.ts';
import type { Access } from '../access.ts';
import { idOf, listedChangeOf, statusOf } from '../change.ts';
import { DEAD_EVENT_COLUMNS, listedBody, ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  anything,
  count,
  counted,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  page,
  text,
  upTo,
} from '../openapi/shapes.ts';
import { TARGETS, eventFilterOf, limitOf } from '../query.ts';

export interface DlqOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

/** Most events that a request may list. */
const MOST = 10_000;

const SETTLED = object({
  ...{ outcome: oneOf('done', 'planned', 'refused'), message: text, counted: counted() },
  events: list(
    object({
      ...{ eventId: id, flid: nullable(text), version: nullable(count) },
      laterDelivered: about(list(count), 'Later versions that were delivered, the first of them.'),
      refused: about(nullable(text), 'Why it was left alone.'),
    }),
  ),
});

/** Registers the routes. */
export function registerDlq(app: FastifyInstance, { access, database, clock }: DlqOptions): void {
  app.get<{ Querystring: { after?: string; limit?: string; target?: string; flid?: string } }>(
    '/api/v1/dlq',
    described(access, {
      name: 'listDeadEvents',
      summary: 'Events that delivery gave up, oldest first.',
      roles: ['viewer'],
      query: { target: oneOf(...TARGETS), flid: text, after, limit: upTo(500, 50) },
      answers: { 200: json(page('events', ref('DeadEvent'))), 400: json(ref('Error')) },
    }),
    async ({ query }, reply) => {
      const filter = eventFilterOf(query);
      if ('error' in filter) return reply.code(400).send(filter);
      const limit = limitOf(query.limit, 50, 500);
      const ids = await selectDeadEventIds(database, idOf(query.after) ?? -1n, limit, filter);
      const events = (await selectEvents(database, ids)).map(deadEventJson);
      return { events, next: ids.length === limit ? (ids.at(-1)?.toString() ?? null) : null };
    },
  );
  // With what it says: for operators, like texts of messages.
  app.get<{ Params: { id: string } }>(
    '/api/v1/dlq/:id',
    described(access, {
      name: 'getDeadEvent',
      summary: 'One event and what it says.',
      roles: ['operator'],
      params: { id },
      answers: { 200: json(object({ ...DEAD_EVENT_COLUMNS, body: anything })) },
    }),
    async (request, reply) => {
      const id = idOf(request.params.id);
      const [event] = id === null ? [] : await selectEvents(database, [id]);
      if (event === undefined) return reply.code(404).send({ error: `no event ${request.params.id}` });
      return { ...deadEventJson(event), body: await selectEventBody(database, event.eventId) };
    },
  );
  for (const change of ['retry', 'drop'] as const) {
    app.post(
      `/api/v1/actions/dlq/${change}`,
      described(access, {
        name: `${change}DeadEvents`,
        summary: change === 'retry' ? 'Sends dead events again.' : 'Drops dead events for good.',
        roles: ['operator'],
        body: json(listedBody({ force: about(flag, 'Retries also below versions that were delivered.') })),
        bodyLimit: 256 * 1024,
        answers: { 200: json(SETTLED), 409: json(SETTLED) },
      }),
      async (request, reply) => {
        const asked = listedChangeOf(request, clock, { what: 'events', most: MOST });
        if ('error' in asked) return reply.code(400).send(asked);
        const { ids, operator, ...how } = asked;
        const outcome = await settleEvents(database, { change, eventIds: ids ?? 'all', ...how }, operator);
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
}
