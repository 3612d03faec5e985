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
