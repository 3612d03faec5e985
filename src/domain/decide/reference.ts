/** Reference data: one type, one package (dialect.md and decisions.md, "Reference data"). */
import type { Body } from '../message.ts';
import type { Decision } from '../outcome.ts';
import { listReason } from '../reasons.ts';
import { foldReference } from '../reference-fold.ts';
import type { DecisionInput } from './input.ts';
import { countFaults, refusal } from './protocol.ts';

/** Decides a reference message that the response guard has let pass. A lost row is named by its key. */
export function decideReference(input: DecisionInput, body: Extract<Body, { kind: 'reference' }>): Decision {
  const { rtype, operation, declared, records } = body;
  const refused = refusal([
    ...countFaults(declared, records.length),
    ...(records.length === 0 && !mayBeEmpty(input, body) ? ['empty-reference'] : []),
  ]);
  if (refused !== null) return refused;
  const fold = foldReference(input.reference(rtype), input.msgId, rtype, operation, records);
  const lost = fold.superseded.length > 0;
  const reasons = [
    ...(lost ? [listReason('superseded', fold.superseded)] : []),
    ...(fold.changed ? [] : ['unchanged']),
  ];
  return {
    state: 'SUCCEEDED',
    reason: reasons[0] ?? null,
    detail: lost ? { reasons, superseded: fold.superseded } : null,
    flights: [],
    reference: fold.change,
    unmatchedStands: 0,
    answer: null,
  };
}

/** Only a whole load can mean "there is none"; an empty change means nothing. */
function mayBeEmpty(
  { allowEmptyReference }: DecisionInput,
  { operation }: Extract<Body, { kind: 'reference' }>,
): boolean {
  return allowEmptyReference && (operation === 'DNLD' || operation === 'RESP');
}
