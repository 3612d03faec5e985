/**
 * Names of the codes in a flight, from reference data (contract, `events.names`). The state holds codes only: a name
 * is looked up when somebody is told. Which field is of which type, and where a record has its name, is the
 * dialect's.
 */
import type { FlightState } from './flight.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from './json.ts';

/** Where names are. */
export interface NameRules {
  /** Per reference type the children of a record that may hold its name, the best first. */
  readonly elements: Readonly<Record<string, readonly string[]>>;
  /** Path of a scalar, or collection and attribute (`delays.code`) → the reference type that its codes are of. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A code and the reference type it is of. */
export interface ReferenceCode {
  readonly rtype: string;
  readonly rkey: string;
}

/** Names by type and code, of those that are known. */
export type Names = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The codes in a flight that may have a name, each once. */
export function codesOf(state: FlightState, { fields }: NameRules): readonly ReferenceCode[] {
  const found = new Map<string, ReferenceCode>();
  for (const [path, rtype] of Object.entries(fields)) {
    for (const rkey of textsAt(state, path.split('.'))) found.set(`${rtype} ${rkey}`, { rtype, rkey });
  }
  return [...found.values()];
}

/** The name in a record; null where it has none. */
export function nameOf(rtype: string, body: JsonObject, { elements }: NameRules): string | null {
  for (const element of Object.hasOwn(elements, rtype) ? (elements[rtype] ?? []) : []) {
    const value = body[element];
    const first = isJsonArray(value) ? value[0] : value;
    const text = isJsonObject(first) ? first['#text'] : first;
    if (typeof text === 'string' && text !== '') return text;
  }
  return null;
}

/**
 * The names of the codes in a flight.
 *
 * @param bodyOf the record of a code, active or not; undefined where there is none
 */
export function namesOf(
  state: FlightState,
  rules: NameRules,
  bodyOf: (code: ReferenceCode) => JsonObject | undefined,
): Names {
  const names = new Map<string, [string, string][]>();
  for (const code of codesOf(state, rules)) {
    const body = bodyOf(code);
    const name = body === undefined ? null : nameOf(code.rtype, body, rules);
    if (name === null) continue;
    const known = names.get(code.rtype) ?? [];
    known.push([code.rkey, name]);
    names.set(code.rtype, known);
  }
  return Object.fromEntries([...names].map(([rtype, known]) => [rtype, Object.fromEntries(known)]));
}

function textsAt(value: Json | undefined, keys: readonly string[]): readonly string[] {
  if (isJsonArray(value)) return value.flatMap((entry) => textsAt(entry, keys));
  const [key, ...rest] = keys;
  if (key === undefined) return typeof value === 'string' && value !== '' ? [value] : [];
  return isJsonObject(value) ? textsAt(value[key], rest) : [];
}
