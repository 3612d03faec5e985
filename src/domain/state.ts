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

/** Every name that `changed` and `superseded` may carry, in the order in which they are listed. */
export const CHANGE_NAMES: readonly string[] = [
  ...SCALARS.map((field) => field.path),
  ...COLLECTIONS.map((field) => field.name),
  'deleted',
];

/** The keys of an object in their order, and one in which all of them are null or []. */
interface Shape {
  readonly nodes: readonly ShapeNode[];
  readonly pattern: JsonObject;
}

/** What stands under one key of a shape. */
type ShapeNode =
  | { readonly kind: 'scalar'; readonly key: string }
  | { readonly kind: 'collection'; readonly key: string; readonly name: CollectionName }
  | { readonly kind: 'group'; readonly key: string; readonly shape: Shape };

const NO_OBJECT: JsonObject = {};
const NO_ENTRIES: readonly Entry[] = [];

const SCALAR_KEYS: ReadonlyMap<ScalarPath, readonly string[]> = new Map(
  SCALARS.map((field) => [field.path, field.path.split('.')]),
);
const STATE_SHAPE: readonly ShapeNode[] = [
  { key: 'flid', kind: 'scalar' },
  ...shapeOf(SCALARS.map((field) => field.path)),
  ...COLLECTIONS.map(({ name }): ShapeNode => ({ key: name, kind: 'collection', name })),
];
const ENTRY_SHAPES: ReadonlyMap<CollectionName, Shape> = new Map(
  COLLECTIONS.map((field) => [
    field.name,
    patterned(shapeOf(field.attributes.map((attribute) => attribute.path))),
  ]),
);
const COLLECTION_ORDERS: ReadonlyMap<CollectionName, CollectionField['order']> = new Map(
  COLLECTIONS.map((field) => [field.name, field.order]),
);
const STATE = patterned(STATE_SHAPE);

/** The state of a flight of which nothing is known. */
export function emptyState(flid: Flid): FlightState {
  return kept({ ...STATE.pattern, flid });
}

/** States that were built here: in order and complete already, and never changed (the type is read-only). */
const CANONICAL = new WeakSet<FlightState>();

function kept(state: FlightState): FlightState {
  CANONICAL.add(state);
  return state;
}

/**
 * The same state in catalogue order, completed; the flight ID is read from the state. Keys that the catalogue does not
 * know are left behind.
 */
export function canonicalise(state: FlightState): FlightState {
  if (CANONICAL.has(state)) return state;
  if (typeof state['flid'] !== 'string') throw new Error('a flight state without its flid');
  return kept(shaped(STATE, state));
}

/**
 * A state being rewritten. It shares with the original what is not written, so that a message costs what it changes and
 * not what its flight has; the original stays as it is.
 */
export class StateDraft {
  readonly #before: FlightState;
  #after: Record<string, Json> | null = null;

  constructor(state: FlightState) {
    this.#before = canonicalise(state);
  }

  scalar(path: ScalarPath): FieldValue {
    return scalarValue(valueAt(this.#after ?? this.#before, keysOf(path)));
  }

  setScalar(path: ScalarPath, value: FieldValue): void {
    let node = this.#written();
    const keys = keysOf(path);
    for (const key of keys.slice(0, -1)) {
      const below = node[key];
      const copy: Record<string, Json> = isJsonObject(below) ? { ...below } : {};
      node[key] = copy;
      node = copy;
    }
    node[keys.at(-1) ?? path] = value;
  }

  entries(name: CollectionName): readonly Entry[] {
    // Canonical: each of them is an object.
    return (this.#after ?? this.#before)[name] as readonly Entry[];
  }

  /** @param entries canonical, see {@link canonicalEntries} */
  setEntries(name: CollectionName, entries: readonly Entry[]): void {
    this.#written()[name] = entries;
  }

  /** The state as written; the canonical original where nothing was. */
  finish(): FlightState {
    return this.#after === null ? this.#before : kept(this.#after);
  }

  #written(): Record<string, Json> {
    return (this.#after ??= { ...this.#before });
  }
}

/** One entry with exactly the attributes of the catalogue, in their order. */
export function canonicalEntry(name: CollectionName, entry: Entry): Entry {
  const shape = ENTRY_SHAPES.get(name);
  return shape === undefined ? {} : shaped(shape, entry);
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
  return scalarValue(valueAt(state, keysOf(path)));
}

/** The state with one scalar set, canonical; the given one stays as it is. */
export function withScalar(state: FlightState, path: ScalarPath, value: FieldValue): FlightState {
  const draft = new StateDraft(state);
  draft.setScalar(path, value);
  return draft.finish();
}

/** Entries of a collection, canonical; [] where it is absent. */
export function entriesOf(state: FlightState, name: CollectionName): readonly Entry[] {
  return canonicalArray(name, state[name]);
}

/** Scalars by path and collections by name, in catalogue order: what a table or a comparison wants. */
export function flatten(state: FlightState): ReadonlyMap<ScalarPath | CollectionName, Json> {
  const canonical = canonicalise(state);
  return new Map<ScalarPath | CollectionName, Json>([
    ...SCALARS.map(({ path }) => [path, scalarAt(canonical, path)] as const),
    ...COLLECTIONS.map(({ name }) => [name, canonical[name] ?? NO_ENTRIES] as const),
  ]);
}

/** Names in catalogue order, `deleted` last. */
export function inCatalogueOrder(names: ReadonlySet<string>): readonly string[] {
  if (names.size === 0) return [];
  return CHANGE_NAMES.filter((name) => names.has(name));
}

function shapeOf(paths: readonly string[]): readonly ShapeNode[] {
  const below = new Map<string, string[]>();
  for (const path of paths) {
    const [key = path, ...rest] = path.split('.');
    const group = below.get(key) ?? [];
    if (rest.length > 0) group.push(rest.join('.'));
    below.set(key, group);
  }
  return [...below].map(([key, rest]): ShapeNode =>
    rest.length === 0 ? { key, kind: 'scalar' } : { key, kind: 'group', shape: patterned(shapeOf(rest)) },
  );
}

/**
 * The pattern is read from text on purpose: an object that gets its keys one by one becomes a hash table, which takes
 * ten times the memory and three times as long to be written as JSON; its copies stay what it is.
 */
function patterned(nodes: readonly ShapeNode[]): Shape {
  const empty = nodes.map((node): readonly [string, Json] => {
    switch (node.kind) {
      case 'scalar':
        return [node.key, null];
      case 'collection':
        return [node.key, NO_ENTRIES];
      case 'group':
        return [node.key, node.shape.pattern];
    }
  });
  return { nodes, pattern: JSON.parse(JSON.stringify(Object.fromEntries(empty))) as JsonObject };
}

function shaped({ nodes, pattern }: Shape, source: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...pattern };
  for (const node of nodes) {
    const value = source[node.key];
    switch (node.kind) {
      case 'scalar':
        result[node.key] = scalarValue(value);
        break;
      case 'collection':
        result[node.key] = canonicalArray(node.name, value);
        break;
      case 'group':
        result[node.key] = shaped(node.shape, isJsonObject(value) ? value : NO_OBJECT);
        break;
    }
  }
  return result;
}

function canonicalArray(name: CollectionName, value: Json | undefined): readonly Entry[] {
  return isJsonArray(value) && value.length > 0
    ? value.map((entry) => canonicalEntry(name, isJsonObject(entry) ? entry : NO_OBJECT))
    : NO_ENTRIES;
}

function keysOf(path: ScalarPath): readonly string[] {
  return SCALAR_KEYS.get(path) ?? path.split('.');
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
