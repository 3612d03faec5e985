/** Before and after of an audit entry as a list of members that differ. Pure. */
import { isJsonObject, type Json } from '../../domain/json.ts';

export interface Difference {
  readonly name: string;
  /** Null where there was, or is, none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Members that differ, in the order in which they are told; values that are no objects stand under an empty name. */
export function differences(before: Json, after: Json): readonly Difference[] {
  const earlier = membersOf(before);
  const later = membersOf(after);
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .map((name) => ({ name, before: earlier.get(name) ?? null, after: later.get(name) ?? null }))
    .filter((member) => member.before !== member.after);
}

function membersOf(value: Json): ReadonlyMap<string, string> {
  if (value === null) return new Map();
  if (!isJsonObject(value)) return new Map([['', textOf(value)]]);
  return new Map(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, textOf(member)] as const],
    ),
  );
}

function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(', ');
  return JSON.stringify(value);
}
