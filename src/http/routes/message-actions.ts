/** What operators do to messages over HTTP (contract, "HTTP"): the same actions as the CLI. */
import type { FastifyInstance } from 'fastify';
import { MOST_REPLAYED, replay, type ReplayRequest } from '../../actions/replay.ts';
import { skip } from '../../actions/skip.ts';
import type { Config } from '../../config/schema.ts';
import type { Dialect } from '../../dialect/port.ts';
import type { Clock } from '../../domain/clock.ts';
import { trialContext } from '../../service/trial-context.ts';
import type { Database } from '../../store/database.ts';
import { REPLAY_CLASSES } from '../../store/replay.ts';
import type { Access } from '../access.ts';
import { NO_REASON, bodyOf, idOf, idsOf, operatorOf, statusOf, type Body } from '../change.ts';

export interface MessageActionOptions {
  readonly access: Access;
  readonly config: Config;
  readonly database: Database;
  readonly dialect: Dialect;
  readonly clock: Clock;
}

/** Registers the routes. */
export function registerMessageActions(
  app: FastifyInstance,
  { access, config, database, dialect, clock }: MessageActionOptions,
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
  app.post(
    '/api/v1/actions/replay',
    { onRequest: access.require('operator'), bodyLimit: 256 * 1024 },
    async (request, reply) => {
      const body = bodyOf(request.body);
      const scope = scopeOf(body);
      if (scope === null) {
        const classes = REPLAY_CLASSES.join(', ');
        return reply.code(400).send({ error: `"class" (${classes}) or "ids", a list, says which messages` });
      }
      const operator = operatorOf(body, clock);
      if (operator === null) return reply.code(400).send(NO_REASON);
      const context = trialContext(config, database, dialect);
      const outcome = await replay(context, { scope, dryRun: body['dryRun'] === true }, operator);
      return reply.code(statusOf(outcome)).send(outcome);
    },
  );
}

/** Exactly one of the two ways to choose messages, or null. */
function scopeOf({ class: named, ids }: Body): ReplayRequest['scope'] | null {
  if ((named === undefined) === (ids === undefined)) return null;
  const errorClass = REPLAY_CLASSES.find((known) => known === named);
  if (errorClass !== undefined) return { kind: 'class', errorClass };
  const msgIds = idsOf(ids, MOST_REPLAYED);
  return msgIds === null ? null : { kind: 'ids', msgIds };
}
