/**
 * Requests to the upstream (seed §1 REQ_TRACK): registered by operators, the service and the pump, sent by the
 * coordinator, answered in the transaction that applies the answer. Every change names the expected state.
 */
import type { Answer, OpenRequest } from '../domain/request.ts';
import { statement, type Queryable } from './statement.ts';
import { ATTEMPT_COLUMNS, attemptOf, nextSequence, type Attempt, type AttemptColumns } from './outbound.ts';
import { toTimestamp } from './time.ts';

/** Of which there is one open request at a time. */
export interface RequestKey {
  /** `SCHD` or a reference type. */
  readonly rtype: string;
  /** yyyy-MM-dd; null for reference data. */
  readonly operationDay: string | null;
  readonly sender: string;
}

/** Who asks, and when (ms). */
export interface Registrant {
  readonly by: string;
  readonly now: number;
}

export const REQUEST_STATES = ['PENDING', 'SENT', 'DONE', 'EXPIRED'] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

const KEY = `rtype = $1 and coalesce(operation_day, '-infinity') = coalesce($2::date, '-infinity') and sender = $3
     and state in ('PENDING', 'SENT')`;

const REPLACE = statement(
  'reqTrack.replace',
  // req_track_open.
  `update req_track set state = 'EXPIRED', expired_at = $4, expired_because = 'replaced'
   where ${KEY} returning req_id as "reqId"`,
);
const REGISTER = statement(
  'reqTrack.register',
  // req_track_open: waits for a registration of the same key that is under way.
  `insert into req_track (rtype, operation_day, sender, requested_at, requested_by) values ($1, $2, $3, $4, $5)
   on conflict do nothing returning req_id as "reqId"`,
);

/**
 * Registers a request; older open ones of its key are EXPIRED in the same transaction. Gives the new one and those.
 * A transaction registers one key only where it holds nothing else: two at once then never wait for each other.
 */
export async function registerRequest(
  tx: Queryable,
  { rtype, operationDay, sender }: RequestKey,
  { by, now }: Registrant,
): Promise<{ readonly reqId: bigint; readonly replaced: readonly bigint[] }> {
  const replaced: bigint[] = [];
  for (;;) {
    const at = toTimestamp(now);
    const older = await tx.query<{ reqId: bigint }>(REPLACE, [rtype, operationDay, sender, at]);
    replaced.push(...older.map(({ reqId }) => reqId));
    const [row] = await tx.query<{ reqId: bigint }>(REGISTER, [rtype, operationDay, sender, at, by]);
    // Somebody registered the same in between and has committed: theirs is the older one now.
    if (row !== undefined) return { reqId: row.reqId, replaced };
  }
}

const SELECT_OPEN_OF = statement(
  'reqTrack.openOf',
  // req_track_open.
  `select req_id as "reqId" from req_track where ${KEY} order by req_id`,
);

/** Open requests of a key, at most one: what a new one would replace. */
export async function selectOpenOf(
  db: Queryable,
  { rtype, operationDay, sender }: RequestKey,
): Promise<readonly bigint[]> {
  const rows = await db.query<{ reqId: bigint }>(SELECT_OPEN_OF, [rtype, operationDay, sender]);
  return rows.map(({ reqId }) => reqId);
}

/** Registers requests for keys that have no open one. */
export async function registerWhereNone(
  tx: Queryable,
  keys: readonly RequestKey[],
  { by, now }: Registrant,
): Promise<void> {
  for (const { rtype, operationDay, sender } of keys) {
    await tx.query(REGISTER, [rtype, operationDay, sender, toTimestamp(now), by]);
  }
}

/** An open request as the pump meets it. */
export interface LockedRequest extends RequestKey, Omit<OpenRequest, 'sequence' | 'sentAt'> {
  /** Null where it was not tried yet, and so cannot have an answer. */
  readonly attempt: Attempt | null;
}

const LOCK_OPEN = statement(
  'reqTrack.lockOpen',
  // req_track_open holds exactly these rows: few.
  `select req_id as "reqId", rtype, operation_day as "operationDay", sender, ${ATTEMPT_COLUMNS}
   from req_track where state in ('PENDING', 'SENT') order by req_id for update`,
);

const SELECT_OPEN = statement(
  'reqTrack.open',
  // req_track_open, as above.
  `select req_id as "reqId", rtype, operation_day as "operationDay", sender, ${ATTEMPT_COLUMNS}
   from req_track where state in ('PENDING', 'SENT') order by req_id`,
);

/** The open requests that can have an answer, as they stand; nobody is kept from changing them. */
export async function selectAnswerable(db: Queryable): Promise<readonly OpenRequest[]> {
  type Row = RequestKey & AttemptColumns & { readonly reqId: bigint };
  return (await db.query<Row>(SELECT_OPEN)).flatMap((row) => {
    const attempt = attemptOf(row);
    const { reqId, rtype, operationDay } = row;
    return attempt === null
      ? []
      : [{ reqId, rtype, operationDay, sequence: attempt.sequence, sentAt: attempt.sentAt }];
  });
}

/** The open requests, locked until the transaction ends. */
export async function lockOpenRequests(tx: Queryable): Promise<readonly LockedRequest[]> {
  type Row = RequestKey & AttemptColumns & { readonly reqId: bigint };
  return (await tx.query<Row>(LOCK_OPEN)).map((row) => ({
    ...{ reqId: row.reqId, rtype: row.rtype, operationDay: row.operationDay, sender: row.sender },
    attempt: attemptOf(row),
  }));
}

const ANSWERED = statement(
  'reqTrack.answered',
  // Primary key. look_at stays: the row of one that was being written is still looked for.
  `update req_track r set state = 'DONE', done_at = $4, done_by = a.msg_id, matched = a.matched
   from unnest($1::bigint[], $2::bigint[], $3::text[]) as a (req_id, msg_id, matched)
   where r.req_id = a.req_id and r.state in ('PENDING', 'SENT')`,
);

/** An answer that was applied. */
export interface AppliedAnswer {
  readonly reqId: bigint;
  readonly msgId: bigint;
  readonly matched: Answer['matched'];
}

/** Closes the requests that messages have answered; the rows are locked by {@link lockOpenRequests}. */
export async function finishRequests(
  tx: Queryable,
  answers: readonly AppliedAnswer[],
  now: number,
): Promise<void> {
  if (answers.length === 0) return;
  await tx.query(ANSWERED, [
    answers.map(({ reqId }) => reqId),
    answers.map(({ msgId }) => msgId),
    answers.map(({ matched }) => matched),
    toTimestamp(now),
  ]);
}

/** A request that the coordinator has to do something for. */
export interface DueRequest {
  readonly reqId: bigint;
  readonly rtype: string;
  readonly operationDay: string | null;
  readonly sender: string;
  readonly state: RequestState;
  readonly attempts: number;
  readonly attempt: Attempt | null;
}

const SELECT_DUE = statement(
  'reqTrack.due',
  // req_track_due.
  `select req_id as "reqId", rtype, operation_day as "operationDay", sender, state, attempts, ${ATTEMPT_COLUMNS}
   from req_track
   where (state = 'PENDING' or look_at is not null) and (look_at is null or look_at <= $1)
   order by req_id limit $2`,
);

/** Requests to be sent, or to be looked for because the result of their insert is not known. */
export async function selectDueRequests(
  db: Queryable,
  now: number,
  limit: number,
): Promise<readonly DueRequest[]> {
  type Row = Omit<DueRequest, 'attempt'> & AttemptColumns;
  const rows = await db.query<Row>(SELECT_DUE, [toTimestamp(now), limit]);
  return rows.map((row) => ({
    ...{ reqId: row.reqId, rtype: row.rtype, operationDay: row.operationDay, sender: row.sender },
    ...{ state: row.state, attempts: row.attempts, attempt: attemptOf(row) },
  }));
}

const NOTE = statement(
  'reqTrack.note',
  // Primary key.
  `update req_track set seqn = coalesce(seqn, $2::integer), remembered_id = coalesce(remembered_id, $3), sent_at = $4,
     look_at = $5
   where req_id = $1 and state = 'PENDING' returning ${ATTEMPT_COLUMNS}`,
);

/** Notes that a request is about to be written; null where it is not PENDING any more. */
export async function noteRequest(
  tx: Queryable,
  request: Pick<DueRequest, 'reqId' | 'attempt'>,
  facts: { readonly rememberedId: bigint; readonly now: number; readonly lookAt: number },
): Promise<Attempt | null> {
  const sequence = request.attempt?.sequence ?? (await nextSequence(tx));
  const [row] = await tx.query<AttemptColumns>(NOTE, [
    ...[request.reqId, sequence, facts.rememberedId],
    ...[toTimestamp(facts.now), toTimestamp(facts.lookAt)],
  ]);
  return row === undefined ? null : attemptOf(row);
}

const CONFIRM = statement(
  'reqTrack.confirm',
  // Primary key. One that was answered or replaced meanwhile keeps its state and gets its outbound ID.
  `update req_track set out_id = $2, look_at = null,
     state = case when state = 'PENDING' then 'SENT' else state end,
     expires_at = sent_at + $3::bigint * interval '1 millisecond'
   where req_id = $1 and sent_at is not null and out_id is null`,
);

/** Records that a request is in COUTMSGS; it then waits for its answer until the timeout (ms) after its sending. */
export async function confirmRequest(
  tx: Queryable,
  reqId: bigint,
  outId: bigint,
  timeoutMs: number,
): Promise<void> {
  await tx.query(CONFIRM, [reqId, outId, timeoutMs]);
}

const FORGET = statement(
  'reqTrack.forget',
  // Primary key.
  `update req_track set look_at = null where req_id = $1 and state in ('DONE', 'EXPIRED')`,
);

/** Ends the search for a closed request that is not in COUTMSGS. */
export async function forgetRequest(tx: Queryable, reqId: bigint): Promise<void> {
  await tx.query(FORGET, [reqId]);
}

const POSTPONE = statement(
  'reqTrack.postpone',
  // Primary key.
  `update req_track set attempts = attempts + 1, look_at = $2 where req_id = $1 and out_id is null`,
);

/** Charges a request with a try that the mailbox refused, and sets when it is tried again. */
export async function postponeRequest(tx: Queryable, reqId: bigint, lookAt: number): Promise<void> {
  await tx.query(POSTPONE, [reqId, toTimestamp(lookAt)]);
}

const OVERDUE = statement(
  'reqTrack.overdue',
  // req_track_open holds what is open: few.
  `select 1 from req_track where state = 'SENT' and expires_at <= $1 limit 1`,
);

/** Whether a request has waited for its answer too long. */
export async function hasOverdue(db: Queryable, now: number): Promise<boolean> {
  return (await db.query(OVERDUE, [toTimestamp(now)])).length > 0;
}

const EXPIRE = statement(
  'reqTrack.expire',
  // req_track_open holds what is open: few.
  `update req_track set state = 'EXPIRED', expired_at = $1, expired_because = 'timeout'
   where state = 'SENT' and expires_at <= $1
   returning req_id as "reqId", rtype, operation_day as "operationDay"`,
);

/** Expires what has waited for its answer too long; gives what it expired. */
export async function expireRequests(
  tx: Queryable,
  now: number,
): Promise<
  readonly { readonly reqId: bigint; readonly rtype: string; readonly operationDay: string | null }[]
> {
  return tx.query(EXPIRE, [toTimestamp(now)]);
}

const REGISTERED_SINCE = statement(
  'reqTrack.registeredSince',
  // Primary key, from the newest: requests are few, and the one looked for is among the newest.
  `select 1 from req_track
   where rtype = $1 and operation_day = $2 and requested_by = $3 and requested_at >= $4
   order by req_id desc limit 1`,
);

/** Whether a schedule request of a day was registered by somebody since a moment (ms). */
export async function wasRegisteredSince(
  db: Queryable,
  { rtype, operationDay }: Pick<RequestKey, 'rtype' | 'operationDay'>,
  by: string,
  since: number,
): Promise<boolean> {
  return (await db.query(REGISTERED_SINCE, [rtype, operationDay, by, toTimestamp(since)])).length > 0;
}

/** A request as listed; times as the driver gives them. */
export interface RequestRow extends RequestKey {
  readonly reqId: bigint;
  readonly state: RequestState;
  readonly requestedAt: string;
  readonly requestedBy: string;
  readonly seqn: number | null;
  readonly sentAt: string | null;
  readonly outId: bigint | null;
  readonly expiresAt: string | null;
  readonly doneAt: string | null;
  readonly doneBy: bigint | null;
  readonly matched: Answer['matched'] | null;
  readonly expiredAt: string | null;
  readonly expiredBecause: 'timeout' | 'replaced' | null;
}

const SELECT = statement(
  'reqTrack.select',
  // Primary key, from the newest.
  `select req_id as "reqId", rtype, operation_day as "operationDay", sender, state, requested_at as "requestedAt",
     requested_by as "requestedBy", seqn, sent_at as "sentAt", out_id as "outId", expires_at as "expiresAt",
     done_at as "doneAt", done_by as "doneBy", matched, expired_at as "expiredAt", expired_because as "expiredBecause"
   from req_track where req_id < $1 and state = any($3) order by req_id desc limit $2`,
);

/** Requests below an ID in any of some states, newest first. */
export async function selectRequests(
  db: Queryable,
  { below, limit, states }: { below: bigint; limit: number; states: readonly RequestState[] },
): Promise<readonly RequestRow[]> {
  return db.query<RequestRow>(SELECT, [below, limit, states]);
}

const COUNT = statement(
  'reqTrack.count',
  // A scan; some rows a day.
  `select state, count(*)::integer as requests from req_track group by state`,
);

/** Requests by state; every state is there. */
export async function countRequests(db: Queryable): Promise<Readonly<Record<RequestState, number>>> {
  const counts = { PENDING: 0, SENT: 0, DONE: 0, EXPIRED: 0 };
  for (const { state, requests } of await db.query<{ state: RequestState; requests: number }>(COUNT)) {
    counts[state] = requests;
  }
  return counts;
}
