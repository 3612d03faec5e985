/** A dead event as the API and the command line give it. */
import { laterDelivered } from '../actions/dead-events.ts';
import type { DeadEvent } from '../store/dead-event.ts';
import { toMillis, toTimestamp } from '../store/time.ts';

export type DeadEventJson = ReturnType<typeof deadEventJson>;

/** IDs as text, times in ISO 8601. */
export function deadEventJson(event: DeadEvent) {
  const { eventId, target, flid, type, version, state, attempts, lastError, msgId, createdAt } = event;
  return {
    ...{ eventId: eventId.toString(), target, flid, type, version, state, attempts, lastError },
    msgId: msgId?.toString() ?? null,
    createdAt: toTimestamp(toMillis(createdAt)),
    flightVersion: event.flightVersion,
    laterDelivered: laterDelivered(event),
  };
}
