import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holeChanges } from '../../src/inbox/hole-changes.ts';
import {
  cut,
  holeAbove,
  judge,
  observe,
  plan,
  reconcile,
  type Hole,
  type Observation,
  type Range,
  type ReleaseRules,
} from '../../src/inbox/watermark.ts';

const hole = (from: bigint, to: bigint, firstSeenAt = 0, writers: readonly string[] | null = []): Hole => ({
  from,
  to,
  firstSeenAt,
  writers,
});
const rowsOf = (ids: readonly bigint[]) => ids.map((id) => ({ id }));

/** Ranges as IDs: the model has no ranges. */
function* expand(ranges: readonly Range[]): Generator<bigint> {
  for (const { from, to } of ranges) for (let id = from; id <= to; id++) yield id;
}

const TOP = 60n;
const idSet = fc.uniqueArray(fc.bigInt({ min: 1n, max: TOP }), { maxLength: 40 });
const ascending = (ids: readonly bigint[]) => [...ids].sort((a, b) => (a < b ? -1 : 1));

/** Disjoint ascending holes over some of the IDs, neighbours of different age staying apart. */
const knownHoles = fc.array(fc.option(fc.integer({ min: 0, max: 3 })), { maxLength: 60 }).map((ages) => {
  const holes: Hole[] = [];
  ages.forEach((age, index) => {
    if (age === null) return;
    const id = BigInt(index + 1);
    const last = holes.at(-1);
    if (last?.to === id - 1n && last.firstSeenAt === age) holes[holes.length - 1] = { ...last, to: id };
    else holes.push(hole(id, id, age, null));
  });
  return holes;
});

describe('reconcile', () => {
  it('agrees with a model that knows every ID by itself', () => {
    fc.assert(
      fc.property(
        knownHoles,
        idSet,
        fc.bigInt({ min: 0n, max: 20n }),
        fc.bigInt({ min: 0n, max: 60n }),
        (known, ids, after, split) => {
          const rows = ascending(ids.filter((id) => id > after));
          const [low, high] = [rows.filter((id) => id <= split), rows.filter((id) => id > split)];
          const first = observe(after, rowsOf(low));
          const observations: Observation[] = [first, observe(first.through, rowsOf(high))];
          const through = observations[1]!.through;

          const { kept, fresh } = reconcile(known, observations);

          const ages = new Map(known.flatMap((one) => [...expand([one])].map((id) => [id, one.firstSeenAt])));
          const expected = new Map<bigint, number | 'fresh'>();
          for (let id = 1n; id <= TOP; id++) {
            const age = ages.get(id);
            const seen = id > after && id <= through;
            if (!seen && age !== undefined) expected.set(id, age);
            if (seen && !rows.includes(id)) expected.set(id, age ?? 'fresh');
          }
          const actual = new Map<bigint, number | 'fresh'>();
          for (const one of kept) for (const id of expand([one])) actual.set(id, one.firstSeenAt);
          for (const id of expand(fresh)) actual.set(id, 'fresh');
          expect([...actual].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual([...expected]);
          for (let index = 1; index < kept.length; index++) {
            expect(kept[index]!.from > kept[index - 1]!.to).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never expands a range, however wide', () => {
    const rows = rowsOf([5n, 9_000_000_000_000_000_000n]);
    const { kept, fresh } = reconcile([hole(1n, 2n)], [observe(0n, rows)]);
    expect(kept).toEqual([hole(1n, 2n)]);
    expect(fresh).toEqual([
      { from: 3n, to: 4n },
      { from: 6n, to: 8_999_999_999_999_999_999n },
    ]);
  });
});

describe('judge', () => {
  const rules: ReleaseRules = { maxCommitDelayMs: 30, maxHoleHoldMs: 900, mode: 'elapsed' };
  const proved: ReleaseRules = { ...rules, mode: 'proved' };
  const alive = new Set(['w1']);
  const release = { kind: 'release', forced: false };

  it.each([
    [
      'elapsed: too young',
      hole(1n, 1n, 100),
      129,
      rules,
      new Set<string>(),
      { kind: 'wait', held: false, until: 130 },
    ],
    ['elapsed: ripe, nobody writes', hole(1n, 1n, 100), 130, rules, new Set<string>(), release],
    [
      'elapsed: ripe, a writer of first sight lives',
      hole(1n, 1n, 100, ['w1']),
      130,
      rules,
      alive,
      { kind: 'wait', held: true, until: 1000 },
    ],
    ['elapsed: ripe, only newer writers live', hole(1n, 1n, 100, ['w0']), 130, rules, alive, release],
    [
      'elapsed: held long enough',
      hole(1n, 1n, 100, ['w1']),
      1000,
      rules,
      alive,
      { kind: 'release', forced: true },
    ],
    ['elapsed: writers unknown', hole(1n, 1n, 100, null), 130, rules, null, release],
    ['elapsed: writers unknown now', hole(1n, 1n, 100, ['w1']), 130, rules, null, release],
    ['proved: nobody wrote', hole(1n, 1n, 100), 100, proved, new Set<string>(), release],
    [
      'proved: a writer lives',
      hole(1n, 1n, 100, ['w1']),
      101,
      proved,
      alive,
      { kind: 'wait', held: true, until: 1000 },
    ],
    ['proved: all have ended', hole(1n, 1n, 100, ['w0', 'w2']), 101, proved, alive, release],
    [
      'proved: writers unknown, by the clock',
      hole(1n, 1n, 100, null),
      129,
      proved,
      null,
      { kind: 'wait', held: false, until: 130 },
    ],
  ] as const)('%s', (_, one, now, by, living, verdict) => {
    expect(judge(one, now, by, living)).toEqual(verdict);
  });

  it('holds at least max-commit-delay where max-hole-hold is set below it', () => {
    const short = { ...rules, maxHoleHoldMs: 10 };
    expect(judge(hole(1n, 1n, 100, ['w1']), 129, short, alive)).toMatchObject({ kind: 'wait' });
    expect(judge(hole(1n, 1n, 100, ['w1']), 130, short, alive)).toEqual({ kind: 'release', forced: true });
  });
});

describe('plan', () => {
  it('agrees with counting up one by one', () => {
    fc.assert(
      fc.property(
        idSet,
        fc.bigInt({ min: 0n, max: 10n }),
        fc.array(fc.boolean(), { minLength: 61, maxLength: 61 }),
        (ids, watermark, passes) => {
          const rows = ascending(ids.filter((id) => id > watermark));
          const { fresh } = reconcile([], [observe(watermark, rowsOf(rows))]);
          // Each missing ID is a hole of its own here, so that a gap may consist of several.
          const holes = [...expand(fresh)].map((id) => hole(id, id));
          const may = (id: bigint) => passes[Number(id)] === true;

          const result = plan(watermark, rowsOf(rows), holes, ({ from }) => may(from));

          let bound = watermark;
          const taken: bigint[] = [];
          const crossed: bigint[] = [];
          for (const id of rows) {
            const missing = [...expand([{ from: bound + 1n, to: id - 1n }])];
            if (!missing.every(may)) break;
            crossed.push(...missing);
            taken.push(id);
            bound = id;
          }
          expect(result.watermark).toBe(bound);
          expect(result.taken.map(({ id }) => id)).toEqual(taken);
          expect([...expand(result.crossed)]).toEqual(crossed);
          expect(result.stoppedBy.length > 0).toBe(taken.length < rows.length);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('does not pass a gap that no hole covers, whole or in part', () => {
    const rows = rowsOf([1n, 5n]);
    expect(plan(0n, rows, [], () => true).watermark).toBe(1n);
    expect(plan(0n, rows, [hole(2n, 3n)], () => true).watermark).toBe(1n);
    expect(plan(0n, rows, [hole(3n, 4n)], () => true).watermark).toBe(1n);
    expect(plan(0n, rows, [hole(2n, 5n)], () => true).watermark).toBe(1n);
    expect(plan(0n, rows, [hole(2n, 2n), hole(3n, 4n)], () => true).watermark).toBe(5n);
  });

  it('cut after some rows releases only the holes before the last of them', () => {
    const whole = plan(0n, rowsOf([2n, 3n, 6n, 9n]), [hole(1n, 1n), hole(4n, 5n), hole(7n, 8n)], () => true);
    expect(cut(whole, 2)).toMatchObject({ watermark: 3n, crossed: [hole(1n, 1n)] });
    expect(cut(whole, 3)).toMatchObject({ watermark: 6n, crossed: [hole(1n, 1n), hole(4n, 5n)] });
    expect(cut(whole, 4)).toBe(whole);
  });
});

describe('holeChanges', () => {
  it('writes only what differs, and a split hole keeps its first sight', () => {
    const known = [hole(1n, 5n, 7), hole(8n, 9n, 8), hole(20n, 30n, 9)];
    const open = [hole(20n, 24n, 9), hole(26n, 30n, 9)];
    const { remove, insert } = holeChanges(known, open, [hole(1n, 5n, 7)], 50);
    expect(remove).toEqual([1n, 8n, 20n]);
    expect(
      insert.map(({ from, to, firstSeenAt, releasedAt }) => [from, to, firstSeenAt, releasedAt]),
    ).toEqual([
      [20n, 24n, 9, null],
      [26n, 30n, 9, null],
      [1n, 5n, 7, 50],
    ]);
    expect(holeChanges(known, known, [], 50).none).toBe(true);
  });
});

describe('holeAbove', () => {
  it('is the hole at W + 1 and no other', () => {
    const holes = [hole(3n, 5n), hole(8n, 9n)];
    expect(holeAbove(2n, holes)).toEqual(hole(3n, 5n));
    expect(holeAbove(4n, holes)).toEqual(hole(3n, 5n));
    expect(holeAbove(5n, holes)).toBeNull();
    expect(holeAbove(1n, holes)).toBeNull();
  });
});
