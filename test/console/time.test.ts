/** Days and moments at the airport. */
import { expect, it } from 'vitest';
import { airportDayBegin } from '../../src/console/model/time.ts';

it('knows when a day begins at the airport, also where clocks change on it', () => {
  expect(airportDayBegin('2026-03-14', 'Asia/Shanghai')).toBe('2026-03-13T16:00:00.000Z');
  expect(airportDayBegin('2026-03-14', 'Asia/Shanghai', 1)).toBe('2026-03-14T16:00:00.000Z');
  expect(airportDayBegin('2026-03-29', 'Europe/Berlin')).toBe('2026-03-28T23:00:00.000Z');
  expect(airportDayBegin('2026-03-29', 'Europe/Berlin', 1)).toBe('2026-03-29T22:00:00.000Z');
  expect(airportDayBegin('2026-10-25', 'Europe/Berlin', 1)).toBe('2026-10-25T23:00:00.000Z');
  expect(airportDayBegin('2026-11-01', 'America/New_York', 1)).toBe('2026-11-02T05:00:00.000Z');
  expect(airportDayBegin('', 'Asia/Shanghai')).toBe(null);
});
