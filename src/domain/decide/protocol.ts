/**
 * What refuses a whole package (decisions.md, "PROTOCOL"): never retried, never half applied. The first offender
 * stands in the reason, all of them in `detail.faults`.
 */
import type { Flid } from '../ids.ts';
import type { FlightPatch } from '../message.ts';
import { operationDay } from '../operation-day.ts';
import type { Decision } from '../outcome.ts';
import { firstOf, reason, recsMismatch } from '../reasons.ts';
import type { DecisionInput } from './input.ts';

/** The refusal of a package for its faults; null where there are none. */
export function refusal(faults: readonly string[]): Decision | null {
  const [first, ...rest] = faults;
  if (first === undefined) return null;
  return {
    state: 'DEAD',
    errorClass: 'PROTOCOL',
    reason: firstOf([first, ...rest]),
    detail: { faults: [first, ...rest] },
  };
}

/** A declared count that is missing, no number, or not the count found. */
export function countFaults(declared: string | null, found: number): readonly string[] {
  const matches = declared !== null && /^\d+$/.test(declared) && BigInt(declared) === BigInt(found);
  return matches ? [] : [recsMismatch(declared, found)];
}

/** Flights named twice in one schedule, once each. */
export function duplicateFaults(records: readonly FlightPatch[]): readonly string[] {
  const seen = new Set<Flid>();
  const twice = new Set<Flid>();
  for (const { flid } of records) (seen.has(flid) ? twice : seen).add(flid);
  return [...twice].map((flid) => reason('duplicate-flid', flid));
}

/**
 * Records whose scheduled time gives another operation day than the flight has, once per flight. A deleted
 * flight keeps its day: this is judged before its deletion is (decisions.md, "Order of judgement").
 */
export function dayFaults(
  records: readonly FlightPatch[],
  { flight, cutoff }: Pick<DecisionInput, 'flight' | 'cutoff'>,
): readonly string[] {
  const moved = new Set<Flid>();
  for (const { flid, writes } of records) {
    for (const write of writes) {
      if (write.kind !== 'scalar' || write.field !== 'scheduledTime') continue;
      // A scheduled time that is cleared moves nothing.
      if (typeof write.value !== 'string') continue;
      const known = flight(flid);
      if (known !== null && known.operationDay !== operationDay(write.value, cutoff)) moved.add(flid);
    }
  }
  return [...moved].map((flid) => reason('operation-day-conflict', flid));
}
