/**
 * The response guard (seed §7.1 [G-RESP-GUARD]; decisions.md, "Requests"): which open request a RESP answers. By the
 * echoed SEQN where there is one; else the single open request that fits, which may be the wrong one and is audited.
 */
import type { Body, DecodedMessage, FlightPatch } from '../message.ts';
import { operationDay } from '../operation-day.ts';
import { SCHEDULE_REQUEST, type Answer, type OpenRequest } from '../request.ts';

/** What the guard goes by. */
export interface GuardInput {
  readonly message: DecodedMessage;
  readonly openRequests: readonly OpenRequest[];
  /** How far the upstream's clock may be behind ours, ms (contract, `requests.clock-skew`). */
  readonly clockSkewMs: number;
  readonly cutoff: string;
}

/** The request that a RESP answers; null where there is none, or more than one that fits. */
export function answerTo({ message, openRequests, clockSkewMs, cutoff }: GuardInput): Answer | null {
  const { header, body } = message;
  const rtype = requestTypeOf(body);
  if (rtype === null) return null;
  const builtAt = Date.parse(header.dttm);
  const candidates = openRequests.filter(
    // DTTM has no fraction: an answer of the same second is not older.
    (request) => request.rtype === rtype && builtAt >= wholeSecond(request.sentAt) - clockSkewMs,
  );
  if (header.echo !== null) {
    const request = only(candidates.filter(({ sequence }) => sequence === header.echo));
    return request === null ? null : { request, matched: 'exact' };
  }
  const days = body.kind === 'schedule' ? operationDays(body.records, cutoff) : [];
  const request = only(candidates.filter((each) => days.every((day) => day === each.operationDay)));
  return request === null ? null : { request, matched: 'downgraded' };
}

/** The operation days that records name, each once, ascending. */
export function operationDays(records: readonly FlightPatch[], cutoff: string): readonly string[] {
  return daysOfTimes(
    records.flatMap(({ writes }) =>
      writes.flatMap((write) =>
        write.kind === 'scalar' && write.field === 'scheduledTime' && typeof write.value === 'string'
          ? [write.value]
          : [],
      ),
    ),
    cutoff,
  );
}

/** The operation days of scheduled times, each once, ascending. */
export function daysOfTimes(scheduledTimes: readonly string[], cutoff: string): readonly string[] {
  return [...new Set(scheduledTimes.map((time) => operationDay(time, cutoff)))].sort();
}

/** The type of the request that a body may answer; null where it is no response. */
function requestTypeOf(body: Body): string | null {
  switch (body.kind) {
    case 'schedule':
      return body.subtype === 'RESP' ? SCHEDULE_REQUEST : null;
    case 'reference':
      return body.operation === 'RESP' ? body.rtype : null;
    case 'operation':
    case 'deletion':
    case 'ignored':
    case 'unsupported':
      return null;
  }
}

/** Whether a message is an answer to a request of ours, which is applied only where one is open. */
export function isResponse(body: Body): boolean {
  return requestTypeOf(body) !== null;
}

function only<T>(candidates: readonly T[]): T | null {
  const [first, ...rest] = candidates;
  return first === undefined || rest.length > 0 ? null : first;
}

function wholeSecond(millis: number): number {
  return Math.floor(millis / 1_000) * 1_000;
}
