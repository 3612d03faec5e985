/**
 * The closed vocabulary of a META-XML profile (dialect.md: "no conditions or expressions; what needs more is
 * a module"). Every object is strict: a key the vocabulary lacks is a fault. Whether the fields named exist
 * is checked against the catalogue in `profile-check.ts`.
 */
import { z } from 'zod';

/** An element's name; no prefix, because prefixes are dropped. */
const elementName = z.string().regex(/^[A-Za-z_][A-Za-z0-9._-]{0,63}$/, 'expected an element name');
/** `@NAME`, `#text` or the name of a child element. */
const source = z
  .string()
  .regex(/^(?:@?[A-Za-z_][A-Za-z0-9._-]{0,63}|#text)$/, 'expected NAME, @NAME or #text');
/** An element name, or one taken from the header. */
const bodyName = z.union([elementName, z.enum(['{TYPE}', '{STYP}'])]);
const code = z.string().regex(/^[A-Z]{2,6}$/, 'expected 2 to 6 upper-case letters');
const ignoreRule = z.string().regex(/^[A-Z]{2,6}(?:\/[A-Z]{2,6})?$/, 'expected TYPE or TYPE/STYP');
const path = z.string().min(1);
const identifier = z.string().regex(/^[A-Za-z_][A-Za-z0-9_$.]{0,127}$/, 'expected a table or column name');
const profileName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'expected letters, digits, dot, dash or underscore');

const envelope = z.strictObject({
  root: elementName,
  meta: elementName,
  sender: elementName,
  sequence: elementName,
  time: elementName,
  type: elementName,
  subtype: elementName,
  /** Our own sequence number, echoed in an answer; null where the upstream has no such field. */
  echo: elementName.nullable(),
});

const kinds = z.strictObject({
  ignore: z.array(ignoreRule),
  schedule: z.strictObject({
    type: code,
    payload: bodyName,
    count: elementName,
    record: elementName,
    required: z.array(elementName).min(1),
    subtypes: z.record(code, z.enum(['DNLD', 'RESP', 'ADFT'])),
  }),
  operation: z.strictObject({
    type: code,
    record: bodyName,
    subtypes: z.record(code, z.array(elementName).min(1)),
  }),
  deletion: z.strictObject({
    type: code,
    subtypes: z.array(code),
    records: z.array(bodyName).min(1),
  }),
  reference: z.strictObject({
    count: elementName,
    record: bodyName,
    subtypes: z.record(code, z.enum(['DNLD', 'RESP', 'ADD', 'UPD', 'DEL'])),
    types: z.array(code),
    keys: z.record(code, elementName),
  }),
});

const flight = z.strictObject({
  key: elementName,
  markers: z.array(elementName),
  scalars: z.record(elementName, path),
  attributed: z.record(elementName, z.record(path, source)),
  discriminated: z.record(
    elementName,
    z.strictObject({ by: source, value: source, fields: z.record(z.string().min(1), path) }),
  ),
  lists: z.record(
    elementName,
    z.strictObject({
      collection: path,
      attributes: z.record(path, source),
      unless: elementName.optional(),
    }),
  ),
  delays: z.record(
    elementName,
    z.strictObject({ code: source, start: source, minutes: source, remark: source }),
  ),
  push: z.record(
    elementName,
    z.strictObject({ stand: source, time: source, indicator: source, unused: z.array(source).optional() }),
  ),
  tractor: z.record(
    elementName,
    z.strictObject({ stand: source, time: source, unused: z.array(source).optional() }),
  ),
});

/** A template: what stands in the header, and one payload element of values. */
const template = <const V extends readonly [string, ...string[]]>(values: V) => ({
  type: code,
  payload: elementName,
  elements: z.record(elementName, z.enum(values)),
});

const outbound = z.strictObject({
  'header-time': z.string(),
  'schedule-request': z.strictObject({
    ...template(['{from}', '{until}']),
    subtype: code,
    time: z.string(),
  }),
  'reference-request': z.strictObject({
    ...template(['{rtype}']),
    subtype: z.union([code, z.literal('{rtype}')]),
  }),
  'error-report': z.strictObject({
    ...template(['{sequence}', '{type}', '{subtype}', '{errorClass}', '{description}']),
    subtype: z.union([code, z.literal('{type}')]),
    /** Where the TYPE of the offending message is not known. */
    'subtype-unknown': code,
  }),
});

const mailbox = z.strictObject({
  inbound: z.strictObject({
    table: identifier,
    id: identifier,
    text: identifier,
    received: identifier,
    processed: identifier,
    status: identifier,
  }),
  outbound: z.strictObject({
    table: identifier,
    id: identifier,
    text: identifier,
    inserted: identifier,
    routing: identifier,
  }),
});

/** Names of codes: they judge nothing and are told beside the state. */
const names = z.strictObject({
  /** Reference type → children of its records that may hold the name, the best first. */
  elements: z.record(code, z.array(elementName).min(1)),
  /** Scalar, or collection and attribute → the reference type that its codes are of. */
  fields: z.record(path, code),
});

/** A profile file. */
export const profileSchema = z.strictObject({
  name: profileName,
  envelope,
  times: z.strictObject({ formats: z.array(z.string()).min(1) }),
  kinds,
  flight,
  names,
  outbound,
  mailbox,
});

/** A profile whose form is valid. */
export type Profile = z.infer<typeof profileSchema>;
