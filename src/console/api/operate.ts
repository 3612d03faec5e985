/** What operators read and do over HTTP: the answers of actions, the outbox, abandoned marks, the audit, series, health. */
import type { Json } from '../../domain/json.ts';
import type { Query } from '../model/route.ts';
import { read } from './read.ts';
import type { Target } from './types.ts';

/** How an action was answered. `failed`: not answered as an action is, e.g. 400, 401, 503, or not at all. */
export type ActionAnswer =
  | { readonly outcome: 'done' | 'planned' | 'refused'; readonly message: string; readonly body: ActionBody }
  | { readonly outcome: 'failed'; readonly message: string };

/** Members that answers of actions have beside outcome and message, as far as they are shown. */
export interface ActionBody {
  /** Of all; what is listed are the first of them. */
  readonly counted?: { readonly all: number; readonly changed: number };
  readonly messages?: readonly {
    readonly msgId: string;
    readonly becomes: string | null;
    readonly superseded: readonly { readonly flid: string; readonly fields: readonly string[] }[];
    readonly refused: string | null;
  }[];
  readonly events?: readonly {
    readonly eventId: string;
    readonly flid: string | null;
    readonly version: number | null;
    readonly laterDelivered: readonly number[];
    readonly refused: string | null;
  }[];
  readonly changed?: readonly string[];
  readonly refused?: readonly { readonly msgId: string; readonly why: string }[];
  readonly requests?: readonly {
    readonly reqId?: string;
    readonly type: string;
    readonly operationDay: string | null;
    readonly replaced: readonly string[];
  }[];
  readonly plan?: {
    readonly flights: number;
    readonly deleted: number;
    readonly alreadyPending: number;
    readonly seconds: number;
  };
}

/** Asks for an action; never throws, but for an abort. @param path behind `api/v1/` */
export async function act(path: string, body: object, signal?: AbortSignal): Promise<ActionAnswer> {
  try {
    const response = await fetch(`api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    const answer = (await response.json().catch(() => ({}))) as ActionBody & {
      readonly outcome?: string;
      readonly message?: string;
      readonly error?: string;
    };
    const { outcome, message = '' } = answer;
    if (outcome === 'done' || outcome === 'planned' || outcome === 'refused') {
      return { outcome, message, body: answer };
    }
    return { outcome: 'failed', message: answer.error ?? `HTTP ${String(response.status)}` };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return { outcome: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/** An event that waits to be sent. */
export interface PendingEvent {
  readonly eventId: string;
  readonly target: Target;
  readonly flid: string;
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly version: number;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly lastError: string | null;
  readonly msgId: string | null;
  readonly createdAt: string;
}

/** An event that delivery gave up. */
export interface DeadEvent extends Omit<PendingEvent, 'nextAttemptAt'> {
  readonly flightVersion: number | null;
  readonly laterDelivered: readonly number[];
}

/** A mark that was given up. */
export interface AbandonedMark {
  readonly msgId: string;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: string;
  readonly because: 'MISSING_ROW' | 'TRANSIENT_DEADLINE';
  readonly abandonedAt: string;
  readonly attempts: number;
  readonly enqueuedAt: string;
  readonly endedAt: string | null;
  readonly confirmedAt: string | null;
  readonly confirmedBy: string | null;
}

/** What an operator did. */
export interface AuditEntry {
  readonly auditId: string;
  readonly at: string;
  readonly who: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string;
  readonly before: Json;
  readonly after: Json;
}

/** Values per bucket of time, oldest first (`/api/v1/series`). Latencies in ms. */
export interface Series {
  readonly bucketSeconds: number;
  readonly at: readonly number[];
  readonly enqueued: readonly number[];
  readonly finished: readonly number[];
  readonly sent: readonly number[];
  readonly backlog: readonly number[];
  readonly process: Percentiles;
  readonly deliver: Percentiles;
}

export interface Percentiles {
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

export type Span = 'hour' | 'day';

/** Which span an address asks for. */
export const spanIn = (query: Query): Span => (query['span'] === 'day' ? 'day' : 'hour');

/** Throughput, latency and backlog of the last hour or day. */
export const seriesOf = (span: Span, signal: AbortSignal): Promise<Series> =>
  read<Series>(`api/v1/series?span=${span}`, signal);

/** Who holds the lease, and what msgx takes of its PostgreSQL (`/api/v1/instance`). */
export interface Instance {
  readonly lease: { readonly epoch: string; readonly holder: string | null; readonly held: boolean };
  readonly database: {
    readonly bytes: number;
    readonly ownBytes: number;
    readonly largest: readonly { readonly table: string; readonly bytes: number }[];
  };
  readonly connections: { readonly used: number; readonly own: number; readonly limit: number };
}

export const fetchInstance = (signal: AbortSignal): Promise<Instance> =>
  read<Instance>('api/v1/instance', signal);

/** `/readyz`: answers 503 with the same members where mailbox or database are down. */
export interface Readiness {
  readonly role: 'active' | 'standby';
  readonly mailbox: 'ok' | 'down';
  readonly database: 'ok' | 'down';
  readonly delivery: 'ok' | 'degraded';
  readonly ackAgeSeconds: number | null;
}

export async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch('readyz', { signal, headers: { accept: 'application/json' } });
  return (await response.json()) as Readiness;
}

/** `/healthz`: answers 503 with the same members where a loop is stuck. */
export interface Liveness {
  readonly status: 'ok' | 'stuck';
  readonly stuck: readonly string[];
}

export async function readLiveness(signal: AbortSignal): Promise<Liveness> {
  const response = await fetch('healthz', { signal, headers: { accept: 'application/json' } });
  return (await response.json()) as Liveness;
}
