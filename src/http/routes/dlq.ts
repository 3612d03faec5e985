/** Dead events over HTTP (contract, "HTTP"): the list, one of them, and what can be done. */
import type { FastifyInstance } from 'fastify';
import { settleEvents } from '../../actions/dead-events.ts';
import type { Clock } from '../../domain/clock.ts';
import { deadEventJson } from '../../service/dead-event-json.ts';
import type { Database } from '../../store/database.ts';
import { selectDeadEventIds, selectEventBody, selectEvents } from '../../store/dead-event.ts';
import type { Access } from '../access.ts';
import { idOf, listedChangeOf, statusOf } from '../change.ts';
import { limitOf } from '../query.ts';

export interface DlqOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

/** Most events of one request. */
const MOST = 10_000;

/** Registers the routes. */
export function registerDlq(app: FastifyInstance, { access, database, clock }: DlqOptions): void {
  app.get<{ Querystring: { after?: string; limit?: string } }>(
    '/api/v1/dlq',
    { onRequest: access.require('viewer') },
    async (request) => {
      const limit = limitOf(request.query.limit, 50, 500);
      const ids = await selectDeadEventIds(database, idOf(request.query.after) ?? -1n, limit);
      const events = (await selectEvents(database, ids)).map(deadEventJson);
      return { events, next: ids.length === limit ? (ids.at(-1)?.toString() ?? null) : null };
    },
  );
  // With what it says: for operators, like texts of messages.
  app.get<{ Params: { id: string } }>(
    '/api/v1/dlq/:id',
    { onRequest: access.require('operator') },
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
      { onRequest: access.require('operator'), bodyLimit: 256 * 1024 },
      async (request, reply) => {
        const asked = listedChangeOf(request.body, clock, { what: 'events', most: MOST });
        if ('error' in asked) return reply.code(400).send(asked);
        const { ids, operator, ...how } = asked;
        const eventIds = ids ?? (await selectDeadEventIds(database, -1n, MOST));
        const outcome = await settleEvents(database, { change, eventIds, ...how }, operator);
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
}
