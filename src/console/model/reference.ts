/** A reference record as text. Pure. */
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { ReferenceRow } from '../api/types.ts';

/** A member of a record: its name and its value as text. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

/** The members of a record in their order; those of groups under the name of the group. */
export function members(body: JsonObject): readonly Member[] {
  return Object.entries(body).flatMap(([name, value]) =>
    isJsonObject(value)
      ? members(value).map((inner) => ({ ...inner, name: `${name}.${inner.name}` }))
      : [{ name, text: textOf(value) }],
  );
}

/** What a record says beside its code, in one line. */
export function summary({ rkey, body }: ReferenceRow): string {
  return members(body)
    .map(({ text }) => text)
    .filter((text) => text !== '' && text !== rkey)
    .join(' · ');
}

/** The names of members that differ from the record before. */
export function changedMembers(before: JsonObject, after: JsonObject): ReadonlySet<string> {
  const earlier = new Map(members(before).map(({ name, text }) => [name, text]));
  return new Set(
    members(after)
      .filter(({ name, text }) => earlier.get(name) !== text)
      .map(({ name }) => name),
  );
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
