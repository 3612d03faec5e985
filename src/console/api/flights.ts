/** One flight and the search over all days, as msgx tells them (`/api/v1`). Times of lineage and events are in UTC. */
import type { Json } from '../../domain/json.ts';
import { pagesOf, read, type ReadPage } from './read.ts';
import type { EventRow, FlightNames, FlightRow } from './types.ts';

/** The message that last wrote a field; `at` null where it has not ended, or is not known any more. */
export interface SetBy {
  readonly msgId: string;
  readonly at: string | null;
}

/** A message that touched a flight. */
export interface FlightMessage {
  readonly msgId: string;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: string | null;
  readonly reason: string | null;
  readonly stateVersion: number | null;
  readonly changed: readonly string[];
  readonly superseded: readonly string[];
  readonly terminalAt: string | null;
  readonly late: boolean;
  readonly replayed: boolean;
}

/** A flight, archived or not. */
export interface FoundFlight extends FlightRow {
  readonly archived: boolean;
}

/** Answer of `/api/v1/flights/FLID`. */
export interface FullFlight extends FoundFlight, FlightNames {
  /** By path of the field; a delay as `delays[CODE]`, push and tractor by stand. */
  readonly lineage: Readonly<Record<string, SetBy>>;
  readonly messages: readonly FlightMessage[];
}

/** What a version changed in a field. */
export interface Difference {
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
}

/** A version, as its event told it. `beforeKept`: what was before is known, so that `before` tells it. */
export interface FlightVersion extends Omit<EventRow, 'flightNumber'> {
  readonly attempts: number;
  readonly lastError: string | null;
  readonly beforeKept: boolean;
  readonly differences: readonly Difference[];
}

const of = (flid: string): string => `api/v1/flights/${encodeURIComponent(flid)}`;

export const fetchFlight = (flid: string, signal: AbortSignal): Promise<FullFlight> =>
  read<FullFlight>(of(flid), signal);

/** Versions that are still kept, newest first. */
export const versionPages = (flid: string): ReadPage<FlightVersion> =>
  pagesOf(`${of(flid)}/versions`, 'versions', {}, 'before');

/** Flights of all days whose number begins with a text, or whose FLID it is; newest day first. */
export const foundPages = (text: string): ReadPage<FoundFlight> =>
  pagesOf('api/v1/search/flights', 'flights', { q: text });
