import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyReferenceMessage, permuted, referenceMessage, throughJsonb, World } from './kit.ts';
import type { DecodedMessage } from '../../src/domain/message.ts';
import { underFloor } from '../../src/domain/reference-fold.ts';
import type { ReferenceRow, ReferenceType } from '../../src/domain/reference.ts';

const A = { name: 'a' } as const;
const B = { name: 'b' } as const;

/** Rows as `key: active body stamp`, the stamp being the one under the floor. */
function rows(world: World): Record<string, unknown> {
  const type = world.references.get('ABDG');
  return Object.fromEntries(
    [...(type === undefined ? [] : underFloors(type).rows.values())].map((row) => [
      row.rkey,
      [row.active, row.body, Number(row.stamp)],
    ]),
  );
}

/** A type with the stamps that its rows have, wherever they are stored below the floor. */
function underFloors({ floor, rows: stored }: ReferenceType): ReferenceType {
  return { floor, rows: new Map([...stored].map(([key, row]) => [key, underFloor(row, floor)])) };
}

describe('reference data', () => {
  it('is replaced by a load: rows not named become inactive', () => {
    const world = new World();
    world.run(1, referenceMessage('DNLD', ['212', A], ['0112', A]));
    world.run(2, referenceMessage('ADD', ['213', A]));
    expect(world.run(3, referenceMessage('DNLD', ['0112', B]))).toMatchObject({
      state: 'SUCCEEDED',
      reason: null,
    });
    expect(rows(world)).toEqual({ '212': [false, A, 1], '0112': [true, B, 3], '213': [false, A, 2] });
  });

  it('loaded again as it was is unchanged, key order aside', () => {
    const world = new World();
    world.run(1, referenceMessage('DNLD', ['212', { longer: 1, a: 2 }]));
    expect(world.run(2, referenceMessage('DNLD', ['212', { a: 2, longer: 1 }]))).toMatchObject({
      reason: 'unchanged',
    });
    expect(world.references.get('ABDG')?.floor).toBe(2n);
  });

  it('keeps the description of a row that a DEL names by its key alone', () => {
    const world = new World();
    world.run(1, referenceMessage('ADD', ['212', A]));
    expect(world.run(3, referenceMessage('DEL', ['212', {}]))).toMatchObject({ reason: null });
    expect(rows(world)).toEqual({ '212': [false, A, 3] });
    // An older description is still the newest one there is.
    expect(world.run(2, referenceMessage('UPD', ['212', B]))).toMatchObject({ reason: 'superseded:212' });
    expect(rows(world)).toEqual({ '212': [false, B, 3] });
  });

  it('remembers a DEL of what it does not know, against a late ADD', () => {
    const world = new World();
    expect(world.run(5, referenceMessage('DEL', ['212', {}]))).toMatchObject({ reason: 'unchanged' });
    expect(world.run(3, referenceMessage('ADD', ['212', A]))).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'superseded:212',
      detail: { reasons: ['superseded:212', 'unchanged'], superseded: ['212'] },
    });
    expect(rows(world)).toEqual({ '212': [false, A, 5] });
    world.run(6, referenceMessage('ADD', ['212', B]));
    expect(rows(world)).toEqual({ '212': [true, B, 6] });
  });

  it('stores a late ADD inactive under the floor of a load that does not name it', () => {
    const world = new World();
    world.run(5, referenceMessage('DNLD', ['212', A]));
    world.run(3, referenceMessage('ADD', ['213', A]));
    expect(rows(world)).toMatchObject({ '213': [false, A, 3] });
  });

  it('takes the later of two records with one key', () => {
    const world = new World();
    world.run(1, referenceMessage('DNLD', ['212', A], ['212', B]));
    expect(rows(world)).toEqual({ '212': [true, B, 1] });
  });

  it('writes only what changed', () => {
    const world = new World();
    world.run(1, referenceMessage('ADD', ['212', A], ['213', A]));
    const decision = world.run(2, referenceMessage('UPD', ['212', B]));
    expect(decision).toMatchObject({ reference: { rtype: 'ABDG', floor: null, rows: [{ rkey: '212' }] } });
    expect(world.run(2, referenceMessage('UPD', ['212', B]))).toMatchObject({ reference: { rows: [] } });
  });

  it('writes of a load only what it changes, and none of a load that changes nothing', () => {
    const world = new World();
    world.run(1, referenceMessage('DNLD', ['212', A], ['213', A], ['214', A]));
    expect(world.run(2, referenceMessage('DNLD', ['212', A], ['213', A], ['214', A]))).toMatchObject({
      reason: 'unchanged',
      reference: { floor: 2n, rows: [], past: [] },
    });
    expect(world.run(3, referenceMessage('DNLD', ['212', B], ['213', A], ['215', A]))).toMatchObject({
      reference: {
        rows: [
          { rkey: '212', stamp: 3n },
          { rkey: '215', stamp: 3n },
          // Named last by the load before, though its row says the first one.
          { rkey: '214', active: false, stamp: 2n, bodyStamp: 2n },
        ],
      },
    });
    expect(rows(world)).toEqual({
      '212': [true, B, 3],
      '213': [true, A, 3],
      '214': [false, A, 2],
      '215': [true, A, 3],
    });
  });

  it('takes a row that was confirmed but not written as named by the load that confirmed it', () => {
    const world = new World();
    world.run(1, referenceMessage('ADD', ['212', A]));
    world.run(5, referenceMessage('DNLD', ['212', A]));
    // Both are older than the load that names the row, though newer than what its row says.
    world.run(3, referenceMessage('DEL', ['212', {}]));
    world.run(4, referenceMessage('UPD', ['212', B]));
    expect(rows(world)).toEqual({ '212': [true, A, 5] });
  });

  it('tells what a row was before each change, and nothing of rows that come', () => {
    const world = new World();
    expect(world.run(1, referenceMessage('DNLD', ['212', A], ['213', A]))).toMatchObject({
      reference: { past: [] },
    });
    expect(world.run(2, referenceMessage('UPD', ['212', B], ['213', A]))).toMatchObject({
      reference: { past: [{ rtype: 'ABDG', rkey: '212', msgId: 2n, body: A, active: true }] },
    });
    expect(world.run(3, referenceMessage('DNLD', ['213', A]))).toMatchObject({
      reference: { past: [{ rkey: '212', msgId: 3n, body: B, active: true }] },
    });
    expect(world.run(4, referenceMessage('ADD', ['212', B]))).toMatchObject({
      reference: { past: [{ rkey: '212', msgId: 4n, body: B, active: false }] },
    });
  });

  it('ends the same whatever the order of its messages, as the plain rules say', () => {
    fc.assert(
      fc.property(permuted(anyReferenceMessage, 8), ({ inOrder, shuffled }) => {
        const ordered = worldOf(inOrder);
        const mixed = worldOf(shuffled);
        expect(underFloors(mixed)).toEqual(underFloors(ordered));
        const plain = plainRules(inOrder.map(([, decoded]) => decoded));
        const seen = [...ordered.rows.values()].map((row) => [
          row.rkey,
          row.active,
          row.active ? row.body : null,
        ]);
        expect(new Map(seen.map((row) => [row[0], row]))).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(permuted(anyReferenceMessage, 8), fc.nat(), ({ shuffled }, pick) => {
        const world = new World();
        for (const [id, decoded] of shuffled) world.run(id, decoded);
        const before = world.references.get('ABDG');
        const [id, decoded] = shuffled[pick % shuffled.length]!;
        const again = world.run(id, decoded);
        expect(again).toMatchObject({ reference: { floor: before?.floor, rows: [] } });
      }),
    );
  });
});

/** Runs messages with the type going through the database after each. */
function worldOf(messages: readonly (readonly [bigint, DecodedMessage])[]): ReferenceType {
  const world = new World();
  for (const [id, decoded] of messages) {
    world.run(id, decoded);
    const type = world.references.get('ABDG')!;
    const stored = [...type.rows].map(([key, row]): [string, ReferenceRow] => [
      key,
      { ...row, body: throughJsonb(row.body) },
    ]);
    world.references.set('ABDG', {
      floor: type.floor,
      rows: new Map(stored.sort(([a], [b]) => (a < b ? -1 : 1))),
    });
  }
  return world.references.get('ABDG')!;
}

/** The rules of the dialect in order: loads replace, ADD and UPD upsert, DEL deactivates. */
function plainRules(messages: readonly DecodedMessage[]): Map<string, [string, boolean, unknown]> {
  const known = new Map<string, [string, boolean, unknown]>();
  for (const { body } of messages) {
    if (body.kind !== 'reference') continue;
    if (body.operation === 'DNLD') for (const key of known.keys()) known.set(key, [key, false, null]);
    for (const record of body.records) {
      const active = body.operation !== 'DEL';
      known.set(record.key, [record.key, active, active ? record.body : null]);
    }
  }
  return known;
}
