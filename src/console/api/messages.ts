/** Messages as msgx tells them (`/api/v1/messages`). IDs are text; times are ISO 8601 in UTC. */
import type { JsonObject } from '../../domain/json.ts';
import type { DecodeOutcome } from '../../domain/message.ts';
import type { ErrorClass, ProcState } from '../../domain/outcome.ts';
import { pagesOf, read, refusalOf, type ReadPage } from './read.ts';
import type { EventRow } from './types.ts';

/** How a message stands with its mark in the mailbox. */
export type MarkState = 'none' | 'shadow' | 'owed' | 'marked' | 'abandoned' | 'settled';

/** A message as the list has it. */
export interface ListedMessage {
  readonly msgId: string;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: ProcState;
  readonly attempts: number;
  readonly errorClass: ErrorClass | null;
  readonly lastError: string | null;
  readonly reason: string | null;
  readonly nextAttemptAt: string | null;
  readonly receivedAt: string | null;
  readonly enqueuedAt: string;
  readonly terminalAt: string | null;
  readonly late: boolean;
  readonly replayed: boolean;
  readonly restored: boolean;
  readonly shadow: boolean;
  readonly archived: boolean;
  readonly mark: MarkState;
}

/** A flight that a message touched. */
export interface TouchedFlight {
  readonly flid: string;
  readonly flightNumber: string | null;
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
}

/** Answer of `/api/v1/messages/ID`. */
export interface FullMessage extends ListedMessage {
  readonly identity: string | null;
  readonly detail: JsonObject | null;
  readonly report: 'PENDING' | 'SENT' | null;
  readonly maxAttempts: number;
  readonly archivedAt: string | null;
  readonly terminalSeq: string | null;
  /** Judged under another profile than the one in use; null where not judged by one. */
  readonly otherProfile: boolean | null;
  readonly backfill: {
    readonly markedAtIntake: boolean;
    readonly attempts: number;
    readonly nextAt: string | null;
    readonly markedAt: string | null;
    readonly abandonedAt: string | null;
    readonly abandonedReason: string | null;
    readonly confirmedAt: string | null;
    readonly confirmedBy: string | null;
  };
  readonly text: { readonly kept: boolean; readonly bytes: number | null; readonly sha256: string | null };
  readonly flights: readonly TouchedFlight[];
  readonly moreFlights: boolean;
  readonly events: readonly EventRow[];
  readonly duplicates: readonly {
    readonly msgId: string;
    readonly reason: string;
    readonly terminalAt: string;
  }[];
}

/** Messages, newest first. `filter`: the names of the API. */
export const messagePages = (filter: Readonly<Record<string, string>>): ReadPage<ListedMessage> =>
  pagesOf('api/v1/messages', 'messages', filter, 'before');

export const fetchMessage = (msgId: string, signal: AbortSignal): Promise<FullMessage> =>
  read<FullMessage>(`api/v1/messages/${encodeURIComponent(msgId)}`, signal);

/** What the text says by the profile in use. */
export const fetchDecoded = (msgId: string, signal: AbortSignal): Promise<DecodeOutcome> =>
  read<DecodeOutcome>(`api/v1/messages/${encodeURIComponent(msgId)}/decoded`, signal);

/** Where the text itself is; for operators. */
export const textAddress = (msgId: string): string => `api/v1/messages/${encodeURIComponent(msgId)}/text`;

/** The text itself. Throws ApiError. */
export async function fetchText(msgId: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(textAddress(msgId), { signal });
  if (!response.ok) throw await refusalOf(response);
  return response.text();
}
