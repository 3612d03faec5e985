/** What operators do over HTTP (contract, "HTTP"): the same actions as the CLI, with role and reason. */
import type { FastifyInstance } from 'fastify';
import type { Operator, TriedOutcome } from '../../actions/outcome.ts';
import { republish } from '../../actions/republish.ts';
import { pauseStation, resumeStation } from '../../actions/stations.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../domain/clock.ts';
import { isDay } from '../../domain/operation-day.ts';
import { STATIONS, type StationName } from '../../runtime/station.ts';
import type { Database } from '../../store/database.ts';
import { acceptFoundPartitions } from '../../service/partitions.ts';
import type { RepublishScope } from '../../store/republish.ts';
import { whoOf, type Access } from '../access.ts';
import { NO_REASON, bodyOf, operatorOf, reasonOf, statusOf } from '../change.ts';
import { changeBody, ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, count, day, flag, object, oneOf, text } from '../openapi/shapes.ts';

export interface ActionOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Config;
}

type StationAction = (
  database: Database,
  station: StationName,
  operator: Operator,
  dryRun: boolean,
) => Promise<TriedOutcome>;

/** Registers the routes. */
export function registerActions(app: FastifyInstance, options: ActionOptions): void {
  const { access, database, clock } = options;
  const actions: readonly (readonly ['pause' | 'resume', StationAction])[] = [
    ['pause', pauseStation],
    ['resume', resumeStation],
  ];
  for (const [name, run] of actions) {
    app.post<{ Params: { station: string } }>(
      `/api/v1/stations/:station/${name}`,
      described(access, {
        name: `${name}Station`,
        summary:
          name === 'pause' ? 'Stops a station until it is resumed.' : 'Lets a paused station work again.',
        roles: ['operator'],
        params: { station: oneOf(...STATIONS) },
        body: json(changeBody({})),
        bodyLimit: 16 * 1024,
        answers: { 200: json(ref('Outcome')), 409: json(ref('Refused')) },
      }),
      async (request, reply) => {
        const station = STATIONS.find((known) => known === request.params.station);
        if (station === undefined) {
          return reply
            .code(404)
            .send({ error: `no station ${request.params.station}: ${STATIONS.join(', ')}` });
        }
        const body = bodyOf(request.body);
        const operator = operatorOf(body, clock, request);
        if (operator === null) return reply.code(400).send(NO_REASON);
        const outcome = await run(database, station, operator, body['dryRun'] === true);
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
  registerRepublish(app, options);
}

/** `republish`: `{"flid": F}`, `{"day": D}` or `{"all": true}`, with reason, dryRun and acceptPartitions as in the CLI. */
function registerRepublish(app: FastifyInstance, { access, database, clock, config }: ActionOptions): void {
  app.post(
    '/api/v1/actions/republish',
    described(access, {
      name: 'republish',
      summary: 'Sends current states again to the target of newest states: of a flight, a day, or all.',
      roles: ['operator'],
      body: json(REPUBLISH),
      bodyLimit: 16 * 1024,
      answers: { 200: json(REPUBLISHED), 409: json(ref('Refused')) },
    }),
    async (request, reply) => {
      const body = bodyOf(request.body);
      const dryRun = body['dryRun'] === true;
      const reason = reasonOf(body);
      if (reason === null && !dryRun) return reply.code(400).send(NO_REASON);
      const scope = scopeOf(body);
      if (scope === null) {
        return reply
          .code(400)
          .send({ error: 'one of "flid", "day" (YYYY-MM-DD) and "all" (true) says which flights' });
      }
      const acceptFound = body['acceptPartitions'] === true;
      if (acceptFound && scope.kind !== 'all')
        return reply.code(400).send({ error: '"acceptPartitions" needs "all": consumers begin anew' });
      const operator = { who: whoOf(request), reason: reason ?? '', now: clock.now() };
      const { flushLimit, flushIntervalMs } = config.schd;
      let accepted: string | null = null;
      if (acceptFound && !dryRun) {
        const outcome = await acceptFoundPartitions(config, database, operator);
        if (outcome.outcome === 'refused') return reply.code(409).send(outcome);
        accepted = outcome.message;
      }
      const outcome = await republish(
        database,
        { scope, rate: { flushLimit, flushIntervalMs }, dryRun },
        operator,
      );
      const code = outcome.outcome === 'refused' && accepted === null ? 409 : 200;
      return reply.code(code).send(accepted === null ? outcome : { ...outcome, accepted });
    },
  );
}

const ALL = about({ type: 'boolean', const: true }, 'All flights.');
const REPUBLISH = changeBody(
  {},
  {
    ...{ flid: about(text, 'One flight.'), day: about(day, 'The flights of an operation day.'), all: ALL },
    acceptPartitions: about(flag, 'With "all": goes on with the numbers of partitions that topics have now.'),
  },
  [['flid'], ['day'], ['all']],
);
const REPUBLISHED = object(
  {
    outcome: oneOf('done', 'planned', 'refused'),
    message: text,
  },
  {
    plan: object({
      ...{ target: text, flights: count, deleted: count, alreadyPending: count },
      seconds: about(count, 'How long it takes, about.'),
    }),
    accepted: about(text, 'The numbers of partitions that were accepted.'),
  },
);

/** Exactly one of the three ways to choose flights, or null. */
function scopeOf({ flid, day, all }: Readonly<Record<string, unknown>>): RepublishScope | null {
  const given = [flid, day, all].filter((choice) => choice !== undefined);
  if (given.length !== 1) return null;
  if (typeof flid === 'string') return { kind: 'flight', flid };
  if (typeof day === 'string') return isDay(day) ? { kind: 'day', day } : null;
  return all === true ? { kind: 'all' } : null;
}
