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
import { described, json } from '../openapi/description.ts';
import {
  about,
  after,
  anything,
  count,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  page,
  record,
  text,
  time as timeShape,
  upTo,
} from '../openapi/shapes.ts';
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

const TYPE = object({
  ...{ rtype: text, active: count, inactive: count, changedAt: timeShape },
  loadedBy: about(nullable(id), 'The newest whole load.'),
});
const ROW = {
  ...{ rkey: text, active: flag, body: record(anything), updatedAt: timeShape },
  namedBy: about(id, 'The message that last named it.'),
  describedBy: about(nullable(id), 'The message that last described it.'),
};
const PAST = object({
  until: object({ msgId: id, at: timeShape }),
  ...{ active: flag, body: record(anything) },
});

/** Most changes shown of a row. */
const MOST_PAST = 200;

/** Registers the routes. */
export function registerReference(app: FastifyInstance, { access, database }: ReferenceOptions): void {
  app.get(
    '/api/v1/reference',
    described(access, {
      name: 'listReferenceTypes',
      summary: 'The types of reference data and how many rows they have.',
      roles: ['viewer'],
      answers: { 200: json(object({ types: list(TYPE) })) },
    }),
    async () => {
      const types = await selectReferenceTypes(database);
      return {
        types: types.map(({ floor, changedAt, ...type }) => ({
          ...type,
          changedAt: time(changedAt),
          loadedBy: floor?.toString() ?? null,
        })),
      };
    },
  );

  app.get<{ Params: { rtype: string }; Querystring: PageQuery }>(
    '/api/v1/reference/:rtype',
    described(access, {
      name: 'listReferenceRows',
      summary: 'Rows of a type, in the order of their keys.',
      roles: ['viewer'],
      params: { rtype: text },
      query: {
        prefix: about(text, 'How the key begins.'),
        text: about(text, 'What the key or a value contains.'),
        active: oneOf('true', 'false'),
        ...{ after, limit: upTo(1_000, 100) },
      },
      answers: { 200: json(page('rows', object(ROW), { rtype: text })) },
    }),
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
      return {
        rtype,
        rows: rows.map(rowJson),
        next: found.length > limit ? (rows.at(-1)?.rkey ?? null) : null,
      };
    },
  );

  app.get<{ Params: { rtype: string; rkey: string } }>(
    '/api/v1/reference/:rtype/:rkey',
    described(access, {
      name: 'getReferenceRow',
      summary: 'One row and what it had been.',
      roles: ['viewer'],
      params: { rtype: text, rkey: text },
      answers: { 200: json(object({ rtype: text, ...ROW, history: list(PAST) })) },
    }),
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
