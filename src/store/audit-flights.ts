/** What `msgx verify` folds anew, and what it compares the outcome with (contract, "Invariants" 7). The statements scan. */
import { statement, type Queryable } from './statement.ts';

export interface AppliedMessage {
  readonly msgId: bigint;
  readonly flids: readonly string[];
  readonly profileHash: string | null;
}

const OPEN_APPLIED = statement(
  'audit.applied',
  // One sort of everything, then page after page of it: no index leads to flight_message by message.
  `declare applied_messages no scroll cursor for
   select m.msg_id as "msgId", array_agg(m.flid) as flids,
     max(coalesce(p.profile_hash, h.profile_hash)) as "profileHash"
   from flight_message m
   left join proc_state p on p.msg_id = m.msg_id
   left join proc_state_hst h on h.msg_id = m.msg_id
   where coalesce(p.state, h.state) = 'SUCCEEDED'
   group by m.msg_id order by m.msg_id`,
);
const CLOSE_APPLIED = statement('audit.applied.close', 'close applied_messages');

/** SUCCEEDED messages and the flights they were applied to, page by page in ID order (invariant 7). Needs a transaction. */
export async function* appliedMessages(
  tx: Queryable,
  page: number,
): AsyncGenerator<readonly AppliedMessage[]> {
  const next = statement(`audit.applied.next.${String(page)}`, `fetch ${String(page)} from applied_messages`);
  await tx.query(OPEN_APPLIED);
  for (;;) {
    const rows = await tx.query<AppliedMessage>(next);
    if (rows.length > 0) yield rows;
    if (rows.length < page) break;
  }
  await tx.query(CLOSE_APPLIED);
}

export interface StoredFlight {
  readonly flid: string;
  readonly deleted: boolean;
  readonly operationDay: string;
  readonly state: Record<string, unknown>;
  readonly stamps: Record<string, unknown>;
  readonly archived: boolean;
}

const STORED = statement(
  'audit.stored',
  // A late message takes a flight out of the archive as it is, with the deletion that the archive has told.
  `select flid, deleted, operation_day as "operationDay", state, stamps, archived from (
     select flid, deleted, operation_day, state, stamps,
       exists (select from archive_tombstone t where t.flid = f.flid and t.version = f.version) as archived
     from flight_schd f
     union all
     select flid, deleted, operation_day, state, stamps, true from flight_schd_hst h
     where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ) flights where flid > $1 order by flid limit $2`,
);

/** Flights as stored, archived ones too, by FLID after a place (invariant 7). */
export async function storedAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<readonly StoredFlight[]> {
  return db.query<StoredFlight>(STORED, [after, limit]);
}
