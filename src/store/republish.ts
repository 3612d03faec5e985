/** Telling current states again (contract, `republish`): rows of KAFKA:schd are made pending anew. */
import { statement, type Queryable } from './statement.ts';

/** Which flights: one, those of an operation day, or all that flight_schd holds, deleted ones too. */
export type RepublishScope =
  | { readonly kind: 'flight'; readonly flid: string }
  /** YYYY-MM-DD. */
  | { readonly kind: 'day'; readonly day: string }
  | { readonly kind: 'all' };

/** A flight in scope and how its row of the outbox stands; null where there is none. */
export interface RepublishCandidate {
  readonly flid: string;
  readonly deleted: boolean;
  readonly state: 'PENDING' | 'SENT' | 'DEAD' | 'DROPPED' | null;
}

const CANDIDATES = statement(
  'republish.candidates',
  // flight_schd by primary key, by flight_schd_day, or whole; msg_event_schd.
  `select f.flid, f.deleted, e.state from flight_schd f
   left join msg_event e on e.partition_key = f.flid and e.target = 'KAFKA:schd'
   where ($1::text is null or f.flid = $1) and ($2::date is null or f.operation_day = $2)`,
);

/** The flights in scope, in the order in which pump and delivery take their rows. */
export async function selectRepublishCandidates(
  db: Queryable,
  scope: RepublishScope,
): Promise<readonly RepublishCandidate[]> {
  const rows = await db.query<RepublishCandidate>(CANDIDATES, [
    scope.kind === 'flight' ? scope.flid : null,
    scope.kind === 'day' ? scope.day : null,
  ]);
  return rows.toSorted((left, right) => (left.flid < right.flid ? -1 : 1));
}

const REARM = statement(
  'republish.rearm',
  // flight_schd by primary key, msg_event_schd; in the order of `schdEvent.lock`. Only forward, and only what is not
  // pending anyway: a change meanwhile has made it so with the newest version. A time to wait for, and no attempt, say
  // that an operator wants it (audit.unaudited) and that changes go first (schdEvent.claim).
  `insert into msg_event
     (target, partition_key, event_type, state_version, msg_id, created_at, next_attempt_at)
   select 'KAFKA:schd', flid, case when deleted then 'TOMBSTONE' else 'UPSERT' end, version, last_msg_id, $2, $2
   from flight_schd where flid = any ($1::text[])
   order by flid collate "C"
   on conflict (partition_key) where target = 'KAFKA:schd' do update
   set event_type = excluded.event_type, state_version = excluded.state_version, msg_id = excluded.msg_id,
     state = 'PENDING', attempts = 0, next_attempt_at = excluded.next_attempt_at, last_error = null,
     created_at = excluded.created_at
   where msg_event.state <> 'PENDING' and excluded.state_version >= msg_event.state_version
   returning partition_key`,
);

/** Makes the rows of these flights pending, from the flights as they are now; gives how many were not so already. */
export async function rearmLatestStates(
  tx: Queryable,
  flids: readonly string[],
  now: string,
): Promise<number> {
  return (await tx.query(REARM, [flids, now])).length;
}
