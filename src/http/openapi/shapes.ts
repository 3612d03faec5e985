/** JSON Schemas (draft 2020-12) of what the API takes and gives, in a few words each. */
import type { JsonObject } from '../../domain/json.ts';

export type Schema = JsonObject;

/** Any JSON. */
export const anything: Schema = {};
export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const number: Schema = { type: 'number' };
/** A number of things. */
export const count: Schema = { type: 'integer', minimum: 0 };
/** An ID of 64 bits: text, because JSON's numbers would round it. */
export const id: Schema = { type: 'string', pattern: '^\\d{1,19}$' };
export const time: Schema = { type: 'string', format: 'date-time' };
export const day: Schema = { type: 'string', format: 'date' };

/** The same with a sentence about it. */
export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** The same, or null. */
export function nullable(schema: Schema): Schema {
  const { type } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = schema['enum'];
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as readonly string[]), null] } : {}),
  };
}

/** How many an action was for, and changed or would. */
export const counted = (): Schema =>
  object({
    all: about(count, 'All that it was for; the first of them are listed.'),
    changed: about(count, 'Of them, those that were changed, or would be.'),
  });

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

export function list(items: Schema): Schema {
  return { type: 'array', items };
}

/** An object with any keys. */
export function record(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** An object that always has some properties and may have others. */
export function object(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const names = Object.keys(required);
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length === 0 ? {} : { required: names }),
  };
}

/** A page of things, and where the next begins. @param cursor the parameter that takes it */
export function page(
  name: string,
  items: Schema,
  more: Readonly<Record<string, Schema>> = {},
  cursor: 'after' | 'before' = 'after',
): Schema {
  return object({
    ...more,
    [name]: list(items),
    next: nullable(about(text, `The next page is asked for with it as "${cursor}"; null at the end.`)),
  });
}

/** How many are wanted at once. A value that is no such number asks for the default. */
export function upTo(most: number, fallback: number): Schema {
  return { type: 'integer', minimum: 1, maximum: most, default: fallback };
}

/** Where a page begins: `next` of the one before. */
export const after: Schema = about(text, 'Where the page begins: "next" of the page before.');
