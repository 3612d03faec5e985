/**
 * What a batch does to requests and reports (seed §7.1, §7.2; C-25): the open requests that its responses meet, with
 * every change of earlier messages of the batch applied, and what has to be written in its transaction.
 */
import { daysOfTimes, isResponse, operationDays } from '../domain/decide/index.ts';
import { prefixOf, reason } from '../domain/reasons.ts';
import { SCHEDULE_REQUEST, type OpenRequest } from '../domain/request.ts';
import type { Queryable } from '../store/statement.ts';
import { insertReports, type ErrorReport } from '../store/error-report.ts';
import { insertAudit } from '../store/op-audit.ts';
import {
  finishRequests,
  lockOpenRequests,
  registerWhereNone,
  type AppliedAnswer,
  type LockedRequest,
  type RequestKey,
} from '../store/req-track.ts';
import type { Candidate } from './candidate.ts';
import type { Finished, Ready } from './decisions.ts';
import type { PumpContext } from './context.ts';

/** How a request comes to be that nobody asked for. */
const ON_DEAD_SCHEDULE = 'msgx:on-dead-schedule';

export class RequestBook {
  readonly #context: PumpContext;
  /** The open requests, as they stand after the messages noted so far. */
  #open: readonly LockedRequest[];
  readonly #answers: AppliedAnswer[] = [];
  readonly #again: RequestKey[] = [];
  readonly #reports: ErrorReport[] = [];

  private constructor(context: PumpContext, open: readonly LockedRequest[]) {
    this.#context = context;
    this.#open = open;
  }

  /**
   * Reads and locks the open requests where the batch has to do with them; most batches have not.
   *
   * @param tx null where {@link isConcerned} says so of none of its messages
   */
  static async read(
    context: PumpContext,
    tx: Queryable | null,
    batch: readonly Ready[],
  ): Promise<RequestBook> {
    const concerned = batch.some(
      ({ candidate, bound }) => bound?.duplicate == null && isConcerned(context, candidate),
    );
    return new RequestBook(context, concerned && tx !== null ? await lockOpenRequests(tx) : []);
  }

  /** Those that can have an answer: their insert was begun. */
  get open(): readonly OpenRequest[] {
    return this.#open.flatMap(({ attempt, reqId, rtype, operationDay }) =>
      attempt === null
        ? []
        : [{ reqId, rtype, operationDay, sequence: attempt.sequence, sentAt: attempt.sentAt }],
    );
  }

  /** Takes note of how a message ended. */
  note({ ready, terminal, decision }: Finished): void {
    const { candidate } = ready;
    if (decision?.state === 'SUCCEEDED' && decision.answer !== null) {
      const { request, matched } = decision.answer;
      this.#answers.push({ reqId: request.reqId, msgId: terminal.msgId, matched });
      this.#open = this.#open.filter(({ reqId }) => reqId !== request.reqId);
    }
    if (terminal.state !== 'DEAD') return;
    const { requests } = this.#context;
    const report = requests?.errorReports === true ? reportOf(candidate, terminal, requests.sender) : null;
    if (report !== null) this.#reports.push(report);
    for (const key of deadScheduleKeys(this.#context, candidate)) {
      // The answer of an open request is awaited anyway: a schedule that dies again and again asks once.
      if (this.#open.some((known) => isSameKey(known, key))) continue;
      this.#again.push(key);
      this.#open = [...this.#open, { ...key, reqId: -1n, attempt: null }];
    }
  }

  /** Writes answers, audits, new requests and reports. */
  async write(tx: Queryable, now: number): Promise<void> {
    await finishRequests(tx, this.#answers, now);
    for (const { reqId, msgId, matched } of this.#answers) {
      if (matched === 'exact') continue;
      await insertAudit(tx, {
        ...{ at: now, who: 'msgx', action: 'match-response', target: `request:${reqId.toString()}` },
        reason: 'matched without an echoed SEQN: by type, operation day and time alone',
        ...{ before: null, after: { state: 'DONE', matched, msgId: msgId.toString() } },
      });
    }
    await registerWhereNone(tx, this.#again, { by: ON_DEAD_SCHEDULE, now });
    await insertReports(tx, this.#reports, now);
  }
}

/** Whether a message has to do with open requests. */
export function isConcerned({ requests }: PumpContext, candidate: Candidate): boolean {
  return (
    (candidate.kind === 'message' && isResponse(candidate.message.body)) ||
    (requests?.onDeadSchedule === true && headerOf(candidate)?.type === SCHEDULE_REQUEST)
  );
}

/** Requests the days of a schedule that has ended DEAD outside a batch, where they have no open request. */
export async function requestAgain(
  context: PumpContext,
  tx: Queryable,
  candidate: Candidate,
  now: number,
): Promise<void> {
  await registerWhereNone(tx, deadScheduleKeys(context, candidate), { by: ON_DEAD_SCHEDULE, now });
}

/** The requests that a dead schedule gives rise to; none for other messages, or where the days are not known. */
function deadScheduleKeys(context: PumpContext, candidate: Candidate): readonly RequestKey[] {
  const { requests, operationDayCutoff: cutoff, log } = context;
  if (requests?.onDeadSchedule !== true || headerOf(candidate)?.type !== SCHEDULE_REQUEST) return [];
  const days =
    candidate.kind !== 'message'
      ? daysOfTimes(candidate.scheduledTimes ?? [], cutoff)
      : candidate.message.body.kind === 'schedule'
        ? operationDays(candidate.message.body.records, cutoff)
        : [];
  if (days.length === 0) {
    log.warn({ msgId: candidate.head.msgId }, 'a schedule is dead and names no day that could be requested');
  }
  return days.map((operationDay) => ({ rtype: SCHEDULE_REQUEST, operationDay, sender: requests.sender }));
}

/** What is reported of a dead message; null where nothing is. */
function reportOf(candidate: Candidate, terminal: Finished['terminal'], sender: string): ErrorReport | null {
  const { errorClass } = terminal;
  if (errorClass !== 'MALFORMED' && errorClass !== 'PROTOCOL') return null;
  const header = headerOf(candidate);
  // Two systems that report each other's reports would never end.
  if (header?.type === 'EROR') return null;
  return {
    msgId: terminal.msgId,
    sender,
    sequence: header?.sequence ?? '',
    type: header?.type ?? '',
    styp: header?.subtype ?? '',
    errorClass,
    description: describe(terminal),
  };
}

/** The reason and its place; never a text of the message beyond codes and numbers. */
function describe({ reason: text, detail }: Finished['terminal']): string {
  const told = text ?? '';
  // The one reason that echoes a text of the message: the declared count, which may be anything.
  const [, found = ''] = /\/(\d+)(?: \(\+\d+ more\))?$/.exec(told) ?? [];
  const safe =
    prefixOf(told) === 'recs-mismatch' && !/^recs-mismatch:(\d+|missing)\/\d+/.test(told)
      ? reason('recs-mismatch', `no-number/${found}`)
      : told;
  const faults = detail?.['faults'];
  const first: unknown = Array.isArray(faults) ? faults[0] : null;
  if (typeof first !== 'object' || first === null || !('line' in first) || !('column' in first)) return safe;
  const { line, column } = first;
  return typeof line === 'number' && typeof column === 'number'
    ? `${safe} at ${String(line)}:${String(column)}`
    : safe;
}

function headerOf(candidate: Candidate) {
  return candidate.kind === 'message' ? candidate.message.header : candidate.header;
}

function isSameKey(left: RequestKey, right: RequestKey): boolean {
  return (
    left.rtype === right.rtype && left.operationDay === right.operationDay && left.sender === right.sender
  );
}
