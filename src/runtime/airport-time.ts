/** Instants as the airport writes them. */
import { Temporal } from 'temporal-polyfill';

/** Offsets of zones change only at multiples of this, so that one look-up serves many instants. */
const BUCKET_MS = 15 * 60 * 1000;
const CACHED = 4_096;
const offsets = new Map<string, number>();

/**
 * ISO 8601 with the zone's offset, in seconds; fractions are cut (contract, "Delivery").
 *
 * @param millis since 1970-01-01T00:00Z
 * @param timeZone IANA name, already validated
 */
export function airportTime(millis: number, timeZone: string): string {
  const offset = offsetMinutes(millis, timeZone);
  const local = new Date(Math.floor(millis / 1000) * 1000 + offset * 60_000).toISOString().slice(0, 19);
  const absolute = Math.abs(offset);
  const hours = String(Math.floor(absolute / 60)).padStart(2, '0');
  const minutes = String(absolute % 60).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`;
}

/**
 * The instant of a local time, ms. Of a time that occurs twice the earlier instant; one that a clock change skips is
 * moved on by as much as the clock.
 *
 * @param day yyyy-MM-dd
 * @param time HH:mm
 */
export function localMoment(day: string, time: string, timeZone: string): number {
  return Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(timeZone, {
    disambiguation: 'compatible',
  }).epochMilliseconds;
}

function offsetMinutes(millis: number, timeZone: string): number {
  const bucket = Math.floor(millis / BUCKET_MS);
  const key = `${timeZone} ${String(bucket)}`;
  let offset = offsets.get(key);
  if (offset === undefined) {
    const zoned = Temporal.Instant.fromEpochMilliseconds(bucket * BUCKET_MS).toZonedDateTimeISO(timeZone);
    offset = Math.round(zoned.offsetNanoseconds / 60e9);
    if (offsets.size >= CACHED) offsets.clear();
    offsets.set(key, offset);
  }
  return offset;
}
