/** Events that wait in the outbox, as people look at them. */
import { statement, type Queryable } from './statement.ts';

/** An event that is not sent yet. */
export interface PendingEvent {
  readonly eventId: bigint;
  readonly target: 'KAFKA:msg' | 'KAFKA:schd';
  readonly flid: string;
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly version: number;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastError: string | null;
  readonly msgId: bigint | null;
  readonly createdAt: string;
}

const SELECT_PENDING = statement(
  'browseOutbox.pending',
  // msg_event_pending, a target at a time.
  `select event_id as "eventId", target, partition_key as flid, event_type as type, state_version as version, attempts,
     next_attempt_at as "nextAttemptAt", last_error as "lastError", msg_id as "msgId", created_at as "createdAt"
   from msg_event
   where state = 'PENDING' and target = $1 and event_id > $2 and ($3::text is null or partition_key = $3)
   order by event_id limit $4`,
);

/** Events of a target above an ID that wait, in the order of their IDs, which is that of delivery. */
export async function selectPendingEvents(
  db: Queryable,
  { target, flid }: { readonly target: PendingEvent['target']; readonly flid: string | null },
  after: bigint,
  limit: number,
): Promise<readonly PendingEvent[]> {
  return db.query<PendingEvent>(SELECT_PENDING, [target, after, flid, limit]);
}
