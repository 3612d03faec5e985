/** Look-ups of reference data: types, pages of a type, a row with what it had been (contract, "/api/v1/reference"). */
import type { FastifyInstance } from 'fastify';
import {
  selectReferencePage,
  selectReferencePast,
  selectReferenceRow,
  selectReferenceTypes,
  type ListedReferenceRow,
} from '../../store/browse-reference.ts';
import type { Database } from '../../store/database.ts';
import { toMillis, toTimestamp } from '../../store/time.ts';
import type { Access } from '../access.ts';
import { isText, limitOf } from '../query.ts';

export interface ReferenceOptions {
  readonly access: Access;
  readonly database: Database;
}

interface PageQuery {
  readonly prefix?: string;
  readonly text?: string;
  readonly active?: string;
  readonly after?: string;
  readonly limit?: string;
}

/** Most changes shown of a row. */
const MOST_PAST = 200;

/** Registers the routes. */
export function registerReference(app: FastifyInstance, { access, database }: ReferenceOptions): void {
  const onRequest = access.require('viewer');

  app.get('/api/v1/reference', { onRequest }, async () => {
    const types = await selectReferenceTypes(database);
    return {
      types: types.map(({ floor, changedAt, ...type }) => ({
        ...type,
        changedAt: time(changedAt),
        loadedBy: floor?.toString() ?? null,
      })),
    };
  });

  app.get<{ Params: { rtype: string }; Querystring: PageQuery }>(
    '/api/v1/reference/:rtype',
    { onRequest },
    async (request, reply) => {
      const { rtype } = request.params;
      const { prefix = '', text = '', after = '', active } = request.query;
      if (![rtype, prefix, text, after].every(isText)) {
        return reply.code(400).send({ error: 'prefix, text and after must be texts' });
      }
      if (active !== undefined && active !== 'true' && active !== 'false') {
        return reply.code(400).send({ error: 'active must be true or false' });
      }
      const limit = limitOf(request.query.limit, 100, 1_000);
      const filter = { prefix, text: text.trim(), active: active === undefined ? null : active === 'true' };
      // One more tells whether there are more, without an empty last page.
      const found = await selectReferencePage(database, rtype, after, filter, limit + 1);
      const rows = found.slice(0, limit);
      return { rtype, rows: rows.map(rowJson), next: found.length > limit ? rows.at(-1)?.rkey : null };
    },
  );

  app.get<{ Params: { rtype: string; rkey: string } }>(
    '/api/v1/reference/:rtype/:rkey',
    { onRequest },
    async (request, reply) => {
      const { rtype, rkey } = request.params;
      const known = isText(rtype) && isText(rkey);
      const row = known ? await selectReferenceRow(database, rtype, rkey) : null;
      if (row === null) return reply.code(404).send({ error: `no row ${rkey} of type ${rtype}` });
      const past = await selectReferencePast(database, rtype, rkey, MOST_PAST);
      return {
        rtype,
        ...rowJson(row),
        history: past.map(({ msgId, changedAt, body, active }) => ({
          until: { msgId: msgId.toString(), at: time(changedAt) },
          active,
          body,
        })),
      };
    },
  );
}

/** A row as the API gives it. */
function rowJson({ rkey, active, body, stamp, bodyStamp, updatedAt }: ListedReferenceRow): object {
  return {
    rkey,
    active,
    body,
    namedBy: stamp.toString(),
    describedBy: bodyStamp?.toString() ?? null,
    updatedAt: time(updatedAt),
  };
}

function time(stored: string): string {
  return toTimestamp(toMillis(stored));
}
