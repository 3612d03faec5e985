/** Reports of messages that ended DEAD(MALFORMED or PROTOCOL): one each, queued with the outcome (C-25). */
import { statement, type Queryable } from './statement.ts';
import { ATTEMPT_COLUMNS, attemptOf, nextSequence, type Attempt, type AttemptColumns } from './outbound.ts';
import { toMillisOrNull, toTimestamp } from './time.ts';

/** What a report says of its message; empty where it is not known. */
export interface ErrorReport {
  readonly msgId: bigint;
  /** Our SNDR. */
  readonly sender: string;
  readonly sequence: string;
  readonly type: string;
  readonly styp: string;
  readonly errorClass: 'MALFORMED' | 'PROTOCOL';
  /** One line. */
  readonly description: string;
}

const INSERT = statement(
  'errorReport.insert',
  // Primary key: a message that dies again after a replay was reported already.
  `insert into error_report (msg_id, sender, sequence, type, styp, error_class, description, registered_at)
   select *, $8::timestamptz
   from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
   on conflict do nothing`,
);

/** Queues reports. */
export async function insertReports(
  tx: Queryable,
  reports: readonly ErrorReport[],
  now: number,
): Promise<void> {
  if (reports.length === 0) return;
  await tx.query(INSERT, [
    reports.map(({ msgId }) => msgId),
    reports.map(({ sender }) => sender),
    reports.map(({ sequence }) => sequence),
    reports.map(({ type }) => type),
    reports.map(({ styp }) => styp),
    reports.map(({ errorClass }) => errorClass),
    reports.map(({ description }) => description),
    toTimestamp(now),
  ]);
}

/** A report to be sent, or to be looked for. */
export interface DueReport extends ErrorReport {
  readonly attempts: number;
  readonly attempt: Attempt | null;
}

const SELECT_DUE = statement(
  'errorReport.due',
  // error_report_pending.
  `select msg_id as "msgId", sender, sequence, type, styp, error_class as "errorClass", description, attempts,
     ${ATTEMPT_COLUMNS}
   from error_report where state = 'PENDING' and (look_at is null or look_at <= $1) 
   order by sent_at is null, msg_id limit $2`,
);

/** Reports due now: those tried already, then in the order of their messages. */
export async function selectDueReports(
  db: Queryable,
  now: number,
  limit: number,
): Promise<readonly DueReport[]> {
  const rows = await db.query<Omit<DueReport, 'attempt'> & AttemptColumns>(SELECT_DUE, [
    toTimestamp(now),
    limit,
  ]);
  return rows.map((row) => ({
    ...{ msgId: row.msgId, sender: row.sender, sequence: row.sequence, type: row.type, styp: row.styp },
    ...{ errorClass: row.errorClass, description: row.description, attempts: row.attempts },
    attempt: attemptOf(row),
  }));
}

const SENT_SINCE = statement(
  'errorReport.sentSince',
  // error_report_sent.
  `select count(*)::integer as reports, min(sent_at) as oldest from error_report where sent_at > $1`,
);

/** How many reports were tried since a moment (ms), and when the oldest of them was. */
export async function reportsSince(
  db: Queryable,
  since: number,
): Promise<{ readonly reports: number; readonly oldest: number | null }> {
  const [row] = await db.query<{ reports: number; oldest: string | null }>(SENT_SINCE, [toTimestamp(since)]);
  return { reports: row?.reports ?? 0, oldest: toMillisOrNull(row?.oldest ?? null) };
}

const NOTE = statement(
  'errorReport.note',
  // Primary key.
  `update error_report set seqn = coalesce(seqn, $2::integer), remembered_id = coalesce(remembered_id, $3),
     sent_at = $4, look_at = $5
   where msg_id = $1 and state = 'PENDING' returning ${ATTEMPT_COLUMNS}`,
);

/** Notes that a report is about to be written; null where it is SENT already. */
export async function noteReport(
  tx: Queryable,
  report: Pick<DueReport, 'msgId' | 'attempt'>,
  facts: { readonly rememberedId: bigint; readonly now: number; readonly lookAt: number },
): Promise<Attempt | null> {
  const sequence = report.attempt?.sequence ?? (await nextSequence(tx));
  const [row] = await tx.query<AttemptColumns>(NOTE, [
    ...[report.msgId, sequence, facts.rememberedId],
    ...[toTimestamp(facts.now), toTimestamp(facts.lookAt)],
  ]);
  return row === undefined ? null : attemptOf(row);
}

const CONFIRM = statement(
  'errorReport.confirm',
  // Primary key.
  `update error_report set state = 'SENT', out_id = $2, look_at = null where msg_id = $1 and state = 'PENDING'`,
);

/** Records that a report is in COUTMSGS. */
export async function confirmReport(tx: Queryable, msgId: bigint, outId: bigint): Promise<void> {
  await tx.query(CONFIRM, [msgId, outId]);
}

const POSTPONE = statement(
  'errorReport.postpone',
  // Primary key.
  `update error_report set attempts = attempts + 1, look_at = $2 where msg_id = $1 and state = 'PENDING'`,
);

/** Charges a report with a try that the mailbox refused, and sets when it is tried again. */
export async function postponeReport(tx: Queryable, msgId: bigint, lookAt: number): Promise<void> {
  await tx.query(POSTPONE, [msgId, toTimestamp(lookAt)]);
}

const COUNT = statement(
  'errorReport.count',
  // error_report_pending for those that wait; the rest is a scan of a table of dead messages.
  `select count(*) filter (where state = 'PENDING')::integer as waiting,
     count(*) filter (where state = 'SENT')::integer as sent from error_report`,
);

/** Reports that wait and that were sent. */
export async function countReports(
  db: Queryable,
): Promise<{ readonly waiting: number; readonly sent: number }> {
  const [row] = await db.query<{ waiting: number; sent: number }>(COUNT);
  return row ?? { waiting: 0, sent: 0 };
}
