/** Names of codes as msgx tells them beside a flight. Pure. */
import type { FlightNames } from '../api/types.ts';

/** The name of a code in a field; null where there is none. */
export type NameOf = (path: string, code: string) => string | null;

export function nameIn({ names, namedFields }: FlightNames): NameOf {
  return (path, code) => {
    const known = names[namedFields[path] ?? ''] ?? {};
    return Object.hasOwn(known, code) ? (known[code] ?? null) : null;
  };
}
