/** Records of reference data by their codes, for names. */
import type { JsonObject } from '../domain/json.ts';
import type { ReferenceCode } from '../domain/names.ts';
import { statement, type Queryable } from './statement.ts';

const SELECT = statement(
  'referenceNames.bodies',
  // Primary key of ref_master. Inactive rows too: what is no longer valid still has a name.
  `select m.rtype, m.rkey, m.body from unnest($1::text[], $2::text[]) as n (rtype, rkey)
   join ref_master m on m.rtype = n.rtype and m.rkey = n.rkey`,
);

/** Looks up records of codes, in one statement. */
export async function selectRecords(
  db: Queryable,
  codes: readonly ReferenceCode[],
): Promise<(code: ReferenceCode) => JsonObject | undefined> {
  const wanted = new Map(codes.map((code) => [keyOf(code), code]));
  if (wanted.size === 0) return () => undefined;
  const rows = await db.query<ReferenceCode & { readonly body: JsonObject }>(SELECT, [
    [...wanted.values()].map(({ rtype }) => rtype),
    [...wanted.values()].map(({ rkey }) => rkey),
  ]);
  const bodies = new Map(rows.map((row) => [keyOf(row), row.body]));
  return (code) => bodies.get(keyOf(code));
}

function keyOf({ rtype, rkey }: ReferenceCode): string {
  return `${rtype} ${rkey}`;
}
