import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test, vi } from 'vitest';
import { LocalTimes } from '../../../src/dialect/meta-xml/local-time.ts';
import { compileTimeFormat, type WrittenTime } from '../../../src/dialect/meta-xml/time-format.ts';
import { flop, sis, verdict, writes } from '../kit.ts';

// Properties do a thousand runs; a busy machine may take its time over them.
vi.setConfig({ testTimeout: 60_000 });

/** Zones with and without clock changes, half hours, changes at midnight, days left out altogether. */
const ZONES = [
  'Asia/Shanghai',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Africa/Casablanca',
  'Asia/Gaza',
  'UTC',
];
const READERS = new Map(ZONES.map((zone) => [zone, new LocalTimes(zone)]));

/** What Temporal itself says of a local time; null where there is none. */
function oracle(zone: string, time: WrittenTime): string | null {
  try {
    const plain = Temporal.PlainDateTime.from(time, { overflow: 'reject' });
    const zoned = plain.toZonedDateTime(zone, { disambiguation: 'earlier' });
    if (!zoned.toPlainDateTime().equals(plain)) return null;
    return zoned.toString({ timeZoneName: 'never', smallestUnit: 'second' });
  } catch {
    return null;
  }
}

const anyTime = fc.record({
  year: fc.oneof(fc.integer({ min: 1970, max: 2079 }), fc.integer({ min: 1, max: 9998 })),
  month: fc.integer({ min: 0, max: 13 }),
  day: fc.integer({ min: 0, max: 32 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 60 }),
  second: fc.integer({ min: 0, max: 60 }),
});

describe('local times', () => {
  test('agree with Temporal', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), anyTime, (zone, time) => {
        expect(READERS.get(zone)?.toIso(time)).toBe(oracle(zone, time));
      }),
      { numRuns: 1000 },
    );
  });

  test('agree with Temporal around every clock change', () => {
    const seconds = fc.integer({ min: -3 * 86_400, max: 3 * 86_400 });
    const years = fc.oneof(fc.integer({ min: 1850, max: 2110 }), fc.integer({ min: 2110, max: 9990 }));
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), years, seconds, (zone, year, shift) => {
        const start = Temporal.ZonedDateTime.from({ timeZone: zone, year, month: 1, day: 1 });
        const change = start.getTimeZoneTransition('next');
        if (change === null || change.year > 9990) return;
        const {
          year: y,
          month,
          day,
          hour,
          minute,
          second,
        } = change.toPlainDateTime().add({ seconds: shift });
        const time = { year: y, month, day, hour, minute, second };
        expect(READERS.get(zone)?.toIso(time)).toBe(oracle(zone, time));
      }),
      { numRuns: 600 },
    );
  });

  test('24:00 is the next day’s 00:00', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), anyTime, (zone, time) => {
        const date = { year: time.year, month: time.month, day: time.day };
        const written = READERS.get(zone)?.toIso({ ...date, hour: 24, minute: 0, second: 0 });
        let next: WrittenTime | null = null;
        try {
          const { year, month, day } = Temporal.PlainDate.from(date, { overflow: 'reject' }).add({ days: 1 });
          next = { year, month, day, hour: 0, minute: 0, second: 0 };
        } catch {
          // No such day.
        }
        // A day that its zone left out altogether cannot end either; Temporal is asked for both.
        expect(written).toBe(next === null ? null : oracle(zone, next));
      }),
    );
  });
});

describe('ambiguous and skipped times', () => {
  const newYork = sis({ timeZone: 'America/New_York' });
  const written = (text: string): unknown => writes(flop('CNCL', `<CNCL>${text}</CNCL>`), newYork)[0];

  test('the earlier offset', () => {
    expect(written('01NOV260130')).toMatchObject({ value: '2026-11-01T01:30:00-04:00' });
    expect(written('01NOV260200')).toMatchObject({ value: '2026-11-01T02:00:00-05:00' });
  });

  test('none', () => {
    expect(verdict(flop('CNCL', '<CNCL>08MAR260230</CNCL>'), newYork)).toBe('malformed bad-value:CNCL');
    expect(written('08MAR260300')).toMatchObject({ value: '2026-03-08T03:00:00-04:00' });
    expect(written('08MAR260159')).toMatchObject({ value: '2026-03-08T01:59:00-05:00' });
  });
});

describe('formats', () => {
  const read = (text: string): string => {
    const update = flop('CNCL', `<CNCL>${text}</CNCL>`);
    const outcome = verdict(update);
    if (outcome !== 'decoded') return outcome;
    const [write] = writes(update);
    return write?.kind === 'scalar' ? String(write.value) : '';
  };

  test.each([
    ['23JAN210535', '2021-01-23T05:35:00+08:00'],
    ['23jan210535', '2021-01-23T05:35:00+08:00'],
    ['23JaN210535', '2021-01-23T05:35:00+08:00'],
    ['20210123053559', '2021-01-23T05:35:59+08:00'],
    ['202101230535', '2021-01-23T05:35:00+08:00'],
    ['29FEB240000', '2024-02-29T00:00:00+08:00'],
    ['31DEC792359', '2079-12-31T23:59:00+08:00'],
    ['01JAN800000', '1980-01-01T00:00:00+08:00'],
    ['31DEC992400', '2000-01-01T00:00:00+08:00'],
    ['14MAR262400', '2026-03-15T00:00:00+08:00'],
    ['20260228240000', '2026-03-01T00:00:00+08:00'],
    ['202602282400', '2026-03-01T00:00:00+08:00'],
    ['31FEB260800', 'malformed bad-value:CNCL'],
    ['29FEB260800', 'malformed bad-value:CNCL'],
    ['00MAR260800', 'malformed bad-value:CNCL'],
    ['14MAR262401', 'malformed bad-value:CNCL'],
    ['14MAR262460', 'malformed bad-value:CNCL'],
    ['14MAR262500', 'malformed bad-value:CNCL'],
    ['14MAR260860', 'malformed bad-value:CNCL'],
    ['20261301080000', 'malformed bad-value:CNCL'],
    ['20260314240001', 'malformed bad-value:CNCL'],
    ['20260314080060', 'malformed bad-value:CNCL'],
    ['00000101080000', 'malformed bad-value:CNCL'],
    ['99991231240000', 'malformed bad-value:CNCL'],
    ['14MÄR260800', 'codec-error unknown-format:CNCL'],
    ['14XXX260800', 'codec-error unknown-format:CNCL'],
    ['14MAR2608', 'codec-error unknown-format:CNCL'],
    ['1MAR260800', 'codec-error unknown-format:CNCL'],
    ['14MAR26 800', 'codec-error unknown-format:CNCL'],
    ['14ﬆx260800', 'codec-error unknown-format:CNCL'],
    ['2026031408', 'codec-error unknown-format:CNCL'],
    ['2026-03-14T08:00:00', 'codec-error unknown-format:CNCL'],
    ['１４MAR260800', 'codec-error unknown-format:CNCL'],
    ['0', 'codec-error unknown-format:CNCL'],
  ])('%s is %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each(['yyyy-MM-dd HH:mm:ss', 'ddMMMyyyy/HHmm', 'yyMMddHHmm', 'dd.MM.yyyy_HH:mm'])(
    '%s reads what it prints',
    (pattern) => {
      const format = compileTimeFormat(pattern);
      if (typeof format === 'string') throw new Error(format);
      fc.assert(
        fc.property(
          fc.record({
            year: fc.integer({ min: 1980, max: 2079 }),
            month: fc.integer({ min: 1, max: 12 }),
            day: fc.integer({ min: 1, max: 31 }),
            hour: fc.integer({ min: 0, max: 24 }),
            minute: fc.integer({ min: 0, max: 59 }),
            second: fc.integer({ min: 0, max: 59 }),
          }),
          (time) => {
            const expected = pattern.includes('ss') ? time : { ...time, second: 0 };
            expect(format.parse(format.print(time))).toEqual(expected);
          },
        ),
      );
    },
  );

  test.each([
    '',
    'yyyyMMdd',
    'yyyyMMddHH',
    'yyyyyyMMddHHmm',
    'yyyyMMddHHmmQ',
    'MMMMddyyHHmm',
    'yyyyMMddHHmmssss',
  ])('a profile cannot say %j', (pattern) => {
    expect(typeof compileTimeFormat(pattern)).toBe('string');
  });
});
