/** The operation day of a flight (dialect.md, "Merge rules"): immutable once known. */

const LOCAL_TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}:\d{2})/;
const DAY_MS = 86_400_000;

/**
 * Local date of a scheduled time, moved back one day where the local time is before the cutoff.
 *
 * @param scheduledTime ISO 8601 with the airport's offset, e.g. 2026-03-14T02:10:00+08:00
 * @param cutoff HH:mm; 00:00 moves nothing
 * @returns yyyy-MM-dd
 * @throws Error where the text is no such time: the dialect has checked it
 */
export function operationDay(scheduledTime: string, cutoff: string): string {
  const [, year, month, day, time] = LOCAL_TIME.exec(scheduledTime) ?? [];
  if (year === undefined || month === undefined || day === undefined || time === undefined) {
    throw new Error('a scheduled time that is not ISO 8601');
  }
  if (time >= cutoff) return `${year}-${month}-${day}`;
  // Calendar arithmetic in UTC: the process's own zone has no say.
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)) - DAY_MS).toISOString().slice(0, 10);
}

/** Whether a text is a day of the calendar, yyyy-MM-dd. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // 31 February would roll over.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/**
 * The day so many days later, earlier where negative.
 *
 * @param day yyyy-MM-dd
 */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
