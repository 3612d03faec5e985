/**
 * The published state of a flight: building it, reading it back, and putting it in order. A state comes back
 * from jsonb with any key order, and one stored by an older version may lack keys; everything here reads an
 * absent key as null or [] and writes catalogue order (contract, "Delivery": every field always present).
 */
import {
  COLLECTIONS,
  SCALARS,
  type CollectionField,
  type CollectionName,
  type ScalarPath,
} from './fields.ts';
import type { FlightState } from './flight.ts';
import type { Flid } from './ids.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from './json.ts';
import type { Entry, FieldValue } from './message.ts';

/** A state taken apart: every scalar by path and every collection by name, none missing. Mutable on purpose. */
export interface FlightValues {
  readonly scalars: Map<ScalarPath, FieldValue>;
  readonly collections: Map<CollectionName, readonly Entry[]>;
}

/** Every name that `changed` and `superseded` may carry, in the order in which they are listed. */
export const CHANGE_NAMES: readonly string[] = [
  ...SCALARS.map((field) => field.path),
  ...COLLECTIONS.map((field) => field.name),
  'deleted',
];

/** A node of a nested shape; a leaf knows the whole path that leads to it. */
type ShapeNode =
  | { readonly key: string; readonly path: string }
  | { readonly key: string; readonly children: readonly ShapeNode[] };

const NO_OBJECT: JsonObject = {};
const NO_ENTRIES: readonly Entry[] = [];

const SCALAR_SHAPE = shapeOf(SCALARS.map((field) => field.path));
const SCALAR_KEYS = SCALARS.map((field) => ({ path: field.path, keys: field.path.split('.') }));
const ENTRY_SHAPES: ReadonlyMap<CollectionName, readonly ShapeNode[]> = new Map(
  COLLECTIONS.map((field) => [field.name, shapeOf(field.attributes.map((attribute) => attribute.path))]),
);
const COLLECTION_ORDERS: ReadonlyMap<CollectionName, CollectionField['order']> = new Map(
  COLLECTIONS.map((field) => [field.name, field.order]),
);

/** The state of a flight of which nothing is known. */
export function emptyState(flid: Flid): FlightState {
  return renderState(flid, readValues(NO_OBJECT));
}

/** Takes a state apart. Absent keys become null or []; keys the catalogue does not know are left behind. */
export function readValues(state: FlightState): FlightValues {
  const scalars = new Map<ScalarPath, FieldValue>();
  for (const { path, keys } of SCALAR_KEYS) scalars.set(path, scalarValue(valueAt(state, keys)));
  const collections = new Map<CollectionName, readonly Entry[]>();
  for (const { name } of COLLECTIONS) {
    const entries = state[name];
    collections.set(
      name,
      isJsonArray(entries) && entries.length > 0
        ? entries.map((entry) => canonicalEntry(name, isJsonObject(entry) ? entry : NO_OBJECT))
        : NO_ENTRIES,
    );
  }
  return { scalars, collections };
}

/** Builds the published object: `flid`, then scalars nested, then collections, in catalogue order. */
export function renderState(flid: Flid, values: FlightValues): FlightState {
  const state: Record<string, Json> = { flid };
  renderInto(state, SCALAR_SHAPE, values.scalars);
  for (const { name } of COLLECTIONS) state[name] = values.collections.get(name) ?? NO_ENTRIES;
  CANONICAL.add(state);
  return state;
}

/** States that were built here: in order and complete already, and never changed (the type is read-only). */
const CANONICAL = new WeakSet<FlightState>();

/** The same state in catalogue order, completed; the flight ID is read from the state. */
export function canonicalise(state: FlightState): FlightState {
  if (CANONICAL.has(state)) return state;
  const id = state['flid'];
  if (typeof id !== 'string') throw new Error('a flight state without its flid');
  return renderState(id as Flid, readValues(state));
}

/** One entry with exactly the attributes of the catalogue, in their order. */
export function canonicalEntry(name: CollectionName, entry: Entry): Entry {
  return shaped(ENTRY_SHAPES.get(name) ?? [], entry);
}

/**
 * Entries as they are kept: canonical, and ordered by sequence number where the collection has one (dialect.md,
 * "Merge rules"). Entries without a number come last; ties keep the order of the message.
 */
export function canonicalEntries(name: CollectionName, entries: readonly Entry[]): readonly Entry[] {
  const canonical = entries.map((entry) => canonicalEntry(name, entry));
  if (COLLECTION_ORDERS.get(name) === 'seq') canonical.sort((left, right) => rank(left) - rank(right));
  return canonical;
}

/** Value of a scalar; null where it is absent. */
export function scalarAt(state: FlightState, path: ScalarPath): FieldValue {
  return scalarValue(valueAt(state, path.split('.')));
}

/** The state with one scalar set, canonical; the given one stays as it is. */
export function withScalar(state: FlightState, path: ScalarPath, value: FieldValue): FlightState {
  const id = state['flid'];
  if (typeof id !== 'string') throw new Error('a flight state without its flid');
  const values = readValues(state);
  values.scalars.set(path, value);
  return renderState(id as Flid, values);
}

/** Entries of a collection, canonical; [] where it is absent. */
export function entriesOf(state: FlightState, name: CollectionName): readonly Entry[] {
  const entries = state[name];
  if (!isJsonArray(entries)) return NO_ENTRIES;
  return entries.map((entry) => canonicalEntry(name, isJsonObject(entry) ? entry : NO_OBJECT));
}

/** Scalars by path and collections by name, in catalogue order: what a table or a comparison wants. */
export function flatten(state: FlightState): ReadonlyMap<ScalarPath | CollectionName, Json> {
  const { scalars, collections } = readValues(state);
  return new Map<ScalarPath | CollectionName, Json>([...scalars, ...collections]);
}

/** Names in catalogue order, `deleted` last. */
export function inCatalogueOrder(names: ReadonlySet<string>): readonly string[] {
  if (names.size === 0) return [];
  return CHANGE_NAMES.filter((name) => names.has(name));
}

function shapeOf(paths: readonly string[], prefix = ''): readonly ShapeNode[] {
  const below = new Map<string, string[]>();
  for (const path of paths) {
    const [key = path, ...rest] = path.split('.');
    const group = below.get(key) ?? [];
    if (rest.length > 0) group.push(rest.join('.'));
    below.set(key, group);
  }
  return [...below].map(([key, rest]) =>
    rest.length === 0
      ? { key, path: `${prefix}${key}` }
      : { key, children: shapeOf(rest, `${prefix}${key}.`) },
  );
}

function renderInto(
  target: Record<string, Json>,
  shape: readonly ShapeNode[],
  values: ReadonlyMap<string, FieldValue>,
): void {
  for (const node of shape) {
    if ('path' in node) {
      target[node.key] = values.get(node.path) ?? null;
    } else {
      const nested: Record<string, Json> = {};
      renderInto(nested, node.children, values);
      target[node.key] = nested;
    }
  }
}

function shaped(shape: readonly ShapeNode[], source: JsonObject): JsonObject {
  const result: Record<string, Json> = {};
  for (const node of shape) {
    const value = source[node.key];
    result[node.key] =
      'path' in node ? scalarValue(value) : shaped(node.children, isJsonObject(value) ? value : NO_OBJECT);
  }
  return result;
}

function valueAt(state: FlightState, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = state;
  for (const key of keys) value = isJsonObject(value) ? value[key] : undefined;
  return value;
}

function scalarValue(value: Json | undefined): FieldValue {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

function rank(entry: Entry): number {
  const sequence = entry['seq'];
  return typeof sequence === 'number' ? sequence : Number.MAX_VALUE;
}
