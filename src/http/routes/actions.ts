/** What operators do over HTTP (contract, "HTTP"): the same actions as the CLI, with role and reason. */
import type { FastifyInstance } from 'fastify';
import type { ActionOutcome, Operator } from '../../actions/outcome.ts';
import { republish } from '../../actions/republish.ts';
import { pauseStation, resumeStation } from '../../actions/stations.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../domain/clock.ts';
import { MAX_ID } from '../../domain/ids.ts';
import { isDay } from '../../domain/operation-day.ts';
import { STATIONS, type StationName } from '../../runtime/station.ts';
import type { Database } from '../../store/database.ts';
import { acceptFoundPartitions } from '../../service/partitions.ts';
import { selectAudit } from '../../store/op-audit.ts';
import type { RepublishScope } from '../../store/republish.ts';
import type { Access } from '../access.ts';
import { NO_REASON, bodyOf, reasonOf } from '../change.ts';

export interface ActionOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
  readonly config: Config;
}

type StationAction = (database: Database, station: StationName, operator: Operator) => Promise<ActionOutcome>;

/** Registers the routes. */
export function registerActions(app: FastifyInstance, options: ActionOptions): void {
  const { access, database, clock } = options;
  const actions: readonly (readonly [string, StationAction])[] = [
    ['pause', pauseStation],
    ['resume', resumeStation],
  ];
  for (const [name, run] of actions) {
    app.post<{ Params: { station: string } }>(
      `/api/v1/stations/:station/${name}`,
      { onRequest: access.require('operator'), bodyLimit: 16 * 1024 },
      async (request, reply) => {
        const station = STATIONS.find((known) => known === request.params.station);
        if (station === undefined) {
          return reply
            .code(404)
            .send({ error: `no station ${request.params.station}: ${STATIONS.join(', ')}` });
        }
        const reason = reasonOf(bodyOf(request.body));
        if (reason === null) return reply.code(400).send(NO_REASON);
        const outcome = await run(database, station, { who: 'http:operator', reason, now: clock.now() });
        return reply.code(outcome.outcome === 'done' ? 200 : 409).send(outcome);
      },
    );
  }
  registerRepublish(app, options);
  app.get<{ Querystring: { limit?: string } }>(
    '/api/v1/audit',
    { onRequest: access.require('viewer') },
    async (request) => {
      const limit = Math.min(Math.max(Number.parseInt(request.query.limit ?? '50', 10) || 50, 1), 500);
      const entries = await selectAudit(database, MAX_ID, limit);
      return { entries: entries.map((entry) => ({ ...entry, auditId: entry.auditId.toString() })) };
    },
  );
}

/** `republish`: `{"flid": F}`, `{"day": D}` or `{"all": true}`, with reason, dryRun and acceptPartitions as in the CLI. */
function registerRepublish(app: FastifyInstance, { access, database, clock, config }: ActionOptions): void {
  app.post(
    '/api/v1/actions/republish',
    { onRequest: access.require('operator'), bodyLimit: 16 * 1024 },
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
      const operator = { who: 'http:operator', reason: reason ?? '', now: clock.now() };
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

/** Exactly one of the three ways to choose flights, or null. */
function scopeOf({ flid, day, all }: Readonly<Record<string, unknown>>): RepublishScope | null {
  const given = [flid, day, all].filter((choice) => choice !== undefined);
  if (given.length !== 1) return null;
  if (typeof flid === 'string') return { kind: 'flight', flid };
  if (typeof day === 'string') return isDay(day) ? { kind: 'day', day } : null;
  return all === true ? { kind: 'all' } : null;
}
