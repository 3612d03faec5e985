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
import { changeBody, ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, counted, id, list, nullable, object, oneOf, text } from '../openapi/shapes.ts';

export interface MessageActionOptions {
  readonly access: Access;
  readonly config: Config;
  readonly database: Database;
  readonly dialect: Dialect;
  readonly clock: Clock;
}

const REPLAY = changeBody(
  {},
  {
    class: about(oneOf(...REPLAY_CLASSES), 'All that ended in this class.'),
    ids: { ...list(id), minItems: 1, maxItems: MOST_REPLAYED },
  },
  [['class'], ['ids']],
);
const REPLAYED = object({
  ...{ outcome: oneOf('done', 'planned', 'refused'), message: text, counted: counted() },
  messages: list(
    object({
      msgId: id,
      becomes: about(nullable(text), 'What it would end as; null where it would not pass.'),
      superseded: about(
        list(object({ flid: text, fields: list(text) })),
        'Fields that newer messages have set since.',
      ),
      refused: about(nullable(text), 'Why it was left alone.'),
    }),
  ),
});

/** Registers the routes. */
export function registerMessageActions(
  app: FastifyInstance,
  { access, config, database, dialect, clock }: MessageActionOptions,
): void {
  app.post(
    '/api/v1/actions/skip',
    described(access, {
      name: 'skipMessage',
      summary: 'Ends the head of line that cannot be processed: SKIPPED.',
      roles: ['operator'],
      body: json(changeBody({ id })),
      bodyLimit: 16 * 1024,
      answers: { 200: json(ref('Outcome')), 409: json(ref('Refused')) },
    }),
    async (request, reply) => {
      const body = bodyOf(request.body);
      const msgId = idOf(body['id']);
      if (msgId === null) return reply.code(400).send({ error: '"id" says which message' });
      const operator = operatorOf(body, clock, request);
      if (operator === null) return reply.code(400).send(NO_REASON);
      const outcome = await skip(database, { msgId, dryRun: body['dryRun'] === true }, operator);
      return reply.code(statusOf(outcome)).send(outcome);
    },
  );
  app.post(
    '/api/v1/actions/replay',
    described(access, {
      name: 'replayMessages',
      summary: 'Puts back to the line those messages that would pass now.',
      roles: ['operator'],
      body: json(REPLAY),
      bodyLimit: 256 * 1024,
      answers: { 200: json(REPLAYED), 409: json(REPLAYED) },
    }),
    async (request, reply) => {
      const body = bodyOf(request.body);
      const scope = scopeOf(body);
      if (scope === null) {
        const classes = REPLAY_CLASSES.join(', ');
        return reply.code(400).send({ error: `"class" (${classes}) or "ids", a list, says which messages` });
      }
      const operator = operatorOf(body, clock, request);
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
