/** Attempts of an event and what follows from them (contract, `delivery.retry.*`). */
import { toTimestamp } from '../store/time.ts';
import type { RefusedEvent } from '../store/msg-event.ts';

export interface DeliveryRetry {
  readonly maxAttempts: number;
  /** Waits between the attempts, ms: maxAttempts − 1 tiers. */
  readonly backoffMs: readonly number[];
}

/** Most characters of a reason that are kept. */
const REASON_LENGTH = 500;

/** Charges one attempt: the next tier of the backoff, or DEAD after the last attempt. */
export function chargeAttempt(
  event: { readonly eventId: bigint; readonly attempts: number },
  reason: string,
  now: number,
  retry: DeliveryRetry,
): RefusedEvent {
  const attempts = event.attempts + 1;
  const wait =
    attempts < retry.maxAttempts ? (retry.backoffMs[attempts - 1] ?? retry.backoffMs.at(-1)) : null;
  return {
    eventId: event.eventId,
    attempts,
    nextAttemptAt: wait == null ? null : toTimestamp(now + wait),
    reason: reason.slice(0, REASON_LENGTH),
  };
}
