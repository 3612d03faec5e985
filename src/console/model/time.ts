/** Times as an operator reads them. Flight times carry the airport's offset and are read as written. */

export interface FlightTime {
  /** HH:mm at the airport. */
  readonly clock: string;
  /** Days after (or before) the day it is shown under. */
  readonly dayShift: number;
}

/** `2026-03-15T00:20:00+08:00` under day 2026-03-14 → 00:20, +1. */
export function flightTime(value: string, day: string): FlightTime {
  const dayShift = Math.round((Date.parse(value.slice(0, 10)) - Date.parse(day)) / 86_400_000);
  return { clock: value.slice(11, 16), dayShift: Number.isFinite(dayShift) ? dayShift : 0 };
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** A moment as `HH:mm:ss` in the airport's zone. */
export function airportClock(moment: number | string, timeZone: string): string {
  return part(moment, timeZone, 'clock');
}

/** A moment's date as `yyyy-MM-dd` in the airport's zone. */
export function airportDay(moment: number | string, timeZone: string): string {
  return part(moment, timeZone, 'day');
}

function part(moment: number | string, timeZone: string, kind: 'clock' | 'day'): string {
  const key = `${timeZone} ${kind}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(
      'sv-SE',
      kind === 'clock'
        ? { timeZone, timeStyle: 'medium', hourCycle: 'h23' }
        : { timeZone, dateStyle: 'short' },
    );
    formatters.set(key, formatter);
  }
  return formatter.format(new Date(moment));
}

/**
 * The moment at which a day begins at the airport, plus so many days, ISO 8601 in UTC; null where it is no day. Where
 * clocks skip midnight it is the moment at which they do, or an hour before.
 */
export function airportDayBegin(day: string, timeZone: string, plusDays = 0): string | null {
  const wanted = Date.parse(`${day}T00:00:00Z`) + plusDays * 86_400_000;
  if (Number.isNaN(wanted)) return null;
  const shift = (moment: number): number =>
    Date.parse(`${airportDay(moment, timeZone)}T${airportClock(moment, timeZone)}Z`) - moment;
  // The second look is for days on which clocks change between the guess and midnight.
  const guess = wanted - shift(wanted);
  return new Date(wanted - shift(guess)).toISOString();
}

/** Whole seconds until a moment, in ms: a countdown ends with "1 s", not with "0 s". */
export function untilMoment(moment: string, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(moment) - now) / 1000) * 1000);
}

/** A span cut into its two largest units, e.g. 3 h 12 min; whole seconds below a minute. */
export interface Span {
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

export function span(milliseconds: number): Span {
  const total = Math.max(0, Math.round(milliseconds / 1000));
  return {
    days: Math.floor(total / 86_400),
    hours: Math.floor((total % 86_400) / 3_600),
    minutes: Math.floor((total % 3_600) / 60),
    seconds: total % 60,
  };
}
