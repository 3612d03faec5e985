/** The shapes of messages (`routes/messages.ts`). */
import { ref } from './components.ts';
import {
  about,
  anything,
  count,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  record,
  text,
  time,
} from './shapes.ts';

const COLUMNS = {
  ...{ msgId: id, type: nullable(text), styp: nullable(text), state: text, attempts: count },
  ...{ errorClass: nullable(text), lastError: nullable(text), reason: nullable(text) },
  ...{
    nextAttemptAt: nullable(time),
    receivedAt: nullable(time),
    enqueuedAt: time,
    terminalAt: nullable(time),
  },
  ...{ late: flag, replayed: flag, restored: flag, shadow: flag, archived: flag },
  mark: about(
    oneOf('none', 'shadow', 'owed', 'marked', 'abandoned', 'settled'),
    'How it stands with its mark in the mailbox.',
  ),
} as const;

/** A message as listed. */
export const LISTED_MESSAGE = object(COLUMNS);

/** One message. */
export const MESSAGE = object({
  ...COLUMNS,
  ...{ identity: nullable(text), detail: nullable(record(anything)), maxAttempts: count },
  report: about(nullable(oneOf('PENDING', 'SENT')), 'Of the error to the upstream.'),
  ...{ archivedAt: nullable(time), terminalSeq: nullable(id) },
  otherProfile: about(nullable(flag), 'Whether another profile than the one in use has judged it.'),
  backfill: object({
    ...{ markedAtIntake: flag, attempts: count, nextAt: nullable(time), markedAt: nullable(time) },
    ...{ abandonedAt: nullable(time), abandonedReason: nullable(text) },
    ...{ confirmedAt: nullable(time), confirmedBy: nullable(text) },
  }),
  text: object({ kept: flag, bytes: nullable(count), sha256: nullable(text) }),
  flights: about(
    list(
      object({
        ...{ flid: text, flightNumber: nullable(text), stateVersion: nullable(count) },
        ...{ changed: list(text), superseded: list(text) },
      }),
    ),
    'That it touched, the first of them.',
  ),
  moreFlights: flag,
  events: list(ref('Event')),
  duplicates: list(object({ msgId: id, reason: text, terminalAt: time })),
});

const HEADER = {
  ...{ sender: text, sequence: text, dttm: time, type: text, subtype: text, echo: nullable(text) },
} as const;
const REFUSED = {
  reason: text,
  faults: list(object({ reason: text, message: text, line: nullable(count), column: nullable(count) })),
  header: nullable(object({}, HEADER)),
} as const;

/** What a text says by the profile in use. */
export const DECODED = {
  anyOf: [
    object({
      outcome: oneOf('decoded'),
      message: object({
        header: object(HEADER),
        body: record(anything),
        ...{ contentHash: text, unknownElements: list(text), unmatchedStands: count },
      }),
    }),
    object({ outcome: oneOf('malformed', 'codec-error'), ...REFUSED }, { scheduledTimes: list(time) }),
  ],
};
