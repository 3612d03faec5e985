/**
 * The decision of one decoded message whose identity is its own: pure, total, dispatched by kind (seed §2, §5.2).
 * Order of judgement (decisions.md): ignored, unsupported → response guard → PROTOCOL → no-match → merge.
 */
import type { Decision } from '../outcome.ts';
import { kindReason } from '../reasons.ts';
import { decideDeletion } from './deletion.ts';
import type { DecisionInput } from './input.ts';
import { decideOperation } from './operation.ts';
import { decideReference } from './reference.ts';
import { answerTo, isResponse } from './response.ts';
import { decideSchedule } from './schedule.ts';

export { flightsNamed, referenceNamed, type DecisionInput } from './input.ts';
export { daysOfTimes, isResponse, operationDays } from './response.ts';

/**
 * Decides a message. The caller applies `after` of each change, and the reference change, to its world before
 * the next message of the batch is decided.
 */
export function decide(input: DecisionInput): Decision {
  const steps = decideSteps(input);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Decides a message like {@link decide}, flight by flight: a message may name tens of thousands of flights, and the
 * caller has other things to do in between.
 */
export function* decideSteps(input: DecisionInput): Generator<void, Decision> {
  if (!isResponse(input.message.body)) return yield* decideBody(input);
  const answer = answerTo(input);
  if (answer === null) return { state: 'SKIPPED', reason: 'no-open-request', detail: null };
  const decision = yield* decideBody(input);
  // A package that is refused answers nothing: the request waits for another, or for its timeout.
  return decision.state === 'SUCCEEDED' ? { ...decision, answer } : decision;
}

function* decideBody(input: DecisionInput): Generator<void, Decision> {
  const { header, body } = input.message;
  switch (body.kind) {
    case 'schedule':
      return yield* decideSchedule(input, body);
    case 'operation':
      return yield* decideOperation(input, body);
    case 'deletion':
      return yield* decideDeletion(input);
    case 'reference':
      return decideReference(input, body);
    case 'ignored':
      return { state: 'SKIPPED', reason: kindReason('ignored', header), detail: null };
    case 'unsupported':
      return { state: 'FAILED', errorClass: 'UNSUPPORTED', reason: kindReason('unsupported', header) };
  }
}
