/** The outbox rows that delivery gave up (seed §8.1, DLQ), and what operators make of them. */
import type { Json } from '../domain/json.ts';
import { statement, type Queryable } from './statement.ts';

/** A dead event, with what tells whether a retry would come behind newer versions. */
export interface DeadEvent {
  readonly eventId: bigint;
  readonly target: 'KAFKA:msg' | 'KAFKA:schd';
  readonly flid: string;
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly version: number;
  readonly state: 'PENDING' | 'SENT' | 'DEAD' | 'DROPPED';
  readonly attempts: number;
  readonly lastError: string | null;
  readonly msgId: bigint | null;
  readonly createdAt: string;
  /** Version that the flight has now; null where it is not known any more. */
  readonly flightVersion: number | null;
  /** Later versions that have not been delivered, ascending. */
  readonly unsent: readonly number[];
}

const SELECT_IDS = statement(
  'deadEvent.ids',
  // msg_event_dead.
  `select event_id as "eventId" from msg_event
   where state = 'DEAD' and event_id > $1 and ($3::text is null or target = $3)
     and ($4::text is null or partition_key = $4)
   order by event_id limit $2`,
);

/** Which dead events; all where nothing is said. */
export interface DeadEventFilter {
  readonly target?: DeadEvent['target'] | null;
  readonly flid?: string | null;
}

/** IDs of dead events above one, ascending. */
export async function selectDeadEventIds(
  db: Queryable,
  after: bigint,
  limit: number,
  { target = null, flid = null }: DeadEventFilter = {},
): Promise<readonly bigint[]> {
  const rows = await db.query<{ eventId: bigint }>(SELECT_IDS, [after, limit, target, flid]);
  return rows.map(({ eventId }) => eventId);
}

const SELECT = statement(
  'deadEvent.select',
  // The events and their flights by primary key. What of a flight was not delivered: by msg_event_pending and
  // msg_event_dead; dropped ones through their audit rows, because no index leads to them. All others up to the
  // flight's version were sent, whether retention has left them or not.
  `with named as materialized (
     select event_id, target, partition_key, event_type, state_version, state, attempts, last_error, msg_id, created_at
     from msg_event where event_id = any ($1::bigint[])
   ),
   unsent as materialized (
     select partition_key, state_version from msg_event
     where target = 'KAFKA:msg' and state = 'PENDING' and partition_key in (select partition_key from named)
     union all
     select partition_key, state_version from msg_event
     where target = 'KAFKA:msg' and state = 'DEAD' and partition_key in (select partition_key from named)
     union all
     select e.partition_key, e.state_version from op_audit a
     join msg_event e on e.event_id = case when a.target ~ '^event:[0-9]{1,18}$' then substr(a.target, 7)::bigint end
     where a.action = 'drop' and e.target = 'KAFKA:msg' and e.state = 'DROPPED'
       and e.partition_key in (select partition_key from named)
   )
   select n.event_id as "eventId", n.target, n.partition_key as flid, n.event_type as type,
     n.state_version as version, n.state, n.attempts, n.last_error as "lastError", n.msg_id as "msgId",
     n.created_at as "createdAt",
     coalesce((select version from flight_schd f where f.flid = n.partition_key),
       (select version from flight_schd_hst h where h.flid = n.partition_key)) as "flightVersion",
     array(select u.state_version from unsent u
       where u.partition_key = n.partition_key and u.state_version > n.state_version order by 1) as unsent
   from named n order by n.event_id`,
);

/** Events by ID, ascending, in whatever state they are. */
export async function selectEvents(
  db: Queryable,
  eventIds: readonly bigint[],
): Promise<readonly DeadEvent[]> {
  return eventIds.length === 0 ? [] : db.query<DeadEvent>(SELECT, [eventIds]);
}

const SELECT_BODY = statement('deadEvent.body', `select body from msg_event where event_id = $1`);

/** What an event says, without `eventId`; null for a newest state, which is read when it is sent. */
export async function selectEventBody(db: Queryable, eventId: bigint): Promise<Json> {
  return (await db.query<{ body: Json }>(SELECT_BODY, [eventId]))[0]?.body ?? null;
}

const RETRY = statement(
  'deadEvent.retry',
  // Primary key; the version is part of the expected state: a newest state may have become another meanwhile.
  `update msg_event e set state = 'PENDING', attempts = 0, next_attempt_at = null, last_error = null
   from unnest($1::bigint[], $2::integer[]) as n (event_id, state_version)
   where e.event_id = n.event_id and e.state = 'DEAD' and e.state_version = n.state_version
   returning e.event_id as "eventId"`,
);
const DROP = statement(
  'deadEvent.drop',
  // Primary key. The row stays, with its error.
  `update msg_event e set state = 'DROPPED', next_attempt_at = null
   from unnest($1::bigint[], $2::integer[]) as n (event_id, state_version)
   where e.event_id = n.event_id and e.state = 'DEAD' and e.state_version = n.state_version
   returning e.event_id as "eventId"`,
);

/** Makes dead events pending again, with all attempts before them, or DROPPED; gives those that still were dead. */
export async function settleDeadEvents(
  tx: Queryable,
  change: 'retry' | 'drop',
  events: readonly Pick<DeadEvent, 'eventId' | 'version'>[],
): Promise<ReadonlySet<bigint>> {
  if (events.length === 0) return new Set();
  const rows = await tx.query<{ eventId: bigint }>(change === 'retry' ? RETRY : DROP, [
    events.map(({ eventId }) => eventId),
    events.map(({ version }) => version),
  ]);
  return new Set(rows.map(({ eventId }) => eventId));
}
