/** /api/v1/audit: what operators did, newest first, page by page and filtered (contract, "HTTP"). */
import type { FastifyInstance } from 'fastify';
import { MAX_ID } from '../../domain/ids.ts';
import type { Database } from '../../store/database.ts';
import { selectAuditPage } from '../../store/op-audit.ts';
import { toMillis, toTimestamp } from '../../store/time.ts';
import type { Access } from '../access.ts';
import { idOf } from '../change.ts';
import { ref } from '../openapi/components.ts';
import { described, json } from '../openapi/description.ts';
import { about, after, anything, id, object, page, text, time, upTo } from '../openapi/shapes.ts';
import { isText, limitOf } from '../query.ts';

export interface AuditOptions {
  readonly access: Access;
  readonly database: Database;
}

interface AuditQuery {
  readonly who?: string;
  readonly action?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly limit?: string;
}

const TIME = { type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] };
const ENTRY = object({
  ...{ auditId: id, at: time, who: text, action: text, target: text, reason: text },
  ...{ before: anything, after: anything },
});

/** Registers the route. */
export function registerAudit(app: FastifyInstance, { access, database }: AuditOptions): void {
  app.get<{ Querystring: AuditQuery }>(
    '/api/v1/audit',
    described(access, {
      name: 'listAudit',
      summary: 'What operators did, newest first.',
      roles: ['viewer'],
      query: {
        ...{ who: text, action: text, target: about(text, 'How the target begins.') },
        from: about(TIME, 'Not before.'),
        to: about(TIME, 'Before.'),
        ...{ after, limit: upTo(500, 50) },
      },
      answers: { 200: json(page('entries', ENTRY)), 400: json(ref('Error')) },
    }),
    async ({ query }, reply) => {
      const { who, action, target, from, to } = query;
      if (![who, action, target].every((text) => text === undefined || isText(text))) {
        return reply.code(400).send({ error: '"who", "action" and "target" must be texts' });
      }
      const times = [from, to].map(timeOf);
      if (times.includes(undefined)) {
        return reply.code(400).send({ error: '"from" and "to" must be times, ISO 8601' });
      }
      const limit = limitOf(query.limit, 50, 500);
      const filter = {
        ...{ who: who ?? null, action: action ?? null, target: target ?? null },
        ...{ from: times[0] ?? null, to: times[1] ?? null },
      };
      // One more tells whether there are more, without an empty last page.
      const found = await selectAuditPage(database, filter, idOf(query.after) ?? MAX_ID, limit + 1);
      const entries = found.slice(0, limit);
      return {
        entries: entries.map((entry) => ({
          ...entry,
          auditId: entry.auditId.toString(),
          at: toTimestamp(toMillis(entry.at)),
        })),
        next: found.length > limit ? (entries.at(-1)?.auditId.toString() ?? null) : null,
      };
    },
  );
}

/** A time as the database takes it; null where none is given, undefined where it is none. */
function timeOf(text: unknown): string | null | undefined {
  if (text === undefined || text === '') return null;
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text))
    return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : toTimestamp(time);
}
