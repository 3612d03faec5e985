/** An entry of a collection in one line: its code first, then what is known by name. Pure. */
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** @param names words for attribute paths; a path without words stands for itself */
export function entryText(entry: JsonObject, names: Readonly<Record<string, string>>): string {
  const parts = leaves(entry)
    .filter(([path]) => path !== 'seq')
    .map(([path, value]) =>
      LEADING.includes(path) ? textOf(value) : `${names[path] ?? path} ${textOf(value)}`,
    );
  return parts.join(', ');
}

/** What an entry is called by: said without its name. */
const LEADING: readonly string[] = ['code', 'airport', 'stand'];

/** Values that are known, by dotted path. */
function leaves(object: JsonObject, prefix = ''): readonly (readonly [string, Json])[] {
  return Object.entries(object).flatMap(([key, value]): readonly (readonly [string, Json])[] => {
    if (value === null) return [];
    return isJsonObject(value) ? leaves(value, `${prefix}${key}.`) : [[`${prefix}${key}`, value]];
  });
}

/** Times short: the day stands where it is needed, in the table of the collection. */
function textOf(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return TIME.test(text) ? text.slice(5, 16).replace('T', ' ') : text;
}
