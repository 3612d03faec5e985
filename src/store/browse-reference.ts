/** Look-ups of reference data for the console and the API. Keyset paging, read-only. */
import type { JsonObject } from '../domain/json.ts';
import { statement, type Queryable } from './statement.ts';

/** A reference type that has rows. */
export interface ReferenceTypeRow {
  readonly rtype: string;
  readonly active: number;
  readonly inactive: number;
  /** When a row last came, changed or went. */
  readonly changedAt: string;
  /** The newest whole load; null where there was none. */
  readonly floor: bigint | null;
}

const SELECT_TYPES = statement(
  'browse.referenceTypes',
  // Reads all of ref_master.
  `select m.rtype, m.active, m.inactive, m.changed_at as "changedAt", f.floor
   from (
     select rtype, (count(*) filter (where active))::integer as active,
       (count(*) filter (where not active))::integer as inactive, max(updated_at) as changed_at
     from ref_master group by rtype
   ) m left join ref_floor f on f.rtype = m.rtype
   order by m.rtype collate "C"`,
);

/** All types with the number of their rows. */
export async function selectReferenceTypes(db: Queryable): Promise<readonly ReferenceTypeRow[]> {
  return db.query<ReferenceTypeRow>(SELECT_TYPES);
}

/** A reference row as listed. */
export interface ListedReferenceRow {
  readonly rkey: string;
  readonly active: boolean;
  readonly body: JsonObject;
  /** The message that last named the row; the floor of its type where that load confirmed it. */
  readonly stamp: bigint;
  /** The message that last described it; null where only deletions have named it. */
  readonly bodyStamp: bigint | null;
  readonly updatedAt: string;
}

/** Which rows of a type are wanted. */
export interface ReferenceFilter {
  /** How the key begins, as it is written; '' for any. */
  readonly prefix: string;
  /** What the key or any value of the body contains, in whatever case; '' for any. */
  readonly text: string;
  /** Null for both. */
  readonly active: boolean | null;
}

const COLUMNS = `m.rkey, m.active, m.body, m.updated_at as "updatedAt",
  case when m.active then greatest(m.stamp, f.floor) else m.stamp end as stamp,
  case when m.active then greatest(m.body_stamp, f.floor) else m.body_stamp end as "bodyStamp"`;

// The text is looked for in the form that JSON gives it first, which is cheap, and then in the values alone.
const page = (
  range: string,
): string => `select ${COLUMNS} from ref_master m left join ref_floor f on f.rtype = m.rtype
   where m.rtype = $1 and m.rkey collate "C" > $2 and ($3::boolean is null or m.active = $3)
     and ($4 = '' or m.rkey ilike $4 or (m.body::text ilike $5 and exists (
       select from jsonb_path_query(m.body, '$.**') v
       where jsonb_typeof(v) = 'string' and v #>> '{}' ilike $4)))${range}
   order by m.rkey collate "C" limit $6`;
const SELECT_PAGE = statement(
  'browse.referencePage',
  // ref_master_key: (rtype, rkey collate "C"), from the cursor on.
  page(''),
);
const SELECT_PREFIX = statement(
  'browse.referencePrefix',
  // ref_master_key, the range of the prefix alone. A statement of its own: with both ends the planner expects so few
  // rows that it would read and sort a whole type.
  page(' and m.rkey collate "C" >= $7 and m.rkey collate "C" < $7 || chr(1114111)'),
);

/** Rows of a type behind a key, in the order of their keys' characters. */
export async function selectReferencePage(
  db: Queryable,
  rtype: string,
  after: string,
  { prefix, text, active }: ReferenceFilter,
  limit: number,
): Promise<readonly ListedReferenceRow[]> {
  const written = JSON.stringify(text).slice(1, -1);
  const values = [rtype, after, active, text === '' ? '' : containing(text), containing(written), limit];
  return prefix === ''
    ? db.query<ListedReferenceRow>(SELECT_PAGE, values)
    : db.query<ListedReferenceRow>(SELECT_PREFIX, [...values, prefix]);
}

/** A pattern for texts that contain this one. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

const SELECT_ROW = statement(
  'browse.referenceRow',
  // Primary keys of ref_master and ref_floor.
  `select ${COLUMNS} from ref_master m left join ref_floor f on f.rtype = m.rtype
   where m.rtype = $1 and m.rkey = $2`,
);

/** One row; null where we never heard of it. */
export async function selectReferenceRow(
  db: Queryable,
  rtype: string,
  rkey: string,
): Promise<ListedReferenceRow | null> {
  return (await db.query<ListedReferenceRow>(SELECT_ROW, [rtype, rkey]))[0] ?? null;
}

/** What a row had been until a message changed it. */
export interface ReferencePastRow {
  readonly msgId: bigint;
  readonly changedAt: string;
  readonly body: JsonObject;
  readonly active: boolean;
}

const SELECT_PAST = statement(
  'browse.referencePast',
  // Primary key of ref_history, from its end.
  `select msg_id as "msgId", changed_at as "changedAt", body, active from ref_history
   where rtype = $1 and rkey = $2 order by change_id desc limit $3`,
);

/** What a row had been, the latest change first. */
export async function selectReferencePast(
  db: Queryable,
  rtype: string,
  rkey: string,
  limit: number,
): Promise<readonly ReferencePastRow[]> {
  return db.query<ReferencePastRow>(SELECT_PAST, [rtype, rkey, limit]);
}
