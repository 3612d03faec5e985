import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/config/units.ts';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0ms', 0],
  ])('%s is %d ms', (text, milliseconds) => expect(parseDuration(text)).toBe(milliseconds));

  test.each(['500', '', '1.5s', '-1s', '5 min', '5M', 's', '1s2s', '999999999999d'])('%j is none', (text) =>
    expect(parseDuration(text)).toBeNull(),
  );

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
      }),
    );
    expect(formatDuration(86_400_000)).toBe('1d');
    expect(formatDuration(90_000)).toBe('90s');
  });
});

describe('sizes', () => {
  test.each([
    ['16 MiB', 16_777_216],
    ['64KiB', 65_536],
    ['1 GiB', 1_073_741_824],
    ['1024', 1_024],
    ['7 B', 7],
  ])('%s is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  test.each(['16 MB', '1.5 MiB', '-1', '', 'MiB'])('%j is none', (text) =>
    expect(parseSize(text)).toBeNull(),
  );

  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });
});
