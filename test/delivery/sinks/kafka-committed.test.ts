import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommittedBatches, type Batch } from '../../../src/delivery/sinks/kafka-committed.ts';

const TRANSACTIONAL = 0b1_0000;
const CONTROL = 0b10_0000;

type Step =
  | { readonly kind: 'plain' }
  | { readonly kind: 'data'; readonly producer: bigint }
  | { readonly kind: 'end'; readonly producer: bigint; readonly commit: boolean };

const producer = fc.constantFrom(1n, 2n, 3n);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('plain' as const) }),
  fc.record({ kind: fc.constant('data' as const), producer }),
  fc.record({ kind: fc.constant('end' as const), producer, commit: fc.boolean() }),
);

/** The log that the steps write, a record each; a marker's key is its version and its type. */
function logOf(steps: readonly Step[]): readonly Batch[] {
  return steps.map((one, index) => {
    const producerId = one.kind === 'plain' ? -1n : one.producer;
    const attributes = { plain: 0, data: TRANSACTIONAL, end: TRANSACTIONAL | CONTROL }[one.kind];
    const key = Buffer.from([0, 0, 0, one.kind === 'end' && one.commit ? 1 : 0]);
    const records = [{ key, offsetDelta: 0 }];
    return { firstOffset: BigInt(index), lastOffsetDelta: 0, attributes, producerId, records } as Batch;
  });
}

/** The next marker of a batch's producer decides. */
function committedIn(steps: readonly Step[]): readonly bigint[] {
  return steps.flatMap((one, index) => {
    if (one.kind === 'end') return [];
    const end = steps.slice(index).find((other) => other.kind === 'end' && other.producer === ownerOf(one));
    return one.kind === 'plain' || (end?.kind === 'end' && end.commit) ? [BigInt(index)] : [];
  });
}

function ownerOf(one: Step): bigint | null {
  return one.kind === 'plain' ? null : one.producer;
}

describe('committed batches', () => {
  it('are those whose transaction the next marker of their producer commits, in the order of offsets', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (before) => {
        // In the end nobody has anything open, as before the end up to which a reader reads.
        const ends = [1n, 2n, 3n].map((one) => ({ kind: 'end', producer: one, commit: true }) as const);
        const steps = [...before, ...ends];
        const committed = new CommittedBatches();
        const given = logOf(steps).flatMap((batch) => [...committed.add(batch)]);
        expect(given.map(({ firstOffset }) => firstOffset)).toEqual(committedIn(steps));
        expect(committed.undecided).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('are told apart where one producer aborts, commits and aborts again', () => {
    const ended = (commit: boolean): Step[] => [
      { kind: 'data', producer: 1n },
      { kind: 'end', producer: 1n, commit },
    ];
    // The last abort has nothing of its own in this partition.
    const steps: Step[] = [
      ...ended(false),
      ...ended(true),
      { kind: 'end', producer: 1n, commit: false },
      { kind: 'plain' },
    ];
    const committed = new CommittedBatches();
    const given = logOf(steps).flatMap((batch) => [...committed.add(batch)]);
    expect(given.map(({ firstOffset }) => firstOffset)).toEqual([2n, 5n]);
  });

  it('wait for those before them, and tell from where on nothing is decided', () => {
    const steps: Step[] = [
      { kind: 'data', producer: 1n },
      { kind: 'data', producer: 2n },
      { kind: 'end', producer: 2n, commit: true },
      { kind: 'plain' },
    ];
    const committed = new CommittedBatches();
    expect(logOf(steps).flatMap((batch) => [...committed.add(batch)])).toEqual([]);
    expect(committed.undecided).toBe(0n);
  });
});
