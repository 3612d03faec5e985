import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Flid } from '../../src/domain/ids.ts';
import { msgId } from '../../src/domain/ids.ts';
import { emptyRegisters, foldPatch, type Registers } from '../../src/domain/merge.ts';
import type { DecodedMessage, Write } from '../../src/domain/message.ts';
import { canonicalise } from '../../src/domain/state.ts';
import { refold, type RefoldEntry } from '../../src/domain/refold.ts';
import { anyFlightMessage, anyWrites, DAY, F1, permuted, throughJsonb, World } from './kit.ts';
import { NaiveFlight, NaiveWorld } from './naive-model.ts';

type Stamped = readonly [bigint, readonly [readonly Write[], boolean | null]];

const anyEffect = fc.tuple(anyWrites, fc.constantFrom(null, true, false));

function foldAll(messages: readonly Stamped[], between: (r: Registers) => Registers = (r) => r): Registers {
  return messages.reduce(
    (registers, [id, [writes, deleted]]) => between(foldPatch(registers, msgId(id), writes, deleted).after),
    emptyRegisters(F1),
  );
}

describe('folding by stamps', () => {
  it('gives one flight whatever the order of the messages, the one the plain rules give in order', () => {
    fc.assert(
      fc.property(permuted(anyEffect, 8), ({ inOrder, shuffled }) => {
        const ordered = foldAll(inOrder);
        expect(foldAll(shuffled)).toEqual(ordered);
        const naive = new NaiveFlight(F1);
        for (const [, [writes, deleted]] of inOrder) {
          for (const write of writes) naive.write(write);
          naive.deleted = deleted ?? naive.deleted;
        }
        expect(ordered.state).toEqual(naive.render());
        expect(ordered.deleted).toBe(naive.deleted);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing the second time, not even which object holds the flight', () => {
    fc.assert(
      fc.property(permuted(anyEffect, 6), fc.nat(), ({ shuffled }, pick) => {
        const registers = foldAll(shuffled);
        const [id, [writes, deleted]] = shuffled[pick % shuffled.length]!;
        const again = foldPatch(registers, msgId(id), writes, deleted);
        expect(again.stored).toBe(false);
        expect(again.after).toBe(registers);
        expect(again.changed).toEqual([]);
      }),
    );
  });

  it('does not depend on the key order in which the database gives a flight back', () => {
    fc.assert(
      fc.property(permuted(anyEffect, 6), ({ shuffled }) => {
        const direct = foldAll(shuffled);
        expect(throughJsonb(foldAll(shuffled, throughJsonb))).toEqual(throughJsonb(direct));
        expect(JSON.stringify(canonicalise(foldAll(shuffled, throughJsonb).state))).toBe(
          JSON.stringify(direct.state),
        );
      }),
    );
  });

  it('names as changed exactly what is rendered differently', () => {
    fc.assert(
      fc.property(permuted(anyEffect, 5), anyWrites, fc.bigInt(1n, 9n), ({ shuffled }, writes, id) => {
        const before = foldAll(shuffled);
        const { after, changed } = foldPatch(before, msgId(id), writes);
        const shown = (r: Registers): unknown[] => [
          r.state['terminal'],
          (r.state['externalStatus'] as { code: unknown }).code,
          (r.state['vip'] as { count: unknown }).count,
          r.state['stands'],
          r.state['gates'],
          r.state['delays'],
        ];
        const names = ['terminal', 'externalStatus.code', 'vip.count', 'stands', 'gates', 'delays'];
        const differing = names.filter(
          (_name, index) => JSON.stringify(shown(before)[index]) !== JSON.stringify(shown(after)[index]),
        );
        expect([...changed].sort()).toEqual(differing.sort());
      }),
    );
  });

  it('never moves a stamp back, and loses only to newer messages', () => {
    fc.assert(
      fc.property(permuted(anyEffect, 6), anyWrites, ({ shuffled }, writes) => {
        const before = foldAll(shuffled);
        expect(foldPatch(before, msgId(1000n), writes).superseded).toEqual([]);
        const { after } = foldPatch(before, msgId(0n), writes);
        for (const [name, stamp] of Object.entries(before.stamps.fields)) {
          expect(after.stamps.fields[name]).toBe(stamp);
        }
      }),
    );
  });
});

describe('deciding', () => {
  it('in order, gives the flights, versions and events of the plain rules', () => {
    fc.assert(
      fc.property(fc.array(anyFlightMessage, { maxLength: 12 }), (messages) => {
        const world = new World();
        const naive = new NaiveWorld();
        const events: string[] = [];
        messages.forEach((message, index) => {
          naive.run(message);
          const decision = world.run(index + 1, message);
          for (const { after, event } of decision.state === 'SUCCEEDED' ? decision.flights : []) {
            if (event !== null) events.push(`${after.flid} ${after.version} ${event.type}`);
          }
        });
        expect([...events].sort()).toEqual([...naive.events].sort());
        expect(new Set(world.flights.keys())).toEqual(new Set(naive.flights.keys()));
        for (const [id, flight] of naive.flights) {
          expect(world.flight(id).state).toEqual(flight.render());
          expect(world.flight(id).deleted).toBe(flight.deleted);
          expect(world.flight(id).version).toBe(flight.version);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('in any order, leaves each flight as the refold of the messages recorded for it, in yet another order', () => {
    fc.assert(
      fc.property(permuted(anyFlightMessage, 12), fc.boolean(), ({ shuffled }, jsonb) => {
        const world = new World();
        const applied = new Map<Flid, RefoldEntry[]>();
        for (const [id, message] of shuffled) {
          const decision = world.run(id, message);
          if (decision.state !== 'SUCCEEDED') continue;
          for (const { after } of decision.flights) {
            if (jsonb) {
              const stored = throughJsonb({ state: after.state, stamps: after.stamps });
              world.flights.set(after.flid, { ...after, ...stored });
            }
            const entries = applied.get(after.flid) ?? [];
            applied.set(after.flid, [
              { msgId: msgId(id), message: message satisfies DecodedMessage },
              ...entries,
            ]);
          }
        }
        for (const [id, entries] of applied) {
          const { state, stamps, deleted, operationDay, lastMsgId } = world.flight(id);
          expect(refold(id, entries, '00:00')).toEqual({ state, stamps, deleted, operationDay, lastMsgId });
          expect(operationDay).toBe(DAY);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('repeats no message: the second time nothing is stored', () => {
    fc.assert(
      fc.property(permuted(anyFlightMessage, 8), ({ shuffled }) => {
        const world = new World();
        for (const [id, message] of shuffled) world.run(id, message);
        const before = new Map(world.flights);
        const [id, message] = shuffled.at(-1)!;
        const again = world.run(id, message);
        if (again.state === 'SUCCEEDED') {
          expect(again.flights.map((change) => [change.stored, change.event])).toEqual(
            again.flights.map(() => [false, null]),
          );
        }
        for (const [flid, flight] of before) expect(world.flights.get(flid)).toBe(flight);
      }),
    );
  });
});
