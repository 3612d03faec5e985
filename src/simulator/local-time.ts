/**
 * The times of one local day as the upstream writes them (dialect.md, "Time"). Everything is counted in minutes
 * or seconds from the day's first instant and only then written as local time: a local time that a clock change
 * skips can therefore never come out.
 */
import { Temporal } from 'temporal-polyfill';

export interface DayTimes {
  /** yyyy-MM-dd. */
  readonly day: string;
  /** Days since 1970-01-01. */
  readonly dayNumber: number;
  /** Minutes of the day: 1440 but for clock changes. */
  readonly length: number;
  /** ddMMMyyHHmm of a minute counted from the day's first instant; negative ones are the day before. */
  body(minute: number): string;
  /** yyyyMMddHHmmss of a second counted from the day's first instant. */
  meta(second: number): string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
/** Offsets change at whole quarters of an hour. */
const QUARTER_MS = 900_000;

/**
 * Times of a day.
 *
 * @param day yyyy-MM-dd
 * @param timeZone IANA zone
 * @throws RangeError where the day does not exist or the zone is not known
 */
export function dayTimes(day: string, timeZone: string): DayTimes {
  const date = dateOf(day);
  const start = date.toZonedDateTime(timeZone).epochMilliseconds;
  const end = date.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
  const offsets = new Map<number, number>();
  const local = (millis: number): Date => {
    const quarter = Math.floor(millis / QUARTER_MS);
    let offset = offsets.get(quarter);
    if (offset === undefined) {
      const instant = Temporal.Instant.fromEpochMilliseconds(quarter * QUARTER_MS);
      offset = instant.toZonedDateTimeISO(timeZone).offsetNanoseconds / 1e6;
      offsets.set(quarter, offset);
    }
    // A Date only as a calendar: the local time read as if it were UTC.
    return new Date(millis + offset);
  };
  return {
    day: date.toString(),
    dayNumber: Math.round(Date.UTC(date.year, date.month - 1, date.day) / 86_400_000),
    length: Math.round((end - start) / 60_000),
    body: (minute) => {
      const time = local(start + minute * 60_000);
      const month = MONTHS[time.getUTCMonth()] ?? '';
      const year = two(time.getUTCFullYear() % 100);
      return `${two(time.getUTCDate())}${month}${year}${two(time.getUTCHours())}${two(time.getUTCMinutes())}`;
    },
    meta: (second) =>
      local(start + second * 1000)
        .toISOString()
        .slice(0, 19)
        .replace(/[-T:]/g, ''),
  };
}

function dateOf(day: string): Temporal.PlainDate {
  try {
    // Temporal would also take times and other notations.
    if (/^\d{4}-\d{2}-\d{2}$/.test(day)) return Temporal.PlainDate.from(day, { overflow: 'reject' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new RangeError(`no such day: ${day}; wanted is YYYY-MM-DD`);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
