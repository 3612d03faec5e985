/**
 * What msgx tells the console (HTTP `/api/v1`). IDs are text; times are ISO 8601 in UTC, except the times
 * inside a flight, which carry the airport's offset.
 */
import type { JsonObject } from '../../domain/json.ts';
import type { ErrorClass, ProcState } from '../../domain/outcome.ts';

export type StationName = 'inbox' | 'pump' | 'delivery' | 'backfill' | 'requests';
export type StationState = 'running' | 'paused' | 'outage' | 'stopped';
export type Target = 'KAFKA:msg' | 'KAFKA:schd';

/** One station. `perMinute`: messages, events or marks finished in the last minute. */
export interface Station {
  readonly name: StationName;
  readonly state: StationState;
  /** Who paused it, e.g. `http:night-desk`; `outage` where a dependency cannot be reached. */
  readonly by: string | null;
  readonly reason: string | null;
  readonly since: string | null;
  readonly perMinute: number;
}

/** IDs that are missing in the mailbox, both ends included. */
export interface Hole {
  readonly from: string;
  readonly to: string;
  readonly ids: number | string;
  readonly firstSeenAt: string;
  readonly releasesAt: string | null;
  /** A writer that could still fill it lives, so it is not released yet. */
  readonly held: boolean;
}

/** Seed §4: where reading the mailbox stands. `lag`: IDs between the watermark and the highest seen. */
export interface InboxStatus {
  readonly watermark: string;
  readonly highest: string | null;
  readonly lag: number;
  readonly holeSince: string | null;
  readonly holes: readonly Hole[];
  readonly permanentHoles: number;
  readonly lateArrivals: number;
  readonly readAt: string | null;
}

/** The oldest message that is not terminal; everything behind it waits (first in, first out). */
export interface Head {
  readonly msgId: string;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: 'PENDING' | 'FAILED';
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly errorClass: ErrorClass | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: string | null;
  readonly enqueuedAt: string;
  readonly why: string;
}

/** Events of one target not yet sent. `oldestSeconds`: age of the oldest of them. */
export interface Outbox {
  readonly target: Target;
  readonly pending: number;
  readonly oldestSeconds: number | null;
  readonly sent: number;
  readonly dead: number;
}

export interface Backfill {
  readonly owed: number;
  readonly confirmed: number;
  readonly abandoned: Readonly<Partial<Record<'MISSING_ROW' | 'TRANSIENT_DEADLINE', number>>>;
}

export type RequestState = 'PENDING' | 'SENT' | 'DONE' | 'EXPIRED';

/** Requests by state. `reports`: error reports that are queued, and those in COUTMSGS. */
export interface RequestCounts {
  readonly byState: Readonly<Record<RequestState, number>>;
  readonly reports: { readonly waiting: number; readonly sent: number };
}

/** An upkeep job. `nextAt`: null where it runs at once. `rows`: of the run underway or the last one. */
export interface Job {
  readonly job: string;
  readonly state: 'running' | 'waiting' | 'due' | 'failing';
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly nextAt: string | null;
  readonly rows: number;
  readonly rowsTotal: number;
  readonly failures: number;
  readonly error: string | null;
}

/** Answer of `/api/v1/status` and event `status` of the stream. */
export interface Status {
  readonly airport: string;
  readonly timeZone: string;
  readonly version: string;
  readonly role: 'active' | 'standby';
  readonly now: string;
  readonly shadow: boolean;
  readonly stations: readonly Station[];
  readonly inbox: InboxStatus;
  readonly head: Head | null;
  readonly counts: {
    readonly byState: Readonly<Partial<Record<ProcState, number>>>;
    readonly byClass: Readonly<Partial<Record<ErrorClass, number>>>;
    /** Dead messages with a schedule in them. */
    readonly deadSchedules: number;
  };
  readonly outbox: readonly Outbox[];
  readonly backfill: Backfill;
  readonly requests: RequestCounts;
  readonly jobs: readonly Job[];
  readonly last: {
    readonly enqueuedAt: string | null;
    readonly processedAt: string | null;
    readonly sentAt: string | null;
    readonly markedAt: string | null;
  };
}

/** One flight; `flight` is what is published (catalogue: src/domain/fields.ts). */
export interface FlightRow {
  readonly flid: string;
  readonly version: number;
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly updatedAt: string;
  readonly lastMsgId: string;
  readonly flight: JsonObject;
}

export interface DayCount {
  readonly day: string;
  readonly flights: number;
}

/** Answer of `/api/v1/flights`, one page of a day. */
export interface FlightPage {
  readonly day: string | null;
  readonly days: readonly DayCount[];
  readonly flights: readonly FlightRow[];
  readonly next: string | null;
}

/** One event of the outbox; `changed` names scalar paths and collections. */
export interface EventRow {
  readonly eventId: string;
  readonly target: Target;
  readonly flid: string;
  readonly flightNumber: string | null;
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly version: number;
  readonly state: 'PENDING' | 'SENT' | 'DEAD' | 'DROPPED';
  readonly createdAt: string;
  readonly sentAt: string | null;
  readonly changed: readonly string[];
  readonly msgId: string | null;
}

/** Names of the codes in a flight as far as they are known, and the reference type of each field that has codes. */
export interface FlightNames {
  /** By type and code. */
  readonly names: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly namedFields: Readonly<Record<string, string>>;
}

/** One type of reference data. */
export interface ReferenceType {
  readonly rtype: string;
  readonly active: number;
  readonly inactive: number;
  readonly changedAt: string;
  /** The newest whole load; null where there was none. */
  readonly loadedBy: string | null;
}

/** One row of reference data. `namedBy`: the message that last named it; `describedBy`: that last gave its body. */
export interface ReferenceRow {
  readonly rkey: string;
  readonly active: boolean;
  readonly body: JsonObject;
  readonly namedBy: string;
  readonly describedBy: string | null;
  readonly updatedAt: string;
}

/** Answer of `/api/v1/reference/TYPE`. */
export interface ReferencePage {
  readonly rows: readonly ReferenceRow[];
  readonly next: string | null;
}

/** Answer of `/api/v1/reference/TYPE/CODE`: with what the row had been, the latest change first. */
export interface ReferenceDetailRow extends ReferenceRow {
  readonly rtype: string;
  readonly history: readonly {
    readonly until: { readonly msgId: string; readonly at: string };
    readonly active: boolean;
    readonly body: JsonObject;
  }[];
}

/** A request to the upstream, for the schedule of a day or for a type of reference data. */
export interface RequestItem {
  readonly reqId: string;
  /** `SCHD` or a reference type. */
  readonly type: string;
  readonly operationDay: string | null;
  readonly state: RequestState;
  readonly requestedAt: string;
  readonly requestedBy: string;
  readonly sequence: string | null;
  readonly sentAt: string | null;
  /** COUTMSGS_ID. */
  readonly outId: string | null;
  /** When it stops waiting for its answer. */
  readonly expiresAt: string | null;
  readonly doneAt: string | null;
  /** MSG_ID of the answer. */
  readonly doneBy: string | null;
  readonly matched: 'exact' | 'downgraded' | null;
  readonly expiredAt: string | null;
  readonly expiredBecause: 'timeout' | 'replaced' | null;
}

/** Answer of `/api/v1/requests`, newest first. */
export interface RequestPage {
  readonly requests: readonly RequestItem[];
  readonly next: string | null;
  /** What can be asked for. */
  readonly referenceTypes: readonly string[];
}

/** How the page stands with the live stream. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** `since`: browser's clock, ms, when msgx was last heard; `retryAt`: the next try. */
  | { readonly state: 'lost'; readonly since: number; readonly retryAt: number };
