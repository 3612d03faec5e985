import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentTexts } from '../../src/store/recent-texts.ts';

describe('texts on their way from the inbox to the pump', () => {
  it('are given away once, and those of smaller IDs with them', () => {
    const texts = new RecentTexts();
    texts.hold([1n, 2n, 3n].map((id) => ({ id, text: `<${id}>` })));
    expect(texts.range).toEqual({ from: 1n, to: 3n });
    expect(texts.take(2n)).toBe('<2>');
    expect(texts.range).toEqual({ from: 3n, to: 3n });
    expect(texts.take(1n)).toBeUndefined();
    expect(texts.take(2n)).toBeUndefined();
    expect(texts.take(3n)).toBe('<3>');
    expect(texts.range).toEqual({ from: 0n, to: -1n });
  });

  it('never exceed their bound, are never another message’s, and lie within the range told', () => {
    const step = fc.oneof(
      fc.record({
        hold: fc.array(fc.tuple(fc.bigInt(1n, 40n), fc.integer({ min: 0, max: 12 })), { maxLength: 6 }),
      }),
      fc.record({ take: fc.bigInt(1n, 40n) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 60 }), (steps, most) => {
        const texts = new RecentTexts(most);
        const out = new Map<bigint, number>();
        for (const taken of steps) {
          if ('hold' in taken) {
            const ascending = taken.hold.toSorted(([left], [right]) => Number(left - right));
            texts.hold(ascending.map(([id, length]) => ({ id, text: `${id}:`.padEnd(length, '.') })));
          } else {
            const { from, to } = texts.range;
            const text = texts.take(taken.take);
            if (text === undefined) continue;
            expect(text.startsWith(`${taken.take}:`)).toBe(true);
            expect(taken.take >= from && taken.take <= to).toBe(true);
            expect(out.has(taken.take)).toBe(false);
            out.set(taken.take, text.length);
            expect(text.length).toBeLessThanOrEqual(most);
            expect(texts.range.from > taken.take || texts.range.to < 0n).toBe(true);
          }
        }
      }),
    );
  });

  it('wait in the database where there is no room', () => {
    const texts = new RecentTexts(10);
    texts.hold([
      { id: 1n, text: '12345678' },
      { id: 2n, text: '123' },
      { id: 3n, text: null },
      { id: 4n, text: '12' },
    ]);
    expect(texts.range).toEqual({ from: 1n, to: 4n });
    expect(texts.take(1n)).toBe('12345678');
    expect(texts.take(2n)).toBeUndefined();
    texts.hold([{ id: 5n, text: '12345678' }]);
    expect(texts.take(4n)).toBe('12');
    expect(texts.take(5n)).toBe('12345678');
  });
});
