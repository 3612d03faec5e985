/** The outbox rows of KAFKA:schd (seed §8.2): one row per flight that says which version is to be told. */
import type { JsonObject } from '../domain/json.ts';
import { chunksOf } from './chunks.ts';
import { bigintArray, integerArray, textArray } from './arrays.ts';
import { statement, type Placeholder, type Queryable } from './statement.ts';
import type { RefusedEvent } from './msg-event.ts';

/** That a flight has a state to be told. */
export interface LatestState {
  readonly flid: string;
  readonly eventType: 'UPSERT' | 'TOMBSTONE';
  readonly stateVersion: number;
  /** The causing message; null where none did. */
  readonly msgId: bigint | null;
}

/**
 * Notes the newest version of flights as untold; 5 parameters. msg_event_schd. Only forward: an older version never
 * replaces a newer one. The age of what is still pending counts from its first untold change. In the order of
 * `schdEvent.lock`.
 */
export const upsertStates = ($: Placeholder): string =>
  `insert into msg_event (target, partition_key, event_type, state_version, msg_id, created_at)
   select 'KAFKA:schd', flid, event_type, state_version, msg_id, ${$(1)}::timestamptz
   from (select unnest(${$(2)}::text[]) as flid, unnest(${$(3)}::text[]) as event_type,
     unnest(${$(4)}::integer[]) as state_version, unnest(${$(5)}::bigint[]) as msg_id) latest
   order by flid collate "C"
   on conflict (partition_key) where target = 'KAFKA:schd' do update
   set event_type = excluded.event_type, state_version = excluded.state_version, msg_id = excluded.msg_id,
     state = 'PENDING', attempts = 0, next_attempt_at = null, last_error = null,
     created_at = case when msg_event.state = 'PENDING' then msg_event.created_at else excluded.created_at end
   where excluded.state_version >= msg_event.state_version`;

/** Parameters of {@link upsertStates}. */
export function stateValues(states: readonly LatestState[], createdAt: string): readonly unknown[] {
  return [
    createdAt,
    textArray(states.map(({ flid }) => flid)),
    textArray(states.map(({ eventType }) => eventType)),
    integerArray(states.map(({ stateVersion }) => stateVersion)),
    bigintArray(states.map(({ msgId }) => msgId)),
  ];
}

/** Through all parts in one order, that of `schdEvent.lock`. */
export function inLockOrder(states: readonly LatestState[]): readonly LatestState[] {
  return [...states].sort((a, b) => (a.flid < b.flid ? -1 : 1));
}

const UPSERT = statement(
  'schdEvent.upsert',
  upsertStates((place) => `$${place}`),
);

/**
 * Notes the newest version of flights as untold; attempts start anew, also after DEAD. One entry per flight.
 * Belongs in the transaction that changes the flights.
 */
export async function upsertLatestStates(
  tx: Queryable,
  states: readonly LatestState[],
  createdAt: string,
): Promise<void> {
  for (const part of chunksOf(inLockOrder(states))) await tx.query(UPSERT, stateValues(part, createdAt));
}

/** A due row with the flight as it is now. */
export interface ClaimedLatestState {
  /** The row. */
  readonly eventId: bigint;
  /** The fresh ID of this send. */
  readonly sendId: bigint;
  readonly flid: string;
  /** Version of the row when it was read: the mark is conditional on it. */
  readonly stateVersion: number;
  readonly attempts: number;
  readonly createdAt: string;
  /** Whether it had a time to wait for: refused before, or told again on demand. */
  readonly waited: boolean;
  /** The flight, or null where flight_schd has none. */
  readonly flight: {
    readonly version: number;
    readonly operationDay: string;
    readonly deleted: boolean;
    readonly updatedAt: string;
    readonly state: JsonObject;
  } | null;
}

interface ClaimRow extends Omit<ClaimedLatestState, 'flight'> {
  readonly version: number | null;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly updatedAt: string;
  readonly state: JsonObject;
}

const PENDING = `select event_id, partition_key, state_version, attempts, created_at, next_attempt_at from msg_event
       where target = 'KAFKA:schd' and state = 'PENDING'`;
const CLAIM = statement(
  'schdEvent.claim',
  // What was never tried by msg_event_pending, what waits by msg_event_waiting, each in the index's order up to the limit;
  // then flight_schd by primary key: row and state are of one snapshot. Lateral with `offset 0`, because the planner does
  // not know the limit and would hash the whole table.
  `select e.event_id as "eventId", nextval(pg_get_serial_sequence('msg_event', 'event_id')) as "sendId",
     e.partition_key as flid, e.state_version as "stateVersion", e.attempts, e.created_at as "createdAt",
     e.next_attempt_at is not null as waited,
     f.version, f.operation_day as "operationDay", f.deleted, f.updated_at as "updatedAt", f.state
   from (
     select * from (
       (${PENDING} and next_attempt_at is null order by event_id limit $2)
       union all
       (${PENDING} and next_attempt_at <= $1 order by partition_key limit $2)
     ) due order by next_attempt_at is not null, event_id limit $2
   ) e left join lateral (
     select version, operation_day, deleted, updated_at, state from flight_schd where flid = e.partition_key offset 0
   ) f on true
   order by waited, e.event_id`,
);

/**
 * The due rows with the newest state of their flights: changes first, oldest first; then, up to the limit, what
 * waited for its time: refused states and those that an operator wants to be told again.
 */
export async function claimLatestStates(
  db: Queryable,
  now: string,
  limit: number,
): Promise<readonly ClaimedLatestState[]> {
  const rows = await db.query<ClaimRow>(CLAIM, [now, limit]);
  return rows.map(({ version, operationDay, deleted, updatedAt, state, ...row }) => ({
    ...row,
    flight: version === null ? null : { version, operationDay, deleted, updatedAt, state },
  }));
}

const LOCK = statement(
  'schdEvent.lock',
  // Primary key. Pump and delivery write the same rows at the same time: both take them in the order of their keys,
  // or each could wait for the other.
  `select from msg_event where event_id = any ($1::bigint[]) order by partition_key collate "C"
   for no key update`,
);

/** Takes rows that are about to be recorded, all at once; belongs before the writes of the transaction. */
export async function lockLatestStates(tx: Queryable, eventIds: readonly bigint[]): Promise<void> {
  if (eventIds.length > 0) await tx.query(LOCK, [eventIds]);
}

const MARK_SENT = statement(
  'schdEvent.sent',
  // Primary key; the version read is part of the expected state (seed §8.2).
  `update msg_event e set state = 'SENT', sent_at = $3, next_attempt_at = null
   from unnest($1::bigint[], $2::integer[]) as sent (event_id, state_version)
   where e.event_id = sent.event_id and e.state = 'PENDING' and e.state_version = sent.state_version
   returning e.event_id as "eventId"`,
);

/** Records what was told; a row overtaken by a newer version since stays pending. Gives the rows recorded. */
export async function markLatestStatesSent(
  tx: Queryable,
  sent: readonly Pick<ClaimedLatestState, 'eventId' | 'stateVersion'>[],
  sentAt: string,
): Promise<ReadonlySet<bigint>> {
  if (sent.length === 0) return new Set();
  const rows = await tx.query<{ eventId: bigint }>(MARK_SENT, [
    sent.map(({ eventId }) => eventId),
    sent.map(({ stateVersion }) => stateVersion),
    sentAt,
  ]);
  return new Set(rows.map(({ eventId }) => eventId));
}

const REFUSE = statement(
  'schdEvent.refuse',
  // Primary key; version and attempts are part of the expected state.
  `update msg_event e set attempts = r.attempts, next_attempt_at = r.next_attempt_at, last_error = r.reason,
     state = case when r.next_attempt_at is null then 'DEAD' else 'PENDING' end
   from unnest($1::bigint[], $2::integer[], $3::timestamptz[], $4::text[], $5::integer[])
     as r (event_id, attempts, next_attempt_at, reason, state_version)
   where e.event_id = r.event_id and e.state = 'PENDING' and e.attempts = r.attempts - 1
     and e.state_version = r.state_version`,
);

/** Charges an attempt to each row that still stands at the version read. */
export async function refuseLatestStates(
  tx: Queryable,
  refused: readonly (RefusedEvent & { readonly stateVersion: number })[],
): Promise<void> {
  if (refused.length === 0) return;
  await tx.query(REFUSE, [
    refused.map(({ eventId }) => eventId),
    refused.map(({ attempts }) => attempts),
    refused.map(({ nextAttemptAt }) => nextAttemptAt),
    refused.map(({ reason }) => reason),
    refused.map(({ stateVersion }) => stateVersion),
  ]);
}
