/** Times between the store and the stations: milliseconds inside, ISO text towards PostgreSQL. */

/** Milliseconds to a timestamptz parameter. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** A timestamptz as the driver gives it (text, session zone UTC) to milliseconds; microseconds are cut. */
export function toMillis(text: string): number {
  const millis = Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  if (Number.isNaN(millis)) throw new RangeError(`not a timestamp: ${text}`);
  return millis;
}

/** Like toMillis, null staying null. */
export function toMillisOrNull(text: string | null): number | null {
  return text === null ? null : toMillis(text);
}
