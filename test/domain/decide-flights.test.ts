import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/domain/outcome.ts';
import { scalarAt } from '../../src/domain/state.ts';
import { CHANGE_NAMES } from '../../src/domain/state.ts';
import { deletion, F1, F2, F3, NOW, operation, patch, push, scalar, schedule, World } from './kit.ts';

const LATER = '2026-03-14T07:00:00+08:00';
const SUCCESS = { state: 'SUCCEEDED', reason: null } as const;

function events(decision: Decision): unknown[] {
  if (decision.state !== 'SUCCEEDED') return [];
  return decision.flights.flatMap(({ after, event }) =>
    event === null ? [] : [[after.flid, after.version, event.type, [...event.changed]]],
  );
}

describe('a schedule', () => {
  it('creates flights at version 1 and names every field it gave', () => {
    const world = new World();
    const decision = world.run(
      1,
      schedule([patch(F1, scalar('terminal', 'T2')), patch(F2, scalar('remark', null))]),
    );
    expect(decision).toMatchObject(SUCCESS);
    expect(events(decision)).toEqual([
      [F1, 1, 'UPSERT', ['scheduledTime', 'terminal']],
      [F2, 1, 'UPSERT', ['scheduledTime']],
    ]);
    expect(world.flight(F1)).toMatchObject({
      version: 1,
      operationDay: '2026-03-14',
      deleted: false,
      updatedAt: NOW,
      lastMsgId: 1n,
    });
  });

  it('leaves flights it does not name, and may be empty', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const before = world.flight(F1);
    expect(world.run(2, schedule([]))).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'unchanged',
      flights: [],
    });
    expect(world.flight(F1)).toBe(before);
  });

  it('again as it was is unchanged: newer stamps and message, no version, no time', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const again = world.run(2, schedule([patch(F1)], 'ADFT'), { now: LATER });
    expect(again).toMatchObject({ state: 'SUCCEEDED', reason: 'unchanged', detail: null });
    expect(world.flight(F1)).toMatchObject({ version: 1, updatedAt: NOW, lastMsgId: 2n });
    expect(world.flight(F1).stamps.fields['scheduledTime']).toBe('2');
  });

  it('takes the operation day before the cutoff to the day before', () => {
    const world = new World();
    const night = patch(F1, scalar('scheduledTime', '2026-03-01T01:59:00+08:00'));
    world.run(1, schedule([night]), { cutoff: '02:00' });
    expect(world.flight(F1).operationDay).toBe('2026-02-28');
  });

  it('reinstates a deleted flight with its earlier fields merged over', () => {
    const world = new World();
    world.run(1, schedule([patch(F1, scalar('terminal', 'T2'), scalar('runway', '02L'))]));
    world.run(2, deletion(F1));
    const back = world.run(3, schedule([patch(F1, scalar('terminal', 'T3'))], 'ADFT'));
    expect(events(back)).toEqual([[F1, 3, 'UPSERT', ['terminal', 'deleted']]]);
    expect(world.flight(F1).deleted).toBe(false);
    expect(scalarAt(world.flight(F1).state, 'runway')).toBe('02L');
  });

  it('that is older than the deletion does not reinstate', () => {
    const world = new World();
    world.run(1, schedule([patch(F1, scalar('terminal', 'T2'))]));
    world.run(5, deletion(F1), { now: LATER });
    const late = world.run(3, schedule([patch(F1, scalar('terminal', 'T3'))]));
    expect(late).toMatchObject({ state: 'SUCCEEDED', reason: 'superseded:deleted' });
    expect(events(late)).toEqual([]);
    expect(world.flight(F1)).toMatchObject({ deleted: true, version: 2, updatedAt: LATER, lastMsgId: 5n });
    // Its fields wait behind the deletion all the same.
    expect(scalarAt(world.flight(F1).state, 'terminal')).toBe('T3');
  });
});

describe('an update', () => {
  it('makes one event with what changed, and none where nothing did', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const changed = world.run(2, operation(patch(F1, scalar('terminal', 'T1'))), { now: LATER });
    expect(events(changed)).toEqual([[F1, 2, 'UPSERT', ['terminal']]]);
    expect(world.flight(F1).updatedAt).toBe(LATER);
    expect(world.run(3, operation(patch(F1, scalar('terminal', 'T1'))))).toMatchObject({
      reason: 'unchanged',
    });
  });

  it('of one flight in several records is one change, the later record over the earlier', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const decision = world.run(
      2,
      operation(
        patch(F1, scalar('terminal', 'T1'), scalar('runway', '20')),
        patch(F1, scalar('terminal', 'T2')),
      ),
    );
    expect(events(decision)).toEqual([[F1, 2, 'UPSERT', ['terminal', 'runway']]]);
    expect(scalarAt(world.flight(F1).state, 'terminal')).toBe('T2');
  });

  it('of flights unknown or deleted is skipped, by name', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    world.run(2, deletion(F1));
    const update = operation(patch(F1, scalar('terminal', 'T1')), patch(F2, scalar('terminal', 'T1')));
    expect(world.run(3, update)).toEqual({
      state: 'SKIPPED',
      reason: 'no-match:700001,700002',
      detail: { noMatch: [F1, F2] },
    });
  });

  it('of several flights succeeds where one matches and names the others', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const update = operation(...[F2, F1, F3].map((id) => patch(id, scalar('terminal', 'T1'))));
    const decision = world.run(2, update);
    expect(decision).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'no-match:700002,700003',
      detail: { noMatch: [F2, F3] },
    });
    expect(events(decision)).toEqual([[F1, 2, 'UPSERT', ['terminal']]]);
    expect(world.flights.has(F2)).toBe(false);
  });

  it('older than a deletion is kept behind it, without an event', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    world.run(5, deletion(F1));
    const late = world.run(3, operation(patch(F1, scalar('terminal', 'T1'))));
    expect(late).toMatchObject({ state: 'SUCCEEDED', reason: 'unchanged' });
    expect(events(late)).toEqual([]);
    expect(world.flight(F1)).toMatchObject({ version: 2, deleted: true });
    world.run(6, schedule([patch(F1)]));
    expect(scalarAt(world.flight(F1).state, 'terminal')).toBe('T1');
  });

  it('that comes late says which fields a newer message holds, and makes no event where all are lost', () => {
    const world = new World();
    world.run(1, schedule([patch(F1), patch(F2)]));
    world.run(9, operation(patch(F1, scalar('terminal', 'T3'), scalar('runway', '20'))));
    const all = world.run(5, operation(patch(F1, scalar('terminal', 'T1'), scalar('runway', '20'))));
    expect(all).toMatchObject({ state: 'SUCCEEDED', reason: 'superseded:terminal' });
    expect(all).toMatchObject({
      detail: { reasons: ['superseded:terminal', 'unchanged'], superseded: { [F1]: ['terminal'] } },
    });
    expect(all).toMatchObject({ flights: [{ stored: false, event: null, superseded: ['terminal'] }] });
    const some = world.run(
      6,
      operation(patch(F1, scalar('terminal', 'T1')), patch(F3, scalar('terminal', 'T1'))),
    );
    expect(some).toMatchObject({
      reason: 'superseded:terminal (+1 more)',
      detail: { reasons: ['superseded:terminal', 'no-match:700003', 'unchanged'] },
    });
  });

  it('moves no flight to another day; clearing the scheduled time or staying in the day is no move', () => {
    const world = new World();
    world.run(1, schedule([patch(F1), patch(F2)]));
    const before = world.flight(F2);
    const moving = operation(
      patch(F2, scalar('terminal', 'T9')),
      patch(F1, scalar('scheduledTime', '2026-03-15T00:05:00+08:00')),
    );
    expect(world.run(2, moving)).toMatchObject({
      state: 'DEAD',
      errorClass: 'PROTOCOL',
      reason: 'operation-day-conflict:700001',
    });
    expect(world.flight(F2)).toBe(before);
    const staying = operation(patch(F1, scalar('scheduledTime', '2026-03-14T23:59:00+08:00')));
    expect(world.run(3, staying)).toMatchObject(SUCCESS);
    expect(world.run(4, operation(patch(F1, scalar('scheduledTime', null))))).toMatchObject(SUCCESS);
    expect(world.flight(F1).operationDay).toBe('2026-03-14');
    // A flight that is not known cannot be moved: no match.
    expect(
      world.run(5, operation(patch(F3, scalar('scheduledTime', '2026-03-15T00:05:00+08:00')))),
    ).toMatchObject({
      state: 'SKIPPED',
      reason: 'no-match:700003',
    });
  });

  it('counts pushes that meet no stand, those without a stand included', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    const update = operation(patch(F1, push('9', NOW)));
    expect(world.run(2, { ...update, unmatchedStands: 2 })).toMatchObject({
      reason: 'unchanged',
      unmatchedStands: 3,
    });
  });
});

describe('a deletion', () => {
  it('is a tombstone and the next version, the fields kept', () => {
    const world = new World();
    world.run(1, schedule([patch(F1, scalar('terminal', 'T2'))]));
    expect(events(world.run(2, deletion(F1)))).toEqual([[F1, 2, 'TOMBSTONE', ['deleted']]]);
    expect(world.flight(F1)).toMatchObject({ deleted: true, version: 2, state: { terminal: 'T2' } });
  });

  it('of what is unknown or deleted already is skipped', () => {
    const world = new World();
    world.run(1, schedule([patch(F1)]));
    world.run(2, deletion(F1));
    expect(world.run(3, deletion(F1))).toMatchObject({ state: 'SKIPPED', reason: 'no-match:700001' });
    expect(world.run(4, deletion(F2))).toMatchObject({ state: 'SKIPPED', reason: 'no-match:700002' });
    expect(world.flight(F1).version).toBe(2);
  });

  it('older than the schedule that names the flight loses', () => {
    const world = new World();
    world.run(9, schedule([patch(F1)]));
    const late = world.run(5, deletion(F1));
    expect(late).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'superseded:deleted',
      flights: [{ stored: false }],
    });
    expect(world.flight(F1)).toMatchObject({ deleted: false, version: 1 });
  });
});

it('changed names come from one list', () => {
  expect(CHANGE_NAMES).toContain('externalStatus.code');
  expect(new Set(CHANGE_NAMES).size).toBe(CHANGE_NAMES.length);
});
