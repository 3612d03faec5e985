/**
 * A profile's record vocabulary, compiled against the catalogue: for each element of a flight record what it
 * writes, with every name already looked up, so that decoding a record is a walk over its children.
 */
import {
  COLLECTIONS,
  SCALARS,
  type CollectionField,
  type ListName,
  type ScalarField,
  type ScalarPath,
} from '../../domain/fields.ts';
import type { Profile } from './profile-schema.ts';
import type { ValueRule } from './values.ts';

/** The leaves of an element by where they stand; the numbers index the values read. */
export interface Parts {
  readonly attributes: ReadonlyMap<string, number>;
  readonly children: ReadonlyMap<string, number>;
  /** Index of the element's own text; null where it has no meaning. */
  readonly text: number | null;
  /** Name as faults cite it (`@` left out; null for the element's own text), and rule, by index. */
  readonly rules: readonly ValueRule[];
  /** Known, without meaning. */
  readonly unused: ReadonlySet<string>;
}

/** A collection entry's JSON: keys in catalogue order, each a value's index (null: never known) or nested. */
export type EntryShape = readonly (readonly [key: string, part: number | null | EntryShape])[];

/** What an element of a flight record means. */
export type ElementMeaning =
  | { readonly kind: 'key' }
  | { readonly kind: 'marker' }
  | { readonly kind: 'scalar'; readonly field: ScalarPath; readonly rule: ValueRule }
  | { readonly kind: 'attributed'; readonly parts: Parts; readonly fields: readonly ScalarPath[] }
  /** Values read: discriminator, value. */
  | {
      readonly kind: 'discriminated';
      readonly parts: Parts;
      readonly by: string;
      readonly fields: ReadonlyMap<string, ScalarPath>;
    }
  | {
      readonly kind: 'list';
      readonly collection: ListName;
      readonly parts: Parts;
      readonly shape: EntryShape;
      /** Index of the sequence number; null where the collection is in the order given. */
      readonly sequence: number | null;
      readonly unless: string | null;
    }
  /** Values read: code, start, minutes, remark. */
  | { readonly kind: 'delay'; readonly parts: Parts; readonly code: string }
  /** Values read: stand, time, indicator. */
  | { readonly kind: 'push'; readonly parts: Parts }
  /** Values read: stand, time. */
  | { readonly kind: 'tractor'; readonly parts: Parts };

/** Meaning by element name. */
export type RecordVocabulary = ReadonlyMap<string, ElementMeaning>;

const SCALAR_FIELDS: ReadonlyMap<string, (typeof SCALARS)[number]> = new Map(
  SCALARS.map((field) => [field.path, field]),
);
const TEXT: ValueRule = { type: 'text', values: null };
const TIME: ValueRule = { type: 'time', values: null };
const DURATION: ValueRule = { type: 'duration', values: null };

/**
 * Compiles the record vocabulary of a checked profile.
 *
 * @throws Error where a field is not in the catalogue: the profile was not checked
 */
export function compileVocabulary(flight: Profile['flight']): RecordVocabulary {
  const meanings = new Map<string, ElementMeaning>([[flight.key, { kind: 'key' }]]);
  for (const element of flight.markers) meanings.set(element, { kind: 'marker' });
  for (const [element, path] of Object.entries(flight.scalars)) {
    const field = scalarField(path);
    meanings.set(element, { kind: 'scalar', field: field.path, rule: ruleOf(field) });
  }
  for (const [element, leaves] of Object.entries(flight.attributed)) {
    const fields = Object.keys(leaves).map(scalarField);
    const parts = compileParts(Object.values(leaves), fields.map(ruleOf));
    meanings.set(element, { kind: 'attributed', parts, fields: fields.map((field) => field.path) });
  }
  for (const [element, { by, value, fields }] of Object.entries(flight.discriminated)) {
    const targets = new Map(Object.entries(fields).map(([name, path]) => [name, scalarField(path)] as const));
    const [first] = targets.values();
    const rules: ValueRule[] = [
      { type: 'text', values: [...targets.keys()] },
      first === undefined ? TEXT : ruleOf(first),
    ];
    meanings.set(element, {
      kind: 'discriminated',
      parts: compileParts([by, value], rules),
      by: citedName(by, element),
      fields: new Map([...targets].map(([name, field]) => [name, field.path])),
    });
  }
  for (const [element, spec] of Object.entries(flight.lists)) meanings.set(element, compileList(spec));
  for (const [element, { code, start, minutes, remark }] of Object.entries(flight.delays)) {
    const parts = compileParts([code, start, minutes, remark], [TEXT, TIME, DURATION, TEXT]);
    meanings.set(element, { kind: 'delay', parts, code: citedName(code, element) });
  }
  for (const [element, { stand, time, indicator, unused }] of Object.entries(flight.push)) {
    meanings.set(element, {
      kind: 'push',
      parts: compileParts([stand, time, indicator], [TEXT, TIME, TEXT], unused),
    });
  }
  for (const [element, { stand, time, unused }] of Object.entries(flight.tractor)) {
    meanings.set(element, { kind: 'tractor', parts: compileParts([stand, time], [TEXT, TIME], unused) });
  }
  return meanings;
}

function compileList(spec: Profile['flight']['lists'][string]): ElementMeaning {
  const collection = COLLECTIONS.find((field) => field.name === spec.collection);
  if (collection === undefined || collection.name === 'delays') {
    throw new Error(`profile names no replaced collection: ${spec.collection}`);
  }
  const attributes: CollectionField['attributes'] = collection.attributes;
  const paths = Object.keys(spec.attributes);
  const rules = paths.map((path): ValueRule => {
    const attribute = attributes.find((candidate) => candidate.path === path);
    if (attribute === undefined) throw new Error(`profile names no attribute of ${collection.name}: ${path}`);
    return { type: attribute.type, values: null };
  });
  const sequence = paths.indexOf('seq');
  return {
    kind: 'list',
    collection: collection.name,
    parts: compileParts(Object.values(spec.attributes), rules),
    shape: compileShape(
      attributes.map(({ path }) => ({ keys: path.split('.'), index: indexOrNull(paths.indexOf(path)) })),
    ),
    sequence: indexOrNull(sequence),
    unless: spec.unless ?? null,
  };
}

interface ShapeLeaf {
  readonly keys: readonly string[];
  readonly index: number | null;
}

function compileShape(leaves: readonly ShapeLeaf[]): EntryShape {
  const groups = Map.groupBy(leaves, (leaf) => leaf.keys[0] ?? '');
  return [...groups].map(([key, members]) => {
    const [only] = members;
    if (only?.keys.length === 1) return [key, only.index] as const;
    return [key, compileShape(members.map(({ keys, index }) => ({ keys: keys.slice(1), index })))] as const;
  });
}

function compileParts(
  sources: readonly string[],
  rules: readonly ValueRule[],
  unused: readonly string[] = [],
): Parts {
  const attributes = new Map<string, number>();
  const children = new Map<string, number>();
  let text: number | null = null;
  for (const [index, source] of sources.entries()) {
    if (source === '#text') text = index;
    else if (source.startsWith('@')) attributes.set(source.slice(1), index);
    else children.set(source, index);
  }
  return { attributes, children, text, rules, unused: new Set(unused) };
}

/** The name by which faults cite a leaf. */
function citedName(source: string, element: string): string {
  if (source === '#text') return element;
  return source.startsWith('@') ? source.slice(1) : source;
}

function scalarField(path: string): ScalarField & { readonly path: ScalarPath } {
  const field = SCALAR_FIELDS.get(path);
  if (field === undefined) throw new Error(`profile names no field: ${path}`);
  return field;
}

function ruleOf(field: ScalarField): ValueRule {
  return { type: field.type, values: field.values ?? null };
}

function indexOrNull(index: number): number | null {
  return index < 0 ? null : index;
}
