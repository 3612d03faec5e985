/** What reference rows had been before they were changed. Insert-only. */
import type { ReferencePast } from '../domain/reference.ts';
import { chunksOf } from './chunks.ts';
import { statement, type Queryable } from './statement.ts';

const INSERT = statement(
  'referenceHistory.insert',
  // In the order given: change_id then tells the order in which it happened.
  `insert into ref_history (rtype, rkey, msg_id, changed_at, body, active)
   select rtype, rkey, msg_id, $6::timestamptz, body::jsonb, active
   from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::boolean[])
     with ordinality as p (rtype, rkey, msg_id, body, active, place)
   order by place`,
);

/** Notes what rows had been; belongs in the transaction that changes them. `at` is the time of the change. */
export async function insertReferencePast(
  tx: Queryable,
  past: readonly ReferencePast[],
  at: string,
): Promise<void> {
  for (const part of chunksOf(past)) {
    await tx.query(INSERT, [
      part.map(({ rtype }) => rtype),
      part.map(({ rkey }) => rkey),
      part.map(({ msgId }) => msgId),
      part.map(({ body }) => JSON.stringify(body)),
      part.map(({ active }) => active),
      at,
    ]);
  }
}
