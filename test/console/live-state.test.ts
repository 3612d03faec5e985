/** What is on show of a day while it is read. */
import { describe, expect, it } from 'vitest';
import type { FlightDay } from '../../src/console/api/requests.ts';
import type { FlightRow } from '../../src/console/api/types.ts';
import { createLiveState, takeDay, takePart, type FlightsState } from '../../src/console/model/live-state.ts';

const read = (day: string, ...flids: readonly string[]): FlightDay => ({
  ...{ day, days: [{ day, flights: flids.length }] },
  flights: flids.map((flid) => ({ flid, version: 1, operationDay: day }) as FlightRow),
});
const shown = ({ flights, loading, complete }: FlightsState) => [[...flights.keys()], loading, complete];

describe('a day that is read in parts', () => {
  const empty = createLiveState().flights.get();

  it('is on show from its first part, and complete at its end', () => {
    const part = takePart(empty, read('2026-03-14', 'a'));
    expect(shown(part)).toEqual([['a'], true, false]);
    expect(shown(takePart(part, read('2026-03-14', 'a', 'b')))).toEqual([['a', 'b'], true, false]);
    expect(shown(takeDay(part, read('2026-03-14', 'a', 'b', 'c')))).toEqual([['a', 'b', 'c'], false, true]);
  });

  it('loses none of its flights while it is read again', () => {
    const whole = takeDay(empty, read('2026-03-14', 'a', 'b'));
    expect(takePart(whole, read('2026-03-14', 'a'))).toBe(whole);
  });

  it('gives way to the first part of another day', () => {
    const whole = takeDay(empty, read('2026-03-14', 'a', 'b'));
    expect(shown(takePart(whole, read('2026-03-15', 'c')))).toEqual([['c'], true, false]);
  });
});
