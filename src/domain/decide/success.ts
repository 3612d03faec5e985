/** The outcome of a message that was applied: reason, detail and warnings gathered from its flights. */
import type { FlightChange } from '../flight.ts';
import type { Applied } from '../flight-change.ts';
import type { Flid } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Decision } from '../outcome.ts';
import { firstOf, listReason } from '../reasons.ts';
import { inCatalogueOrder } from '../state.ts';

/** No flight of the message could be matched. */
export function noMatch(flids: readonly Flid[]): Decision {
  return {
    state: 'SKIPPED',
    reason: listReason('no-match', flids),
    detail: flids.length > 1 ? { noMatch: flids } : null,
  };
}

/**
 * Success over flights. Reasons by precedence: superseded, no-match, unchanged; where several apply the first
 * stands in the reason with a count, all of them in `detail.reasons`. `unchanged` says only that nothing else
 * is to be said of what was applied, and so never counts.
 */
export function applied(
  flights: readonly Applied[],
  unmatched: readonly Flid[],
  unmatchedStands: number,
): Decision {
  const changes = flights.map(({ change }) => change);
  const lost = inCatalogueOrder(new Set(changes.flatMap((change) => change.superseded)));
  const notable = [
    ...(lost.length > 0 ? [listReason('superseded', lost)] : []),
    ...(unmatched.length > 0 ? [listReason('no-match', unmatched)] : []),
  ];
  const unchanged = changes.every((change) => change.event === null);
  const reasons = unchanged ? [...notable, 'unchanged'] : notable;
  const [first, ...rest] = notable;
  return {
    state: 'SUCCEEDED',
    reason: first === undefined ? (reasons[0] ?? null) : firstOf([first, ...rest]),
    detail: first === undefined ? null : detailOf(reasons, changes, unmatched),
    flights: changes,
    reference: null,
    unmatchedStands: flights.reduce((sum, flight) => sum + flight.unmatchedStands, unmatchedStands),
    answer: null,
  };
}

function detailOf(
  reasons: readonly string[],
  changes: readonly FlightChange[],
  unmatched: readonly Flid[],
): JsonObject {
  const losers = changes.filter((change) => change.superseded.length > 0);
  return {
    reasons,
    ...(losers.length > 0
      ? { superseded: Object.fromEntries(losers.map(({ after, superseded }) => [after.flid, superseded])) }
      : {}),
    ...(unmatched.length > 0 ? { noMatch: unmatched } : {}),
  };
}
