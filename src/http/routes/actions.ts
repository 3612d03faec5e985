/** What operators do over HTTP (contract, "HTTP"): the same actions as the CLI, with role and reason. */
import type { FastifyInstance } from 'fastify';
import type { ActionOutcome, Operator } from '../../actions/outcome.ts';
import { pauseStation, resumeStation } from '../../actions/stations.ts';
import type { Clock } from '../../domain/clock.ts';
import { MAX_ID } from '../../domain/ids.ts';
import { STATIONS, type StationName } from '../../runtime/station.ts';
import type { Database } from '../../store/database.ts';
import { selectAudit } from '../../store/op-audit.ts';
import type { Access } from '../access.ts';

export interface ActionOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

type StationAction = (database: Database, station: StationName, operator: Operator) => Promise<ActionOutcome>;

/** Longest reason kept in the audit, characters. */
const LONGEST_REASON = 1_000;

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
        const reason = reasonOf(request.body);
        if (reason === null)
          return reply.code(400).send({ error: 'a JSON body with a text in "reason" is needed' });
        const outcome = await run(database, station, { who: 'http:operator', reason, now: clock.now() });
        return reply.code(outcome.outcome === 'done' ? 200 : 409).send(outcome);
      },
    );
  }
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

function reasonOf(body: unknown): string | null {
  if (!Buffer.isBuffer(body)) return null;
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    const reason =
      typeof parsed === 'object' && parsed !== null && 'reason' in parsed ? parsed.reason : undefined;
    return typeof reason === 'string' && reason.trim() !== '' ? reason.trim().slice(0, LONGEST_REASON) : null;
  } catch {
    return null;
  }
}
