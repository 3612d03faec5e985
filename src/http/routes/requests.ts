/** Requests over HTTP: asking, with role and reason, and the list of what was asked (contract, "HTTP"). */
import type { FastifyInstance } from 'fastify';
import type { Operator } from '../../actions/outcome.ts';
import { requestReference, requestSchedule, type RequestOutcome } from '../../actions/requests.ts';
import type { Config } from '../../config/schema.ts';
import type { Dialect } from '../../dialect/port.ts';
import type { Clock } from '../../domain/clock.ts';
import { MAX_ID } from '../../domain/ids.ts';
import { requestJson } from '../../service/request-json.ts';
import type { Database } from '../../store/database.ts';
import { REQUEST_STATES, selectRequests, type RequestState } from '../../store/req-track.ts';
import type { Access } from '../access.ts';
import { NO_REASON, bodyOf, operatorOf, type Body } from '../change.ts';
import { changeBody, ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  day,
  id,
  list,
  nullable,
  object,
  oneOf,
  page,
  text,
  time,
  upTo,
} from '../openapi/shapes.ts';
import { limitOf } from '../query.ts';

export interface RequestRouteOptions {
  readonly access: Access;
  readonly config: Config;
  readonly database: Database;
  readonly dialect: Dialect;
  readonly clock: Clock;
}

const MOST = 500;

/** What `state` may say beside a single state. */
const GROUPS: Readonly<Record<string, readonly RequestState[]>> = {
  open: ['PENDING', 'SENT'],
  closed: ['DONE', 'EXPIRED'],
};

const ASK_SCHEDULE = changeBody(
  { from: about(day, 'The first operation day.') },
  { to: about(day, 'The last one; the first where none is given.') },
);
const ASKED = object({
  ...{ outcome: oneOf('done', 'planned'), message: text },
  requests: list(
    object(
      { type: text, operationDay: nullable(day), replaced: about(list(id), 'Open ones that it ends.') },
      { reqId: id },
    ),
  ),
});
const REQUEST = object({
  ...{ reqId: id, type: text, operationDay: nullable(day), sender: text, state: oneOf(...REQUEST_STATES) },
  ...{ requestedAt: nullable(time), requestedBy: text, sequence: nullable(text), sentAt: nullable(time) },
  ...{ outId: nullable(id), expiresAt: nullable(time), doneAt: nullable(time) },
  doneBy: about(nullable(id), 'The message that answered it.'),
  matched: nullable(oneOf('exact', 'downgraded')),
  expiredAt: nullable(time),
  expiredBecause: nullable(oneOf('timeout', 'replaced')),
});

/** Registers the routes. */
export function registerRequests(app: FastifyInstance, options: RequestRouteOptions): void {
  const { access, config, database, dialect, clock } = options;
  const actions = {
    ...{ database, sender: config.sender, shadow: config.pipeline.shadow },
    referenceTypes: dialect.referenceTypes,
  };
  const asks = {
    schedule: async (body: Body, operator: Operator, dryRun: boolean) => {
      const { from, to = from } = body;
      if (typeof from !== 'string' || typeof to !== 'string') return null;
      return requestSchedule(actions, { from, to }, operator, dryRun);
    },
    reference: async (body: Body, operator: Operator, dryRun: boolean) =>
      typeof body['type'] === 'string' ? requestReference(actions, body['type'], operator, dryRun) : null,
  };
  const wanted = { schedule: '"from" and perhaps "to", days yyyy-MM-dd', reference: '"type"' };

  for (const what of ['schedule', 'reference'] as const) {
    app.post(
      `/api/v1/actions/request/${what}`,
      described(access, {
        name: what === 'schedule' ? 'requestSchedule' : 'requestReference',
        summary:
          what === 'schedule'
            ? 'Asks the upstream for the schedule of each operation day.'
            : 'Asks the upstream for the reference data of a type.',
        roles: ['operator'],
        body: json(what === 'schedule' ? ASK_SCHEDULE : changeBody({ type: text })),
        bodyLimit: 16 * 1024,
        answers: { 200: json(ASKED), 409: json(ref('Refused')) },
      }),
      async (request, reply) => {
        const body = bodyOf(request.body);
        const operator = operatorOf(body, clock, request);
        if (operator === null) return reply.code(400).send(NO_REASON);
        const dryRun = body['dryRun'] === true;
        const outcome: RequestOutcome | null = await asks[what](body, operator, dryRun);
        if (outcome === null) return reply.code(400).send({ error: `the body needs ${wanted[what]}` });
        switch (outcome.outcome) {
          case 'done':
          case 'planned':
            return reply.code(200).send(outcome);
          case 'invalid':
            return reply.code(400).send({ error: outcome.message });
          case 'refused':
            return reply.code(409).send(outcome);
        }
      },
    );
  }

  app.get<{ Querystring: { after?: string; limit?: string; state?: string } }>(
    '/api/v1/requests',
    described(access, {
      name: 'listRequests',
      summary: 'What was asked of the upstream, newest first.',
      roles: ['viewer'],
      query: { state: oneOf(...REQUEST_STATES, ...Object.keys(GROUPS)), after, limit: upTo(MOST, 50) },
      answers: {
        200: json(page('requests', REQUEST, { referenceTypes: about(list(text), 'What can be asked for.') })),
        400: json(ref('Error')),
      },
    }),
    async (request, reply) => {
      const states = statesOf(request.query.state);
      if (states === null) {
        const known = [...REQUEST_STATES, ...Object.keys(GROUPS)].join(', ');
        return reply.code(400).send({ error: `"state" is one of ${known}` });
      }
      const limit = limitOf(request.query.limit, 50, MOST);
      const rows = await selectRequests(database, { below: cursorOf(request.query.after), limit, states });
      const last = rows.at(-1);
      return {
        requests: rows.map(requestJson),
        next: rows.length === limit && last !== undefined ? last.reqId.toString() : null,
        // What can be asked for.
        referenceTypes: dialect.referenceTypes,
      };
    },
  );
}

/** The states asked for, all by default; null where there is no such state. */
function statesOf(text: unknown): readonly RequestState[] | null {
  if (text === undefined) return REQUEST_STATES;
  if (typeof text !== 'string') return null;
  if (Object.hasOwn(GROUPS, text)) return GROUPS[text] ?? null;
  const state = REQUEST_STATES.find((known) => known === text);
  return state === undefined ? null : [state];
}

/** Newest first: the next page lies below the last ID. What is no cursor starts from the newest, like none. */
function cursorOf(text: unknown): bigint {
  if (typeof text !== 'string' || !/^\d{1,18}$/.test(text)) return MAX_ID;
  return BigInt(text);
}
