/** Abandoned marks over HTTP (contract, "HTTP"): the list, also as CSV, and what can be done. */
import type { FastifyInstance } from 'fastify';
import { settleMarks } from '../../actions/marks.ts';
import type { Clock } from '../../domain/clock.ts';
import { MARK_CSV_HEAD, markCsv, markJson } from '../../service/mark-json.ts';
import type { Database } from '../../store/database.ts';
import { selectAbandoned } from '../../store/owed-mark.ts';
import type { Access } from '../access.ts';
import { NO_REASON, bodyOf, idOf, idsOf, operatorOf, statusOf } from '../change.ts';
import { limitOf } from '../query.ts';

export interface MarkOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

/** Most marks of one request. */
const MOST = 10_000;

/** Registers the routes. */
export function registerMarks(app: FastifyInstance, { access, database, clock }: MarkOptions): void {
  app.get<{ Querystring: { after?: string; limit?: string; confirmed?: string } }>(
    '/api/v1/backfill',
    { onRequest: access.require('viewer') },
    async ({ query }) => {
      const limit = limitOf(query.limit, 50, 500);
      const confirmed = query.confirmed === 'true';
      const marks = await selectAbandoned(database, { after: idOf(query.after) ?? -1n, confirmed, limit });
      return {
        marks: marks.map(markJson),
        next: marks.length === limit ? (marks.at(-1)?.msgId.toString() ?? null) : null,
      };
    },
  );
  app.get<{ Querystring: { confirmed?: string } }>(
    '/api/v1/backfill/export',
    { onRequest: access.require('viewer') },
    async ({ query }, reply) => {
      const confirmed = query.confirmed === 'true';
      const marks = await selectAbandoned(database, { after: -1n, confirmed, limit: 10 * MOST });
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="abandoned-marks.csv"')
        .send(MARK_CSV_HEAD + markCsv(marks));
    },
  );
  for (const change of ['reopen', 'confirm'] as const) {
    app.post(
      `/api/v1/actions/backfill/${change}`,
      { onRequest: access.require('operator'), bodyLimit: 256 * 1024 },
      async (request, reply) => {
        const body = bodyOf(request.body);
        const named = idsOf(body['ids'], MOST);
        const all = body['all'] === true;
        if ((named === null) !== all) {
          return reply.code(400).send({ error: '"ids", a list, or "all" (true) says which marks' });
        }
        const operator = operatorOf(body, clock);
        if (operator === null) return reply.code(400).send(NO_REASON);
        const page = { after: -1n, confirmed: false, limit: MOST };
        const msgIds = named ?? (await selectAbandoned(database, page)).map(({ msgId }) => msgId);
        const outcome = await settleMarks(
          database,
          { change, msgIds, dryRun: body['dryRun'] === true },
          operator,
        );
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
}
