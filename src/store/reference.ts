/** Reference data (decisions.md, "Reference data"): rows with stamps under the floor of their type. */
import { msgId as msgIdOf, type MsgId } from '../domain/ids.ts';
import { jsonEqual, type JsonObject } from '../domain/json.ts';
import type { ReferenceRow } from '../domain/reference.ts';
import { chunksOf } from './chunks.ts';
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** What a batch needs of one type: single rows, or all of them (`keys` null). */
export interface ReferenceNeed {
  readonly rtype: string;
  readonly keys: readonly string[] | null;
  /** Bodies that the caller has already; a row with an equal one shares it. */
  readonly records: readonly { readonly key: string; readonly body: JsonObject }[];
}

interface StoredRow {
  readonly rtype: string;
  readonly rkey: string;
  readonly body: JsonObject;
  readonly active: boolean;
  readonly stamp: bigint;
  readonly bodyStamp: bigint | null;
}

const SELECT_FLOORS = statement(
  'reference.floors',
  // Primary key of ref_floor.
  `select rtype, floor from ref_floor where rtype = any ($1::text[])`,
);
const COLUMNS = `m.rtype, m.rkey, m.body, m.active, m.stamp, m.body_stamp as "bodyStamp"`;
const SELECT_PAGE = statement(
  'reference.page',
  // ref_master_key: (rtype, rkey collate "C").
  `select ${COLUMNS} from ref_master m where m.rtype = $1 and m.rkey collate "C" > $2
   order by m.rkey collate "C" limit $3`,
);
/** Rows read at once: a type may have 100,000, and its rows as the driver gives them are larger than as we keep them. */
const PAGE = 2_000;
const SELECT_ROWS = statement(
  'reference.rows',
  // Primary key of ref_master.
  `select ${COLUMNS} from unnest($1::text[], $2::text[]) as n (rtype, rkey)
   join ref_master m on m.rtype = n.rtype and m.rkey = n.rkey`,
);

/** Reads floors and rows for a batch: floors and single rows in a statement each, whole types page by page. */
export async function selectReference(
  tx: Queryable,
  needs: readonly ReferenceNeed[],
): Promise<{ readonly floors: ReadonlyMap<string, MsgId>; readonly rows: readonly ReferenceRow[] }> {
  if (needs.length === 0) return { floors: new Map(), rows: [] };
  const types = [...new Set(needs.map(({ rtype }) => rtype))];
  const whole = new Set(needs.filter(({ keys }) => keys === null).map(({ rtype }) => rtype));
  const floors = await tx.query<{ rtype: string; floor: bigint }>(SELECT_FLOORS, [types]);
  const rows: ReferenceRow[] = [];
  for (const rtype of whole) await readType(tx, rtype, knownBodies(needs, rtype), rows);
  const single = new Map<string, { rtype: string; rkey: string }>();
  for (const { rtype, keys } of needs) {
    if (whole.has(rtype)) continue;
    for (const rkey of keys ?? []) single.set(`${rtype} ${rkey}`, { rtype, rkey });
  }
  if (single.size > 0) {
    const wanted = [...single.values()];
    const stored = await tx.query<StoredRow>(SELECT_ROWS, [
      wanted.map(({ rtype }) => rtype),
      wanted.map(({ rkey }) => rkey),
    ]);
    for (const row of stored) rows.push(branded(row));
  }
  return { floors: new Map(floors.map(({ rtype, floor }) => [rtype, msgIdOf(floor)])), rows };
}

async function readType(
  tx: Queryable,
  rtype: string,
  bodies: ReadonlyMap<string, JsonObject>,
  into: ReferenceRow[],
): Promise<void> {
  for (let after = ''; ;) {
    const page = await tx.query<StoredRow>(SELECT_PAGE, [rtype, after, PAGE]);
    for (const row of page) {
      const known = bodies.get(row.rkey);
      into.push(branded(known !== undefined && jsonEqual(known, row.body) ? { ...row, body: known } : row));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.rkey;
  }
}

/** The bodies that a batch brings for a type; of several for a key the last. */
function knownBodies(needs: readonly ReferenceNeed[], rtype: string): ReadonlyMap<string, JsonObject> {
  const bodies = new Map<string, JsonObject>();
  for (const need of needs) {
    if (need.rtype === rtype) for (const { key, body } of need.records) bodies.set(key, body);
  }
  return bodies;
}

function branded(row: StoredRow): ReferenceRow {
  return {
    ...row,
    stamp: msgIdOf(row.stamp),
    bodyStamp: row.bodyStamp === null ? null : msgIdOf(row.bodyStamp),
  };
}

const UPSERT_ROWS = statement(
  'reference.upsertRows',
  // Primary key of ref_master. A row whose stamps alone move has not changed: its time stays.
  `insert into ref_master (rtype, rkey, body, active, stamp, body_stamp, updated_at)
   select rtype, rkey, body::jsonb, active, stamp, body_stamp, $7::timestamptz
   from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[])
     as r (rtype, rkey, body, active, stamp, body_stamp)
   on conflict (rtype, rkey) do update set body = excluded.body, active = excluded.active, stamp = excluded.stamp,
     body_stamp = excluded.body_stamp, updated_at = case
       when ref_master.active = excluded.active and ref_master.body = excluded.body then ref_master.updated_at
       else excluded.updated_at end`,
);
const UPSERT_FLOORS = statement(
  'reference.upsertFloors',
  // Primary key of ref_floor. A floor only rises.
  `insert into ref_floor (rtype, floor) select rtype, floor from unnest($1::text[], $2::bigint[]) as f (rtype, floor)
   on conflict (rtype) do update set floor = greatest(ref_floor.floor, excluded.floor)`,
);

/** Writes the rows and floors that a batch has changed, each once. */
export async function upsertReference(
  tx: Queryable,
  rows: readonly ReferenceRow[],
  floors: ReadonlyMap<string, MsgId>,
  now: number,
): Promise<void> {
  for (const part of chunksOf(rows)) {
    await tx.query(UPSERT_ROWS, [
      part.map(({ rtype }) => rtype),
      part.map(({ rkey }) => rkey),
      part.map(({ body }) => JSON.stringify(body)),
      part.map(({ active }) => active),
      part.map(({ stamp }) => stamp),
      part.map(({ bodyStamp }) => bodyStamp),
      toTimestamp(now),
    ]);
  }
  if (floors.size > 0) await tx.query(UPSERT_FLOORS, [[...floors.keys()], [...floors.values()]]);
}
