/** A flight as it is stored, and what a message does to it. */
import type { Flid, MsgId } from './ids.ts';
import type { JsonObject } from './json.ts';

/** The published `flight` object: `flid`, every scalar and every collection of the catalogue, always present. */
export type FlightState = JsonObject;

/**
 * Stamps: per register the MSG_ID (decimal text) of the message that last wrote it (decisions.md, "State").
 * Push and tractor are registers per stand code whose values live here, because those that match no stand
 * wait invisibly.
 */
export interface Stamps {
  /** By scalar path or list name. */
  readonly fields: Readonly<Record<string, string>>;
  readonly deleted: string;
  readonly delays: { readonly floor: string | null; readonly codes: Readonly<Record<string, string>> };
  readonly push: Readonly<
    Record<string, { readonly by: string; readonly time: string | null; readonly indicator: string | null }>
  >;
  readonly tractor: Readonly<Record<string, { readonly by: string; readonly time: string | null }>>;
}

/** A row of flight_schd. */
export interface FlightRecord {
  readonly flid: Flid;
  readonly version: number;
  /** yyyy-MM-dd, immutable (dialect.md, "Merge rules"). */
  readonly operationDay: string;
  readonly deleted: boolean;
  readonly state: FlightState;
  readonly stamps: Stamps;
  readonly lastMsgId: MsgId;
  /** ISO 8601, airport offset, seconds. */
  readonly updatedAt: string;
}

/** The event that a visible change makes. `changed` names scalar paths and collections, or `deleted`. */
export interface FlightEvent {
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly changed: readonly string[];
}

/** What one message did to one flight. Stamps may have moved without an event. */
export interface FlightChange {
  /** The record as it stands now; the very object that was read where `stored` is false. */
  readonly after: FlightRecord;
  /** Whether `after` differs from what was read, stamps included, and so has to be written. */
  readonly stored: boolean;
  /** Null where nothing visible changed: no event, no new version. */
  readonly event: FlightEvent | null;
  /** Registers lost to a newer message, with a differing value. */
  readonly superseded: readonly string[];
}
