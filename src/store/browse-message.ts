/** One message as people look at it: its record, what it changed, its events, its duplicates, its report. */
import type { JsonObject } from '../domain/json.ts';
import { duplicateOf } from '../domain/reasons.ts';
import { EVENT_COLUMNS, type EventRow } from './browse.ts';
import { LIST_COLUMNS, type MessageRow } from './browse-messages.ts';
import { statement, type Queryable } from './statement.ts';

/** The whole record. */
export interface FullMessageRow extends MessageRow {
  readonly identity: string | null;
  readonly terminalSeq: bigint | null;
  readonly markedAtIntake: boolean;
  readonly detail: JsonObject | null;
  readonly profileHash: string | null;
  readonly backfillAttempts: number;
  readonly abandonedReason: string | null;
  readonly confirmedBy: string | null;
  readonly archivedAt: string | null;
  /** Length of the kept text in bytes; null where none is kept. */
  readonly bytes: bigint | null;
  /** Whether the text itself is kept, and not its length alone. */
  readonly hasText: boolean;
  readonly sha256: string | null;
  /** State of the report to the upstream; null where none is owed. */
  readonly report: 'PENDING' | 'SENT' | null;
}

const columns = (archivedAt: string): string => `${LIST_COLUMNS}, identity_key as identity,
  terminal_seq as "terminalSeq", marked_at_intake as "markedAtIntake", detail, profile_hash as "profileHash",
  backfill_attempts as "backfillAttempts", backfill_abandoned_reason as "abandonedReason",
  backfill_confirmed_by as "confirmedBy", ${archivedAt} as "archivedAt", ${archivedAt} is not null as archived`;

const SELECT = statement(
  'browseMessage.select',
  // Primary keys of proc_state, proc_state_hst, raw_message and error_report.
  `select m.*, r.bytes, r.body is not null as "hasText", encode(r.sha256, 'hex') as sha256, e.state as report
   from (
     select ${columns('null::timestamptz')} from proc_state where msg_id = $1
     union all
     select ${columns('archived_at')} from proc_state_hst where msg_id = $1
   ) m
   left join raw_message r on r.msg_id = m."msgId"
   left join error_report e on e.msg_id = m."msgId"`,
);

/** The record of a message, archived or not; null where there is none. */
export async function selectFullMessage(db: Queryable, msgId: bigint): Promise<FullMessageRow | null> {
  return (await db.query<FullMessageRow>(SELECT, [msgId]))[0] ?? null;
}

/** What a message did to a flight. */
export interface TouchedFlight {
  readonly flid: string;
  readonly flightNumber: string | null;
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
}

const SELECT_TOUCHED = statement(
  'browseMessage.touched',
  // flight_message_msg; flights by primary key.
  `select m.flid, f.flight_number as "flightNumber", m.state_version as "stateVersion", m.changed, m.superseded
   from (select * from flight_message where msg_id = $1 order by flid limit $2) m
   left join flight_schd f on f.flid = m.flid order by m.flid`,
);

/** The flights that a message touched, by FLID. */
export async function selectTouchedFlights(
  db: Queryable,
  msgId: bigint,
  limit: number,
): Promise<readonly TouchedFlight[]> {
  return db.query<TouchedFlight>(SELECT_TOUCHED, [msgId, limit]);
}

const SELECT_EVENTS = statement(
  'browseMessage.events',
  // msg_event_flight and msg_event_schd, a flight at a time.
  `select ${EVENT_COLUMNS} from msg_event
   where target = 'KAFKA:msg' and partition_key = any ($2::text[]) and msg_id = $1
   union all
   select event_id, target, partition_key, event_type, state_version, state, created_at, sent_at, msg_id, null, null
   from msg_event where target = 'KAFKA:schd' and partition_key = any ($2::text[]) and msg_id = $1
   order by target, 1 limit $3`,
);

/** The events that a message caused for some flights: those of KAFKA:msg first, each in the order of their making. */
export async function selectEventsOfMessage(
  db: Queryable,
  msgId: bigint,
  flids: readonly string[],
  limit: number,
): Promise<readonly EventRow[]> {
  return flids.length === 0 ? [] : db.query<EventRow>(SELECT_EVENTS, [msgId, flids, limit]);
}

/** A later message of the same identity. */
export interface Duplicate {
  readonly msgId: bigint;
  readonly reason: string;
  readonly terminalAt: string;
}

const SELECT_DUPLICATES = statement(
  'browseMessage.duplicates',
  // proc_state_duplicate and proc_state_hst_duplicate, whose predicate this repeats.
  `select msg_id as "msgId", reason, terminal_at as "terminalAt" from proc_state
   where state = 'SKIPPED' and reason like 'duplicate-of:%' and reason = any ($1::text[])
   union all
   select msg_id, reason, terminal_at from proc_state_hst
   where state = 'SKIPPED' and reason like 'duplicate-of:%' and reason = any ($1::text[])
   order by 1 limit $2`,
);

/** The duplicates of a message, ascending. */
export async function selectDuplicates(
  db: Queryable,
  msgId: bigint,
  limit: number,
): Promise<readonly Duplicate[]> {
  return db.query<Duplicate>(SELECT_DUPLICATES, [
    [duplicateOf(msgId, false), duplicateOf(msgId, true)],
    limit,
  ]);
}
