/** FLOP: operational updates of flights that exist (dialect.md, "FLOP subtypes"). */
import type { FlightRecord } from '../flight.ts';
import { applyEffect, type Applied } from '../flight-change.ts';
import type { Flid, MsgId } from '../ids.ts';
import type { Body } from '../message.ts';
import { effectsOf } from '../net-effect.ts';
import type { Decision } from '../outcome.ts';
import { isOlder } from '../stamps.ts';
import type { DecisionInput } from './input.ts';
import { dayFaults, refusal } from './protocol.ts';
import { applied, noMatch } from './success.ts';

/** Decides a FLOP: records of one flight count as one, and one matching flight makes the message a success. */
export function* decideOperation(
  input: DecisionInput,
  body: Extract<Body, { kind: 'operation' }>,
): Generator<void, Decision> {
  const refused = refusal(dayFaults(body.records, input));
  if (refused !== null) return refused;
  const flights: Applied[] = [];
  const unmatched: Flid[] = [];
  for (const [flid, effect] of effectsOf(input.message)) {
    const flight = input.flight(flid);
    if (flight === null || !accepts(flight, input.msgId)) unmatched.push(flid);
    else flights.push(applyEffect(flight, flid, input.msgId, effect, input));
    yield;
  }
  if (flights.length === 0 && unmatched.length > 0) return noMatch(unmatched);
  return applied(flights, unmatched, input.message.unmatchedStands);
}

/** A deleted flight takes only what is older than its deletion, so that the fold stays one in any order. */
function accepts(flight: FlightRecord, msgId: MsgId): boolean {
  return !flight.deleted || isOlder(msgId, flight.stamps.deleted);
}
