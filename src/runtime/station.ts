/**
 * The common shape of the stations (inbox, pump, delivery, backfill): something that does one bounded round
 * of work when asked. Who asks, when, and what happens in an outage is the loop's business (service).
 */

export const STATIONS = ['inbox', 'pump', 'delivery', 'backfill', 'requests'] as const;
export type StationName = (typeof STATIONS)[number];

/** How a round ended. */
export type Round =
  /** There may be more: ask again at once. */
  | { readonly next: 'now' }
  /** Nothing more to do before the interval has passed, a wake-up comes, or `until` (ms) is reached. */
  | { readonly next: 'wait'; readonly until: number | null };

export const AGAIN: Round = { next: 'now' };
export const REST: Round = { next: 'wait', until: null };

/** Waits for a moment but no longer than the interval. */
export function restUntil(millis: number): Round {
  return { next: 'wait', until: millis };
}
