import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_COUNT, type Note } from '../../src/simulator/steps.ts';
import { skipSteps } from '../../src/simulator/writer.ts';
import { DAY, stepsOf, written } from './kit.ts';

const SHARES = { duplicates: 0.02, poison: 0.01, holes: 0.005, late: 0.01, unsupported: 0.005 };

describe('a simulated day', () => {
  it('is the same for the same seed and day, and another for another', () => {
    const first = stepsOf(SHARES);
    expect(stepsOf(SHARES)).toEqual(first);
    const texts = new Set(written(first).map(({ text }) => text));
    for (const other of [{ seed: '2' }, { day: '2026-03-15' }]) {
      const shared = written(stepsOf({ ...SHARES, ...other })).filter(({ text }) => texts.has(text));
      expect(shared).toEqual([]);
    }
  });

  it('has exactly the messages and shares asked for, holes on top', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.record({
          duplicates: fc.double({ min: 0, max: 0.2, noNaN: true }),
          poison: fc.double({ min: 0, max: 0.2, noNaN: true }),
          holes: fc.double({ min: 0, max: 1, noNaN: true }),
          unsupported: fc.double({ min: 0, max: 0.2, noNaN: true }),
        }),
        fc.string(),
        (count, shares, seed) => {
          const steps = stepsOf({ count, seed, ...shares });
          const about = (kind: Note['about']) =>
            written(steps).filter(({ note }) => note.about === kind).length;
          expect(written(steps)).toHaveLength(count);
          expect(steps.length - count).toBe(Math.round(count * shares.holes));
          expect(about('duplicate')).toBe(Math.round(count * shares.duplicates));
          expect(about('poison')).toBe(Math.round(count * shares.poison));
          expect(about('unsupported')).toBe(Math.round(count * shares.unsupported));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('divides poison into three equal parts', () => {
    const classes = written(stepsOf({ count: 900, poison: 0.1 })).flatMap(({ note }) =>
      note.about === 'poison' ? [note.errorClass] : [],
    );
    for (const one of ['MALFORMED', 'CODEC_ERROR', 'PROTOCOL']) {
      expect(classes.filter((other) => other === one)).toHaveLength(30);
    }
  });

  it('makes the share of late messages late, half of them beyond the delay, each before later ones', () => {
    const steps = stepsOf({ ...SHARES, late: 0.04 });
    const late = steps.flatMap((step, index) => (step.kind === 'late' ? [{ step, index }] : []));
    expect(late).toHaveLength(60);
    expect(late.filter(({ step }) => step.beyondDelay)).toHaveLength(30);
    for (const { step, index } of late) {
      expect(step.note.about).toBe('operation');
      expect(step.after).toBeGreaterThan(0);
      expect(written(steps.slice(index + 1)).length).toBeGreaterThanOrEqual(step.after);
    }
  });

  it('changes nothing of the day itself where more holes are asked for', () => {
    const texts = (holes: number) => written(stepsOf({ holes })).map(({ text }) => text);
    expect(texts(0.5)).toEqual(texts(0));
  });

  it('goes on where it was broken off, one step for one ID', () => {
    const steps = stepsOf({ count: 50, holes: 0.1 });
    expect([...skipSteps(steps, 20n)]).toEqual(steps.slice(20));
  });

  it('refuses what cannot be', () => {
    expect(() => stepsOf({ count: 0 })).toThrow(RangeError);
    expect(() => stepsOf({ count: MAX_COUNT + 1 })).toThrow(RangeError);
    expect(() => stepsOf({ poison: 1.5 })).toThrow('poison must be from 0 to 1');
    expect(() => stepsOf({ duplicates: 0.5, poison: 0.5 })).toThrow('leave no message');
    expect(() => stepsOf({ day: '2026-02-30' })).toThrow(RangeError);
    expect(() => stepsOf({ timeZone: 'Mars/Olympus' })).toThrow(RangeError);
    expect(() => stepsOf({ late: 1 })).toThrow('late is too large');
  });

  it('numbers each sender’s messages in one row, and sends no identity twice but for repeats', () => {
    const messages = written(stepsOf({ ...DAY, unsupported: 0.01, poison: 0.02 }));
    const numbers = new Map<string, number[]>();
    for (const { text } of messages) {
      const [, sender = '', sequence] = /<SNDR>(\w+)<\/SNDR><SEQN>(\d{6})</.exec(text) ?? [];
      if (sequence === undefined) continue;
      numbers.set(sender, [...(numbers.get(sender) ?? []), Number(sequence)]);
    }
    expect([...numbers.keys()].sort()).toEqual(['ACDM', 'AODB']);
    for (const row of numbers.values()) {
      expect(new Set(row).size).toBe(row.length);
      row.slice(1).forEach((number, index) => {
        const before = row[index] ?? 0;
        // A message without its counter uses one up all the same.
        expect((number - before + 999_999) % 999_999).toBeLessThanOrEqual(3);
      });
    }
  });
});
