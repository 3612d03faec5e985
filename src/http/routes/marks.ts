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
import { listedBody } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  count,
  id,
  counted,
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

export interface MarkOptions {
  readonly access: Access;
  readonly database: Database;
  readonly clock: Clock;
}

/** Most marks that a request may list. */
const MOST = 10_000;

const CONFIRMED = about(oneOf('true', 'false'), 'With those that were confirmed.');
const MARK = object({
  ...{ msgId: id, type: nullable(text), styp: nullable(text), state: text },
  ...{ because: oneOf('MISSING_ROW', 'TRANSIENT_DEADLINE'), abandonedAt: time, attempts: count },
  ...{ receivedAt: nullable(time), enqueuedAt: time, endedAt: nullable(time) },
  ...{ confirmedAt: nullable(time), confirmedBy: nullable(text) },
});
const SETTLED = object({
  ...{ outcome: oneOf('done', 'planned', 'refused'), message: text, counted: counted() },
  changed: about(list(id), 'Messages whose marks were changed, or would be.'),
  refused: list(object({ msgId: id, why: text })),
});

/** Registers the routes. */
export function registerMarks(app: FastifyInstance, { access, database, clock }: MarkOptions): void {
  app.get<{ Querystring: { after?: string; limit?: string; confirmed?: string } }>(
    '/api/v1/backfill',
    described(access, {
      name: 'listAbandonedMarks',
      summary: 'Marks that could not be written into the mailbox, by message.',
      roles: ['viewer'],
      query: { confirmed: CONFIRMED, after, limit: upTo(500, 50) },
      answers: { 200: json(page('marks', MARK)) },
    }),
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
    described(access, {
      name: 'exportAbandonedMarks',
      summary: 'The same list whole, for the owner of the mailbox.',
      roles: ['viewer'],
      query: { confirmed: CONFIRMED },
      answers: { 200: { 'text/csv': text } },
    }),
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
      described(access, {
        name: `${change}Marks`,
        summary:
          change === 'reopen'
            ? 'Has abandoned marks tried again.'
            : 'Confirms abandoned marks as settled with the owner of the mailbox.',
        roles: ['operator'],
        body: json(listedBody({})),
        bodyLimit: 256 * 1024,
        answers: { 200: json(SETTLED), 409: json(SETTLED) },
      }),
      async (request, reply) => {
        const asked = listedChangeOf(request, clock, { what: 'marks', most: MOST });
        if ('error' in asked) return reply.code(400).send(asked);
        const { ids, operator, dryRun } = asked;
        const outcome = await settleMarks(database, { change, msgIds: ids ?? 'all', dryRun }, operator);
        return reply.code(statusOf(outcome)).send(outcome);
      },
    );
  }
}
