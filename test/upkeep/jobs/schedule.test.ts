import { describe, expect, it } from 'vitest';
import { isBusy, nextRun, nextSize, nextTry, restAfter } from '../../../src/upkeep/jobs/schedule.ts';

const HOUR = 3_600_000;

describe('schedule of the upkeep jobs', () => {
  it('begins at full hours, never at the moment itself', () => {
    expect(nextRun(HOUR + 1)).toBe(2 * HOUR);
    expect(nextRun(2 * HOUR)).toBe(3 * HOUR);
  });

  it('tries again after a minute, doubling up to an hour', () => {
    expect([1, 2, 3, 7, 40].map((failures) => nextTry(0, failures) / 60_000)).toEqual([1, 2, 4, 60, 60]);
  });

  it('rests four times as long as a batch took', () => {
    expect([restAfter(1), restAfter(100)]).toEqual([50, 400]);
  });

  it('halves a batch that took too long and grows slowly, within bounds', () => {
    const bounds = { aimMs: 25, least: 1, most: 200 };
    expect(nextSize(40, 26, bounds)).toBe(20);
    expect(nextSize(1, 500, bounds)).toBe(1);
    expect(nextSize(40, 20, bounds)).toBe(40);
    expect(nextSize(40, 5, bounds)).toBe(50);
    expect(nextSize(190, 5, bounds)).toBe(200);
  });

  it('waits for a line that is behind, and not for one whose head waits for its next attempt', () => {
    expect(isBusy({ backlog: 3, waitingSince: 5_000 }, 5_900)).toBe(false);
    expect(isBusy({ backlog: 3, waitingSince: 5_000 }, 6_001)).toBe(true);
    expect(isBusy({ backlog: 200, waitingSince: 5_000 }, 5_001)).toBe(true);
    expect(isBusy({ backlog: 200, waitingSince: null }, 9_000)).toBe(false);
  });
});
