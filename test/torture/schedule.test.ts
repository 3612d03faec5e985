import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planFaults, QUOTA, quotaFor, SERVERS, type Fault } from './schedule.ts';

const count = (faults: readonly Fault[], wanted: (fault: Fault) => boolean) => faults.filter(wanted).length;

describe('the plan of a torture run', () => {
  it('has the quota of each kind within its time, whatever the seed', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 60 }), (seed, minutes) => {
        const plan = planFaults(seed, minutes);
        const faults = plan.map(({ fault }) => fault);
        const quota = quotaFor(minutes);
        expect(count(faults, ({ kind }) => kind === 'kill' || kind === 'takeover')).toBeGreaterThanOrEqual(
          quota.kill,
        );
        expect(count(faults, ({ kind }) => kind === 'takeover')).toBeGreaterThan(quota.takeover);
        expect(count(faults, ({ kind }) => kind === 'network')).toBeGreaterThanOrEqual(quota.network);
        for (const server of SERVERS) {
          const kills = count(faults, (fault) => fault.kind === 'server' && fault.server === server);
          expect(kills).toBeGreaterThanOrEqual(quota[server]);
        }
        for (const kind of ['freeze', 'lost-answer', 'clock'] as const) {
          expect(count(faults, (fault) => fault.kind === kind)).toBeGreaterThan(0);
        }
        expect(plan.every(({ at }) => at >= 0 && at <= minutes * 60_000)).toBe(true);
        expect(plan.map(({ at }) => at)).toEqual(
          plan.map(({ at }) => at).toSorted((left, right) => left - right),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('has in eight minutes what a full run is held to, and is the same for the same seed', () => {
    expect(quotaFor(8)).toEqual(QUOTA);
    expect(planFaults('1', 8)).toEqual(planFaults('1', 8));
    expect(planFaults('1', 8)).not.toEqual(planFaults('2', 8));
  });
});
