/** What operators do to messages over HTTP (contract, "HTTP"): the same actions as the CLI. */
import type { FastifyInstance } from 'fastify';
import { skip } from '../../actions/skip.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../../store/database.ts';
import type { Access } from '../access.ts';
import { NO_REASON, bodyOf, idOf, operatorOf, statusOf } from '../change.ts';

export interface MessageActionOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

/** Registers the routes. */
export function registerMessageActions(
  app: FastifyInstance,
  { access, database, clock }: MessageActionOptions,
): void {
  app.post(
    '/api/v1/actions/skip',
    { onRequest: access.require('operator'), bodyLimit: 16 * 1024 },
    async (request, reply) => {
      const body = bodyOf(request.body);
      const msgId = idOf(body['id']);
      if (msgId === null) return reply.code(400).send({ error: '"id" says which message' });
      const operator = operatorOf(body, clock);
      if (operator === null) return reply.code(400).send(NO_REASON);
      const outcome = await skip(database, { msgId, dryRun: body['dryRun'] === true }, operator);
      return reply.code(statusOf(outcome)).send(outcome);
    },
  );
}
