/** What people type as time at the airport, as a moment. Pure. */

/** `2026-03-14T08:20` at the airport as ISO 8601 in UTC; null for what is no time. In a gap of the clock the later one. */
export function momentOf(local: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${local}:00Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local) || Number.isNaN(asUtc)) return null;
  // 30 February would be taken for 2 March.
  if (!new Date(asUtc).toISOString().startsWith(local)) return null;
  // The offset that holds at the time itself, and not at the same time in UTC.
  const guess = asUtc - offsetAt(asUtc, timeZone);
  return new Date(asUtc - offsetAt(guess, timeZone)).toISOString();
}

function offsetAt(moment: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  }).format(moment);
  return Date.parse(`${parts.replace(' ', 'T')}Z`) - moment;
}
