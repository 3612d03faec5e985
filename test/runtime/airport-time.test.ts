import { Temporal } from 'temporal-polyfill';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { airportTime } from '../../src/runtime/airport-time.ts';

describe('airportTime', () => {
  it('writes seconds and the offset of the zone, cutting fractions', () => {
    expect(airportTime(Date.parse('2026-03-14T00:20:00.999Z'), 'Asia/Shanghai')).toBe(
      '2026-03-14T08:20:00+08:00',
    );
    expect(airportTime(Date.parse('2026-03-14T00:20:00Z'), 'Asia/Kathmandu')).toBe(
      '2026-03-14T06:05:00+05:45',
    );
  });

  it('agrees with Temporal in zones with summer time and odd offsets', () => {
    const zones = [
      'America/New_York',
      'Europe/Berlin',
      'Asia/Shanghai',
      'Australia/Lord_Howe',
      'America/St_Johns',
    ];
    const from = Date.parse('2020-01-01T00:00Z');
    const to = Date.parse('2030-01-01T00:00Z');
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), fc.constantFrom(...zones), (millis, zone) => {
        const zoned = Temporal.Instant.fromEpochMilliseconds(millis).toZonedDateTimeISO(zone);
        const text = zoned.toString({ smallestUnit: 'second', timeZoneName: 'never' });
        expect(airportTime(millis, zone)).toBe(text);
      }),
    );
  });
});
