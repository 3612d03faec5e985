/** Schemas that several routes share, by the names they have in the OpenAPI document. */
import { publishedFlightSchema } from '../../domain/event-schema.ts';
import {
  about,
  count,
  day,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  text,
  time,
  type Schema,
} from './shapes.ts';

/** Most things that a body may list. */
export const MOST_LISTED = 10_000;

const TARGET = oneOf('KAFKA:msg', 'KAFKA:schd');

/** What every listed flight has. */
export const FLIGHT_COLUMNS = {
  flid: text,
  version: count,
  operationDay: day,
  deleted: flag,
  updatedAt: time,
  lastMsgId: about(id, 'The message that touched it last.'),
  flight: ref('Flight'),
} as const satisfies Record<string, Schema>;

/** What every listed event has. */
export const EVENT_COLUMNS = {
  eventId: id,
  target: TARGET,
  flid: text,
  type: oneOf('UPSERT', 'TOMBSTONE'),
  version: count,
  state: oneOf('PENDING', 'SENT', 'DEAD', 'DROPPED'),
  createdAt: time,
  sentAt: nullable(time),
  msgId: nullable(id),
  changed: list(text),
  flightNumber: nullable(text),
} as const satisfies Record<string, Schema>;

/** What every dead event has. */
export const DEAD_EVENT_COLUMNS = {
  eventId: id,
  target: TARGET,
  flid: text,
  type: oneOf('UPSERT', 'TOMBSTONE'),
  version: count,
  state: oneOf('PENDING', 'SENT', 'DEAD', 'DROPPED'),
  attempts: count,
  lastError: nullable(text),
  msgId: nullable(id),
  createdAt: time,
  flightVersion: nullable(about(count, 'The version that the flight has now.')),
  laterDelivered: about(list(count), 'Versions above it that have been delivered.'),
} as const satisfies Record<string, Schema>;

export type ComponentName =
  'Error' | 'Refused' | 'Flight' | 'ListedFlight' | 'Event' | 'Outcome' | 'DeadEvent';

export const COMPONENTS: Readonly<Record<ComponentName, Schema>> = {
  Error: about(object({ error: about(text, 'What is wrong, and what would be right.') }), 'A refusal.'),
  Refused: about(
    object({ outcome: oneOf('refused'), message: text }),
    'The action fits no longer, or not yet: nothing was changed.',
  ),
  Flight: publishedFlightSchema(),
  ListedFlight: object(FLIGHT_COLUMNS),
  Event: object(EVENT_COLUMNS),
  Outcome: object({ outcome: oneOf('done', 'planned'), message: text }),
  DeadEvent: object(DEAD_EVENT_COLUMNS),
};

/** The place of a shared schema. */
export function ref(name: ComponentName): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Why a change is made. */
export const reason: Schema = {
  ...about(text, 'Why; kept in the audit. Needed, except for a dry run.'),
  minLength: 1,
  pattern: '\\S',
};
export const dryRun: Schema = about(flag, 'Says what would be done and does nothing.');

const TRIED: Schema = { required: ['dryRun'], properties: { dryRun: { const: true } } };

/**
 * The body of a change: its own properties, a reason and perhaps a dry run.
 *
 * @param ways ways to say what is meant, by the properties that each needs; exactly one of them
 */
export function changeBody(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
  ways: readonly (readonly string[])[] = [],
): Schema {
  return {
    ...object(required, { ...optional, reason, dryRun }),
    anyOf: [{ required: ['reason'] }, TRIED],
    ...(ways.length === 0 ? {} : { oneOf: ways.map((names) => ({ required: names })) }),
  };
}

/** The body of a change of several things, or of all. */
export function listedBody(optional: Readonly<Record<string, Schema>>): Schema {
  const ids = { ...list(id), minItems: 1, maxItems: MOST_LISTED };
  const all = about({ type: 'boolean', const: true }, 'All there are.');
  return changeBody({}, { ids, all, ...optional }, [['ids'], ['all']]);
}
