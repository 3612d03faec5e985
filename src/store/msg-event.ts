/** The outbox rows of KAFKA:msg (seed §1 MSG_EVENT, §8.1): one event per flight and message, in EVENT_ID order. */
import { chunksOf } from './chunks.ts';
import { bigintArray, integerArray, textArray } from './arrays.ts';
import { statement, type Placeholder, type Queryable } from './statement.ts';

/** A new event. Its body is the published value without `eventId`, as compact JSON text in published order. */
export interface NewMessageEvent {
  readonly flid: string;
  readonly eventType: 'UPSERT' | 'TOMBSTONE';
  readonly stateVersion: number;
  /** The causing message; null where none did. */
  readonly msgId: bigint | null;
  readonly body: string;
}

/** Inserts events; 6 parameters. The order by decides the order of the assigned IDs. */
export const insertEvents = ($: Placeholder): string =>
  `insert into msg_event (target, partition_key, event_type, state_version, msg_id, created_at, body)
   select 'KAFKA:msg', flid, event_type, state_version, msg_id, ${$(1)}::timestamptz, body::json
   from (select unnest(${$(2)}::text[]) as flid, unnest(${$(3)}::text[]) as event_type,
     unnest(${$(4)}::integer[]) as state_version, unnest(${$(5)}::bigint[]) as msg_id, unnest(${$(6)}::text[]) as body,
     generate_subscripts(${$(2)}::text[], 1) as place) events
   order by place`;

/** Parameters of {@link insertEvents}. */
export function eventValues(events: readonly NewMessageEvent[], createdAt: string): readonly unknown[] {
  return [
    createdAt,
    textArray(events.map(({ flid }) => flid)),
    textArray(events.map(({ eventType }) => eventType)),
    integerArray(events.map(({ stateVersion }) => stateVersion)),
    bigintArray(events.map(({ msgId }) => msgId)),
    textArray(events.map(({ body }) => body)),
  ];
}

const INSERT = statement(
  'msgEvent.insert',
  insertEvents((place) => `$${place}`),
);

/** Inserts events; their IDs ascend in the given order. Belongs in the transaction that changes the flights. */
export async function insertMessageEvents(
  tx: Queryable,
  events: readonly NewMessageEvent[],
  createdAt: string,
): Promise<void> {
  for (const part of chunksOf(events)) await tx.query(INSERT, eventValues(part, createdAt));
}

/** A pending event as the dispatcher takes it. */
export interface ClaimedMessageEvent {
  readonly eventId: bigint;
  readonly flid: string;
  readonly eventType: 'UPSERT' | 'TOMBSTONE';
  readonly attempts: number;
  /** JSON text as it was stored. */
  readonly body: string;
  /** When the causing message was enqueued; null where there is none or it has been archived. */
  readonly enqueuedAt: string | null;
}

const CLAIM = statement(
  'msgEvent.claim',
  // msg_event_pending gives the order, so that the scan stops at the limit; msg_event_waiting (few rows) is
  // probed once per row. `offset 0` keeps the planner from turning the probe into a join of everything pending,
  // which would read and sort the whole backlog. proc_state by primary key.
  `select e.event_id as "eventId", e.partition_key as flid, e.event_type as "eventType", e.attempts,
     e.body::text as body,
     (select enqueued_at from proc_state p where p.msg_id = e.msg_id) as "enqueuedAt"
   from (
     select event_id, partition_key, event_type, attempts, msg_id, body from msg_event pending
     where target = 'KAFKA:msg' and state = 'PENDING'
       and not exists (
         select from msg_event waiting
         where waiting.target = 'KAFKA:msg' and waiting.state = 'PENDING'
           and waiting.partition_key = pending.partition_key
           and waiting.next_attempt_at > $1 and waiting.event_id <= pending.event_id
         offset 0)
     order by event_id limit $2
   ) e
   order by e.event_id`,
);

/**
 * The first pending events, in EVENT_ID order, of flights none of whose earlier events waits for its next
 * attempt. The answer is one statement's snapshot: the frozen batch of seed §8.1.
 */
export async function claimMessageEvents(
  db: Queryable,
  now: string,
  limit: number,
): Promise<readonly ClaimedMessageEvent[]> {
  return db.query<ClaimedMessageEvent>(CLAIM, [now, limit]);
}

const MARK_SENT = statement(
  'msgEvent.sent',
  // Primary key.
  `update msg_event set state = 'SENT', sent_at = $2, next_attempt_at = null
   where event_id = any ($1::bigint[]) and state = 'PENDING'`,
);

/** Records that the target has accepted these events. */
export async function markMessageEventsSent(
  tx: Queryable,
  eventIds: readonly bigint[],
  sentAt: string,
): Promise<void> {
  if (eventIds.length > 0) await tx.query(MARK_SENT, [eventIds, sentAt]);
}

/** A charged attempt; `nextAttemptAt` null means that there is none: the event is DEAD and kept. */
export interface RefusedEvent {
  readonly eventId: bigint;
  /** Attempts including the one charged now. */
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly reason: string;
}

const REFUSE = statement(
  'msgEvent.refuse',
  // Primary key. `attempts` is part of the expected state: one refusal is charged once.
  `update msg_event e set attempts = r.attempts, next_attempt_at = r.next_attempt_at, last_error = r.reason,
     state = case when r.next_attempt_at is null then 'DEAD' else 'PENDING' end
   from unnest($1::bigint[], $2::integer[], $3::timestamptz[], $4::text[])
     as r (event_id, attempts, next_attempt_at, reason)
   where e.event_id = r.event_id and e.state = 'PENDING' and e.attempts = r.attempts - 1`,
);

/** Charges an attempt to each of these events and sets when it is tried again, or that it is DEAD. */
export async function refuseMessageEvents(tx: Queryable, refused: readonly RefusedEvent[]): Promise<void> {
  if (refused.length === 0) return;
  await tx.query(REFUSE, [
    refused.map(({ eventId }) => eventId),
    refused.map(({ attempts }) => attempts),
    refused.map(({ nextAttemptAt }) => nextAttemptAt),
    refused.map(({ reason }) => reason),
  ]);
}

const NEXT_ATTEMPT = statement(
  'msgEvent.nextAttempt',
  // msg_event_waiting, index only: few rows.
  `select min(next_attempt_at) as at from msg_event
   where target = $1 and state = 'PENDING' and next_attempt_at is not null`,
);

/** When the next waiting event of a target is due; null where none waits. */
export async function nextEventAttempt(
  db: Queryable,
  target: 'KAFKA:msg' | 'KAFKA:schd',
): Promise<string | null> {
  return (await db.query<{ at: string | null }>(NEXT_ATTEMPT, [target]))[0]?.at ?? null;
}
