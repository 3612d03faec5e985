/**
 * SCHD DNLD, RESP and ADFT (seed §7.1; dialect.md, "Schedule payload" and "Merge rules"): a package is checked
 * as a whole, then each record is merged into its flight, which it creates or reinstates where need be.
 */
import { applyEffect, type Applied } from '../flight-change.ts';
import type { Body } from '../message.ts';
import { effectsOf } from '../net-effect.ts';
import type { Decision } from '../outcome.ts';
import type { DecisionInput } from './input.ts';
import { countFaults, dayFaults, duplicateFaults, refusal } from './protocol.ts';
import { applied } from './success.ts';

/** Decides a schedule that the response guard has let pass, flight by flight. Flights it does not name stay as they are. */
export function* decideSchedule(
  input: DecisionInput,
  body: Extract<Body, { kind: 'schedule' }>,
): Generator<void, Decision> {
  const refused = refusal([
    ...countFaults(body.declared, body.records.length),
    ...duplicateFaults(body.records),
    ...dayFaults(body.records, input),
  ]);
  if (refused !== null) return refused;
  const flights: Applied[] = [];
  for (const [flid, effect] of effectsOf(input.message)) {
    flights.push(applyEffect(input.flight(flid), flid, input.msgId, effect, input));
    yield;
  }
  return applied(flights, [], input.message.unmatchedStands);
}
