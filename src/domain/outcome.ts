/**
 * What the judgement of a message can be (seed §3, contract "Reasons"). Expected outcomes are values;
 * exceptions are for the unexpected.
 */
import type { JsonObject } from './json.ts';
import type { FlightChange } from './flight.ts';
import type { ReferenceChange } from './reference.ts';
import type { Answer } from './request.ts';

/** Processing states (seed §3). */
export type ProcState = 'PENDING' | 'FAILED' | 'SUCCEEDED' | 'SKIPPED' | 'DEAD';
/** Terminal states: the queue moves on past them. */
export const TERMINAL_STATES = ['SUCCEEDED', 'SKIPPED', 'DEAD'] as const;
/** Error classes (seed §3). */
export type ErrorClass = 'MALFORMED' | 'PROTOCOL' | 'CODEC_ERROR' | 'UNSUPPORTED' | 'INFRA' | 'EXHAUSTED';

/** The outcome of one message, and what it changes. Terminal, except for what no processor exists for. */
export type Decision =
  | {
      readonly state: 'SUCCEEDED';
      /** `unchanged`, `superseded:…`, `no-match:…` or null. */
      readonly reason: string | null;
      readonly detail: JsonObject | null;
      readonly flights: readonly FlightChange[];
      readonly reference: ReferenceChange | null;
      /**
       * Push or tractor records that no stand of the flight carries, those that name no stand at all
       * included (a warning, not a fault).
       */
      readonly unmatchedStands: number;
      /** The request that a RESP answers; null for every other message. */
      readonly answer: Answer | null;
    }
  | { readonly state: 'SKIPPED'; readonly reason: string; readonly detail: JsonObject | null }
  | {
      readonly state: 'DEAD';
      readonly errorClass: 'MALFORMED' | 'PROTOCOL';
      readonly reason: string;
      readonly detail: JsonObject | null;
    }
  /** Retried with the capability tiers (seed §5.2, contract `pipeline.retry.capability-backoff`). */
  | {
      readonly state: 'FAILED';
      readonly errorClass: 'UNSUPPORTED';
      /** `unsupported:TYPE/STYP`. */
      readonly reason: string;
    };
