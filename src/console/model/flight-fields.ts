/** Reading a flight by the paths of the catalogue. Pure. */
import type { Label } from '../../domain/fields.ts';
import { COLLECTIONS, SCALARS } from '../../domain/fields.ts';
import type { CollectionName, ScalarPath } from '../../domain/fields.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';

/** The value at a dotted path; null where there is none. */
export function valueAt(object: JsonObject, path: string): Json {
  let value: Json = object;
  for (const key of path.split('.')) {
    if (!isJsonObject(value)) return null;
    value = value[key] ?? null;
  }
  return value;
}

/** A scalar as text; empty where it is not known. */
export function textAt(flight: JsonObject, path: ScalarPath): string {
  const value = valueAt(flight, path);
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** The entries of a collection, in their published order. */
export function entries(flight: JsonObject, name: CollectionName): readonly JsonObject[] {
  const value = flight[name];
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}

/** One attribute of every entry, those without left out: the gates of a flight, for example. */
export function codes(flight: JsonObject, name: CollectionName, attribute = 'code'): string {
  return entries(flight, name)
    .map((entry) => entry[attribute])
    .filter((code) => typeof code === 'string' && code !== '')
    .join(name === 'route' ? ' – ' : ', ');
}

const LABELS: ReadonlyMap<string, Label> = new Map([
  ...SCALARS.map(({ path, label }): [string, Label] => [path, label]),
  ...COLLECTIONS.map(({ name, label }): [string, Label] => [name, label]),
]);

/**
 * What the catalogue calls a field; a register within a collection by its code, e.g. `delays[81]`. The bare path for one
 * that it does not know (a newer msgx, or `deleted`).
 */
export function fieldLabel(path: string): Label {
  const [, name = path, code, rest = ''] = /^(\w+)\[(.*)\](\..+)?$/.exec(path) ?? [];
  const label = LABELS.get(name) ?? { en: name, zh: name };
  return code === undefined ? label : { en: `${label.en} ${code}${rest}`, zh: `${label.zh} ${code}${rest}` };
}
