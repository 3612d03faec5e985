/** A request as the API and the command line give it. */
import type { RequestRow } from '../store/req-track.ts';
import { toMillisOrNull, toTimestamp } from '../store/time.ts';

export interface RequestJson {
  readonly reqId: string;
  /** `SCHD` or a reference type. */
  readonly type: string;
  readonly operationDay: string | null;
  readonly sender: string;
  readonly state: RequestRow['state'];
  readonly requestedAt: string | null;
  readonly requestedBy: string;
  /** Our SEQN; null before it was tried. */
  readonly sequence: string | null;
  readonly sentAt: string | null;
  readonly outId: string | null;
  readonly expiresAt: string | null;
  readonly doneAt: string | null;
  /** MSG_ID of the answer. */
  readonly doneBy: string | null;
  readonly matched: RequestRow['matched'];
  readonly expiredAt: string | null;
  readonly expiredBecause: RequestRow['expiredBecause'];
}

/** IDs as text, times as ISO 8601. */
export function requestJson(row: RequestRow): RequestJson {
  return {
    reqId: row.reqId.toString(),
    type: row.rtype,
    operationDay: row.operationDay,
    sender: row.sender,
    state: row.state,
    requestedAt: iso(row.requestedAt),
    requestedBy: row.requestedBy,
    sequence: row.seqn === null ? null : String(row.seqn),
    sentAt: iso(row.sentAt),
    outId: row.outId?.toString() ?? null,
    expiresAt: iso(row.expiresAt),
    doneAt: iso(row.doneAt),
    doneBy: row.doneBy?.toString() ?? null,
    matched: row.matched,
    expiredAt: iso(row.expiredAt),
    expiredBecause: row.expiredBecause,
  };
}

function iso(timestamp: string | null): string | null {
  const millis = toMillisOrNull(timestamp);
  return millis === null ? null : toTimestamp(millis);
}
