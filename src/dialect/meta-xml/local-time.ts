/**
 * Local times of the airport → ISO 8601 with offset (dialect.md, "Time"). A time that a clock change makes
 * ambiguous takes the earlier offset; one that it skips, or a day that the calendar lacks, is refused.
 *
 * Temporal says when a zone's clocks change, once per year; everything after that is arithmetic on a cached
 * table, because asking Temporal for each value would cost more than all the rest of decoding.
 */
import { Temporal } from 'temporal-polyfill';
import type { WrittenTime } from './time-format.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** No zone is further than this from UTC; so far around a local day its clock changes matter. */
const REACH_MS = 2 * DAY_MS;
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
    const date = Temporal.PlainDate.from({ year, month, day });
    // `constrain` moves an impossible day back to the end of the month; it is refused instead.
    if (date.day !== day) return null;
    const midnight = Temporal.PlainDate.from('1970-01-01').until(date).days * DAY_MS;
    const near = spansBetween(this.#spans(year), midnight - REACH_MS, midnight + REACH_MS);
    const [only, ...others] = near;
    const offset = only !== undefined && others.length === 0 ? offsetText(only.offsetMs) : null;
    return { date: date.toString(), midnight, offset };
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

  /** The spans that touch a year, its neighbouring days included, ascending. */
  #spans(year: number): readonly Span[] {
    const known = this.#years.get(year);
    if (known !== undefined) return known;
    const january = Temporal.PlainDateTime.from({ year, month: 1, day: 1 }).toZonedDateTime('UTC');
    const from = january.subtract({ days: 4 }).withTimeZone(this.#zone);
    const until = january.add({ years: 1, days: 4 }).epochMilliseconds;
    const spans: Span[] = [{ start: -Infinity, offsetMs: offsetMs(from) }];
    for (
      let change = from.getTimeZoneTransition('next');
      change !== null && change.epochMilliseconds < until;
      change = change.getTimeZoneTransition('next')
    ) {
      spans.push({ start: change.epochMilliseconds, offsetMs: offsetMs(change) });
    }
    this.#years.set(year, spans);
    return spans;
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
