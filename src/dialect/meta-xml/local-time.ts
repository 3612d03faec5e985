/**
 * Local times of the airport → ISO 8601 with offset (dialect.md, "Time"). A time that a clock change makes
 * ambiguous takes the earlier offset; one that it skips, or a day that the calendar lacks, is refused.
 *
 * Temporal says when a zone's clocks change, once per year; everything after that is arithmetic on a cached
 * table, because asking Temporal for each value would cost more than all the rest of decoding. `Date` is used
 * as a UTC calendar only: the process's own zone has no say.
 */
import { Temporal } from 'temporal-polyfill';
import type { WrittenTime } from './time-format.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** No zone is further than this from UTC; so far around a local day its clock changes matter. */
const REACH_MS = 2 * DAY_MS;
/** Before the first year zones have local mean time (the earliest change on record is of 1835); after the last, rules. */
const FIRST_YEAR_ASKED = 1800;
const LAST_YEAR_ASKED = 2499;
/** The Gregorian calendar repeats itself after so many years, which are so many days. */
const CYCLE_YEARS = 400;
const CYCLE_DAYS = 146_097;
/** Days kept; a schedule names two or three, a backlog a few dozen. */
const DAY_CACHE_LIMIT = 4096;

/** A span of instants with one offset; it ends where the next begins. */
interface Span {
  readonly start: number;
  readonly offsetMs: number;
}

/** One local day: its text, and the offset where the whole day has one. */
interface LocalDay {
  readonly date: string;
  /** Midnight of the day as if it were UTC. */
  readonly midnight: number;
  /** `+08:00`; null where the clocks change near the day. */
  readonly offset: string | null;
}

/** Converts the local times of one zone. */
export class LocalTimes {
  readonly #zone: string;
  readonly #years = new Map<number, readonly Span[]>();
  readonly #days = new Map<number, LocalDay | null>();

  /** @throws RangeError where the zone is not known */
  constructor(zone: string) {
    this.#zone = zone;
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone);
  }

  /**
   * ISO 8601 with the zone's offset, in seconds, without fraction, e.g. `2026-03-14T08:20:00+08:00`; null
   * where there is no such time. 24:00:00 is the next day's 00:00.
   */
  toIso(time: WrittenTime): string | null {
    if (time.minute > 59 || time.second > 59 || time.hour > 24) return null;
    const atMidnight = time.hour === 24;
    if (atMidnight && (time.minute > 0 || time.second > 0)) return null;
    const written = this.#day(time.year, time.month, time.day);
    if (written === null) return null;
    const day = atMidnight ? this.#dayAfter(written) : written;
    if (day === null) return null;
    const hour = atMidnight ? 0 : time.hour;
    const offset = day.offset ?? this.#offsetAt(day, hour, time.minute, time.second);
    if (offset === null) return null;
    return `${day.date}T${two(hour)}:${two(time.minute)}:${two(time.second)}${offset}`;
  }

  /**
   * The local time of an instant.
   *
   * @param iso ISO 8601 with any offset
   * @throws RangeError where the text is no such time
   */
  fromIso(iso: string): WrittenTime {
    const { year, month, day, hour, minute, second } = Temporal.Instant.from(iso).toZonedDateTimeISO(
      this.#zone,
    );
    return { year, month, day, hour, minute, second };
  }

  #day(year: number, month: number, day: number): LocalDay | null {
    const key = (year * 100 + month) * 100 + day;
    const known = this.#days.get(key);
    if (known !== undefined) return known;
    const made = this.#makeDay(year, month, day);
    if (this.#days.size >= DAY_CACHE_LIMIT) this.#days.clear();
    this.#days.set(key, made);
    return made;
  }

  #dayAfter(day: LocalDay): LocalDay | null {
    const next = new Date(day.midnight + DAY_MS);
    return this.#day(next.getUTCFullYear(), next.getUTCMonth() + 1, next.getUTCDate());
  }

  #makeDay(year: number, month: number, day: number): LocalDay | null {
    // ISO 8601 writes years 1 to 9999 with four digits; PostgreSQL has no year 0.
    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return null;
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    // A day that the month lacks has rolled over into the next one.
    if (date.getUTCDate() !== day) return null;
    const midnight = date.getTime();
    const near = spansBetween(this.#spans(year), midnight - REACH_MS, midnight + REACH_MS);
    const [only, ...others] = near;
    const offset = only !== undefined && others.length === 0 ? offsetText(only.offsetMs) : null;
    return { date: date.toISOString().slice(0, 10), midnight, offset };
  }

  /** The offset of a time on a day near a clock change; null where the change skips it. */
  #offsetAt(day: LocalDay, hour: number, minute: number, second: number): string | null {
    const local = day.midnight + ((hour * 60 + minute) * 60 + second) * 1000;
    const spans = spansBetween(this.#spans(Number(day.date.slice(0, 4))), local - REACH_MS, local + REACH_MS);
    // Spans ascend, so the first that holds is the earlier of two.
    for (const [index, span] of spans.entries()) {
      const instant = local - span.offsetMs;
      const end = spans[index + 1]?.start ?? Infinity;
      if (instant >= span.start && instant < end) return offsetText(span.offsetMs);
    }
    return null;
  }

  /**
   * The spans that touch a year, its neighbouring days included, ascending. Only the years in which zones
   * have a history of their own are asked for, so that a text full of far dates costs no more than any other.
   */
  #spans(year: number): readonly Span[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    let spans: readonly Span[];
    if (year > LAST_YEAR_ASKED) {
      // Far in the future a zone has rules only, and the calendar repeats itself, weekdays included.
      const cycles = Math.ceil((year - LAST_YEAR_ASKED) / CYCLE_YEARS);
      spans = this.#spans(year - cycles * CYCLE_YEARS).map((span) => ({
        ...span,
        start: span.start + cycles * CYCLE_DAYS * DAY_MS,
      }));
    } else if (year < FIRST_YEAR_ASKED) {
      // No zone kept anything but its local mean time.
      spans = [{ start: -Infinity, offsetMs: offsetMs(this.#startOf(FIRST_YEAR_ASKED - 1)) }];
    } else {
      spans = this.#askedSpans(year);
    }
    this.#years.set(year, spans);
    return spans;
  }

  #askedSpans(year: number): readonly Span[] {
    const from = this.#startOf(year);
    const until = this.#startOf(year + 1).add({ days: 8 }).epochMilliseconds;
    const spans: Span[] = [{ start: -Infinity, offsetMs: offsetMs(from) }];
    for (
      let change = from.getTimeZoneTransition('next');
      change !== null && change.epochMilliseconds < until;
      change = change.getTimeZoneTransition('next')
    ) {
      spans.push({ start: change.epochMilliseconds, offsetMs: offsetMs(change) });
    }
    return spans;
  }

  /** Four days before a year begins: further than any offset reaches. */
  #startOf(year: number): Temporal.ZonedDateTime {
    const january = Temporal.PlainDateTime.from({ year, month: 1, day: 1 }).toZonedDateTime('UTC');
    return january.subtract({ days: 4 }).withTimeZone(this.#zone);
  }
}

function spansBetween(spans: readonly Span[], from: number, until: number): readonly Span[] {
  return spans.filter((span, index) => span.start < until && (spans[index + 1]?.start ?? Infinity) > from);
}

function offsetMs(time: Temporal.ZonedDateTime): number {
  return time.offsetNanoseconds / 1e6;
}

/** `+08:00`; local mean times of the nineteenth century are rounded to the minute, as Temporal prints them. */
function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MINUTE_MS);
  return `${offset < 0 && minutes > 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
