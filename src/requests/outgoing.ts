/** Requests and error reports as messages to be sent once, each over its own record. */
import { addDays } from '../domain/operation-day.ts';
import { SCHEDULE_REQUEST } from '../domain/request.ts';
import type { OutboundMessage } from '../dialect/port.ts';
import { airportTime, localMoment } from '../runtime/airport-time.ts';
import { confirmReport, noteReport, type DueReport } from '../store/error-report.ts';
import { confirmRequest, forgetRequest, noteRequest, type DueRequest } from '../store/req-track.ts';
import type { RequestsContext } from './context.ts';
import type { Outgoing } from './send-once.ts';

const MINUTE_MS = 60_000;

/** A request as an outgoing message. */
export function requestToSend(context: RequestsContext, request: DueRequest): Outgoing {
  const { rtype, operationDay, sender, attempt, state, reqId } = request;
  const isSchedule = rtype === SCHEDULE_REQUEST && operationDay !== null;
  return {
    message: isSchedule ? scheduleRequest(context, operationDay) : { kind: 'reference-request', rtype },
    sender,
    routing: isSchedule ? context.routing.schedule : context.routing.reference,
    attempt,
    wanted: state === 'PENDING',
    note: (tx, facts) => noteRequest(tx, request, facts),
    confirm: (tx, outId) => confirmRequest(tx, reqId, outId, context.timeoutMs),
    forget: (tx) => forgetRequest(tx, reqId),
  };
}

/** A report as an outgoing message. */
export function reportToSend(context: RequestsContext, report: DueReport): Outgoing {
  const { msgId, sender, sequence, type, styp: subtype, errorClass, description, attempt } = report;
  return {
    message: { kind: 'error-report', sequence, type, subtype, errorClass, description },
    sender,
    routing: context.routing.errorReport,
    attempt,
    wanted: true,
    note: (tx, facts) => noteReport(tx, report, facts),
    confirm: (tx, outId) => confirmReport(tx, msgId, outId),
    forget: async () => undefined,
  };
}

/** From the first to the last minute of an operation day. */
function scheduleRequest(
  { timeZone, operationDayCutoff: cutoff }: RequestsContext,
  day: string,
): OutboundMessage {
  const from = localMoment(day, cutoff, timeZone);
  const until = localMoment(addDays(day, 1), cutoff, timeZone) - MINUTE_MS;
  return {
    kind: 'schedule-request',
    from: airportTime(from, timeZone),
    until: airportTime(until, timeZone),
  };
}
