/** What a query string may hold: anything, also a key twice. */

/** A text as PostgreSQL can hold it: without NUL. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

/** A whole number from 1 to `most`; `fallback` for everything else. */
export function limitOf(text: string | undefined, fallback: number, most: number): number {
  const value = Number(text ?? fallback);
  return Number.isInteger(value) && value > 0 ? Math.min(value, most) : fallback;
}

/** What events are sent to. */
export const TARGETS = ['KAFKA:msg', 'KAFKA:schd'] as const;

/** Which events of the outbox are asked for; null where all. */
export interface EventFilter {
  readonly target: (typeof TARGETS)[number] | null;
  readonly flid: string | null;
}

/** Reads `target` and `flid`; says what is wrong with them. */
export function eventFilterOf(query: {
  readonly target?: unknown;
  readonly flid?: unknown;
}): EventFilter | { readonly error: string } {
  const target = TARGETS.find((known) => known === query.target) ?? null;
  if (query.target !== undefined && target === null) {
    return { error: `"target" is one of ${TARGETS.join(', ')}` };
  }
  if (query.flid !== undefined && !isText(query.flid)) return { error: '"flid" must be a text' };
  return { target, flid: query.flid ?? null };
}
