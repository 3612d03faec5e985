/** Abandoned marks over HTTP (contract, "HTTP"): the list, also as CSV, and what can be done. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { settleMarks } from '../../actions/marks.ts';
import type { Clock } from '../../domain/clock.ts';
import { abandonedCsv, markJson } from '../../service/mark-json.ts';
import type { Database } from '../../store/database.ts';
import { selectAbandoned } from '../../store/owed-mark.ts';
import type { Access } from '../access.ts';
import { idOf, listedChangeOf, statusOf } from '../change.ts';
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
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="abandoned-marks.csv"')
        .send(Readable.from(abandonedCsv(database, confirmed)));
    },
  );
  for (const change of ['reopen', 'confirm'] as const) {
    app.post(
      `/api/v1/actions/backfill/${change}`,
      { onRequest: access.require('operator'), bodyLimit: 256 * 1024 },
      async (request, reply) => {
        const asked = listedChangeOf(request.body, clock, { what: 'marks', most: MOST });
        if ('error' in asked) return reply.code(400).send(asked);
        const { ids, operator, dryRun } = asked;
        const page = { after: -1n, confirmed: false, limit: MOST };
        const msgIds = ids ?? (await selectAbandoned(database, page)).map(({ msgId }) => msgId);
        const outcome = await settleMarks(database, { change, msgIds, dryRun }, operator);
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
}
