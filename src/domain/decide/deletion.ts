/** FDEL: the flight is marked deleted, its fields are kept for a reinstatement (dialect.md, "Merge rules"). */
import { applyEffect, type Applied } from '../flight-change.ts';
import type { Flid } from '../ids.ts';
import { effectsOf } from '../net-effect.ts';
import type { Decision } from '../outcome.ts';
import type { DecisionInput } from './input.ts';
import { applied, noMatch } from './success.ts';

/** Decides an FDEL: no-match on what is unknown or deleted already, superseded where a newer schedule has spoken. */
export function* decideDeletion(input: DecisionInput): Generator<void, Decision> {
  const flights: Applied[] = [];
  const unmatched: Flid[] = [];
  for (const [flid, effect] of effectsOf(input.message)) {
    const flight = input.flight(flid);
    if (flight === null || flight.deleted) unmatched.push(flid);
    else flights.push(applyEffect(flight, flid, input.msgId, effect, input));
    yield;
  }
  if (flights.length === 0 && unmatched.length > 0) return noMatch(unmatched);
  return applied(flights, unmatched, input.message.unmatchedStands);
}
