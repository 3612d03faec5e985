/** What the business digest is made of: flights, reference data and how messages ended. The statements scan. */
import { ALL_MESSAGES } from './audit-messages.ts';
import { statement, type Queryable } from './statement.ts';

const DIGEST_FLIGHTS = statement(
  'digest.flights',
  `select flid, version, operation_day as "operationDay", deleted, state from (
     select flid, version, operation_day, deleted, state from flight_schd
     union all
     select flid, version, operation_day, deleted, state from flight_schd_hst h
     where not exists (select 1 from flight_schd f where f.flid = h.flid)
   ) flights where flid > $1 order by flid limit $2`,
);

export interface DigestFlight {
  readonly flid: string;
  readonly version: number;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly state: Record<string, unknown>;
}

/** Flights for the digest, by FLID after a place. */
export async function digestFlightsAfter(
  db: Queryable,
  after: string,
  limit: number,
): Promise<readonly DigestFlight[]> {
  return db.query<DigestFlight>(DIGEST_FLIGHTS, [after, limit]);
}

const DIGEST_REFERENCE = statement(
  'digest.reference',
  // jsonb text has one canonical form; order and form depend on no setting of the server.
  `select md5(coalesce(string_agg(jsonb_build_array(rtype, rkey, active, body)::text, chr(10)
       order by rtype collate "C", rkey collate "C"), '')) as hash, count(*)::integer as rows from ref_master`,
);
const DIGEST_MESSAGES = statement(
  'digest.messages',
  `select md5(coalesce(string_agg(jsonb_build_array(msg_id, state, error_class, reason, last_error)::text, chr(10)
       order by msg_id), '')) as hash, count(*)::integer as rows from ${ALL_MESSAGES} p`,
);

/** Hashes of reference data and of the messages' outcomes. */
export async function digestParts(
  db: Queryable,
): Promise<{ reference: { hash: string; rows: number }; messages: { hash: string; rows: number } }> {
  const [reference] = await db.query<{ hash: string; rows: number }>(DIGEST_REFERENCE);
  const [messages] = await db.query<{ hash: string; rows: number }>(DIGEST_MESSAGES);
  return { reference: reference ?? { hash: '', rows: 0 }, messages: messages ?? { hash: '', rows: 0 } };
}
