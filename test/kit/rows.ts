/** What a pipeline leaves in the database, as plain comparable values; times and generated IDs left out. */
import type { TestDatabase } from './postgres.ts';

type Rows = readonly Record<string, unknown>[];

/** Everything that must be equal however messages were batched. */
export interface Outcome {
  readonly messages: Rows;
  readonly identities: Rows;
  readonly flights: Rows;
  readonly lineage: Rows;
  readonly reference: Rows;
  readonly referencePast: Rows;
  readonly floors: Rows;
  readonly events: Rows;
  readonly latest: Rows;
  readonly traces: Rows;
  readonly requests: Rows;
  readonly reports: Rows;
  readonly audits: Rows;
}

/** Reads the outcome. Events are in delivery order. */
export async function readOutcome({ client }: TestDatabase): Promise<Outcome> {
  const rows = async (sql: string): Promise<Rows> => (await client.query<Record<string, unknown>>(sql)).rows;
  return {
    messages: await rows(
      `select msg_id, type, styp, identity_key, state, attempts, error_class, last_error, reason, detail, shadow,
         profile_hash, terminal_at, backfill_next_at is not null as owed, next_attempt_at,
         rank() over (order by terminal_seq nulls last) as place
       from proc_state order by msg_id`,
    ),
    identities: await rows(
      `select identity_key, msg_id, encode(content_hash, 'hex') as hash from message_identity order by msg_id`,
    ),
    flights: await rows('select * from flight_schd order by flid'),
    lineage: await rows('select * from flight_message order by msg_id, flid'),
    reference: await rows('select * from ref_master order by rtype, rkey'),
    referencePast: await rows(
      'select rtype, rkey, msg_id, body, active from ref_history order by rtype, rkey, change_id',
    ),
    floors: await rows('select * from ref_floor order by rtype'),
    events: await rows(
      `select partition_key, event_type, state_version, state, attempts, msg_id, created_at, body
       from msg_event where target = 'KAFKA:msg' order by event_id`,
    ),
    latest: await rows(
      `select partition_key, event_type, state_version, state, attempts, msg_id, created_at
       from msg_event where target = 'KAFKA:schd' order by event_id`,
    ),
    traces: await rows(
      `select msg_id, styp, outcome, records, changed, scope_start, scope_end, recv_at from schd_snap_log order by msg_id`,
    ),
    requests: await rows(
      `select rtype, operation_day, sender, state, requested_at, requested_by, seqn, sent_at, look_at, out_id, done_at,
         done_by, matched, expired_because, rank() over (order by req_id) as place
       from req_track order by req_id`,
    ),
    reports: await rows('select * from error_report order by msg_id'),
    audits: await rows('select at, who, action, reason, before, after from op_audit order by audit_id'),
  };
}
