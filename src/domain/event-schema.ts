/**
 * JSON Schemas (draft 2020-12) of the event values, generated from the catalogue. Consumers get the open variant:
 * later versions only ever add fields (contract, "Delivery"). The strict variant refuses what the catalogue does
 * not know and serves our own tests.
 */
import { schemaId, type EventValueName } from './event.ts';
import { COLLECTIONS, SCALARS, type FieldType, type ScalarField } from './fields.ts';
import type { Json, JsonObject } from './json.ts';

/** open: unknown fields are allowed. strict: they are not. */
export type SchemaVariant = 'open' | 'strict';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const TIME_PATTERN = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}[+-]\\d{2}:\\d{2}$';

/** Schema of one event value. */
export function eventSchema(name: EventValueName, variant: SchemaVariant = 'open'): JsonObject {
  switch (name) {
    case 'msg':
      return messageSchema(variant);
    case 'schd':
      return scheduleSchema(variant);
  }
}

/** The files of `schemas/v1`, name → text. */
export function schemaFiles(): ReadonlyMap<string, string> {
  const names = ['msg', 'schd'] as const satisfies readonly EventValueName[];
  return new Map(
    names.map((name) => [`${name}.schema.json`, `${JSON.stringify(eventSchema(name), null, 2)}\n`]),
  );
}

/** Schema of a flight as it is published, for the API too. */
export function publishedFlightSchema(): JsonObject {
  return flightSchema(true);
}

function messageSchema(variant: SchemaVariant): JsonObject {
  const open = variant === 'open';
  return {
    $schema: DRAFT,
    $id: schemaId('msg'),
    title: 'A visible change of one flight',
    ...object(
      open,
      {
        eventId: id('Its order is the delivery order; the key for deduplication.'),
        eventType: { type: 'string', enum: ['UPSERT', 'TOMBSTONE'] },
        ...common(),
        cause: {
          description: 'The message that made the change; null where none did.',
          anyOf: [
            object(open, {
              msgId: id('ID of the message in the mailbox.'),
              identity: { type: 'string', minLength: 1 },
              type: { type: 'string', minLength: 1 },
              styp: { type: 'string', minLength: 1 },
              dttm: time(),
            }),
            { type: 'null' },
          ],
        },
        changed: {
          description:
            'Paths of scalars and names of collections that differ from the version before; deleted.',
          type: 'array',
          items: { type: 'string' },
          uniqueItems: true,
        },
        flight: {
          description: 'The whole state; null in a TOMBSTONE.',
          anyOf: [{ $ref: '#/$defs/flight' }, { type: 'null' }],
        },
      },
      { names: names() },
    ),
    if: { properties: { eventType: { const: 'TOMBSTONE' } } },
    then: { properties: { flight: { type: 'null' } } },
    else: { properties: { flight: { type: 'object' } } },
    $defs: { flight: flightSchema(open) },
  };
}

function scheduleSchema(variant: SchemaVariant): JsonObject {
  const open = variant === 'open';
  return {
    $schema: DRAFT,
    $id: schemaId('schd'),
    title: 'The newest state of one flight; null where it is deleted',
    anyOf: [
      object(open, { ...common(), flight: { $ref: '#/$defs/flight' } }, { names: names() }),
      { type: 'null' },
    ],
    $defs: { flight: flightSchema(open) },
  };
}

function common(): Record<string, Json> {
  return {
    flid: { description: 'The flight ID of the upstream: text, the key.', type: 'string', minLength: 1 },
    operationDay: { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    stateVersion: { type: 'integer', minimum: 1 },
    updatedAt: time(),
  };
}

function flightSchema(open: boolean): JsonObject {
  const collections = COLLECTIONS.map(({ name, label, attributes }): [string, Json] => [
    name,
    { description: label.en, type: 'array', items: nested(open, attributes) },
  ]);
  return object(open, {
    flid: { type: 'string', minLength: 1 },
    ...propertiesOf(open, SCALARS),
    ...Object.fromEntries(collections),
  });
}

/** A field as far as a schema is concerned; attributes have no label. */
type Described = Pick<ScalarField, 'path' | 'type' | 'values'> & Partial<Pick<ScalarField, 'label'>>;

function nested(open: boolean, fields: readonly Described[]): JsonObject {
  return object(open, propertiesOf(open, fields));
}

function propertiesOf(open: boolean, fields: readonly Described[]): Record<string, Json> {
  const groups = new Map<string, Described[]>();
  for (const field of fields) {
    const [key = field.path] = field.path.split('.');
    groups.set(key, [...(groups.get(key) ?? []), field]);
  }
  const properties: Record<string, Json> = {};
  for (const [key, group] of groups) {
    const [first] = group;
    properties[key] =
      first?.path === key
        ? leaf(first)
        : nested(
            open,
            group.map((field) => ({ ...field, path: field.path.slice(key.length + 1) })),
          );
  }
  return properties;
}

function leaf({ type, label, values }: Described): JsonObject {
  return {
    ...(label === undefined ? {} : { description: label.en }),
    ...typeOf(type),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  };
}

function typeOf(type: FieldType): JsonObject {
  switch (type) {
    case 'text':
      return { type: ['string', 'null'] };
    case 'time':
      return { type: ['string', 'null'], format: 'date-time', pattern: TIME_PATTERN };
    case 'count':
      return { type: ['integer', 'null'] };
    case 'quantity':
      return { type: ['number', 'null'] };
  }
}

/** @param optional properties that an object may have beside those that it always has */
function object(
  open: boolean,
  properties: Record<string, Json>,
  optional: Record<string, Json> = {},
): JsonObject {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: open,
  };
}

function names(): JsonObject {
  return {
    description:
      'Names of the codes in the flight from reference data, by type and code, as far as they are known; only with msgx.events.names.',
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
  };
}

function id(description: string): JsonObject {
  return { description, type: 'string', pattern: '^\\d{1,19}$' };
}

function time(): JsonObject {
  return { type: 'string', format: 'date-time', pattern: TIME_PATTERN };
}
