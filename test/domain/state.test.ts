import { describe, expect, it } from 'vitest';
import { COLLECTIONS, SCALARS } from '../../src/domain/fields.ts';
import {
  canonicalise,
  emptyState,
  entriesOf,
  flatten,
  scalarAt,
  StateDraft,
  withScalar,
} from '../../src/domain/state.ts';
import { F1, throughJsonb } from './kit.ts';

describe('the state of a flight', () => {
  it('has every field of the catalogue from the start, the flight ID first', () => {
    const state = emptyState(F1);
    expect(Object.keys(state)[0]).toBe('flid');
    for (const { path } of SCALARS) {
      const nested = path
        .split('.')
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], state);
      expect(nested, path).toBeNull();
    }
    for (const { name } of COLLECTIONS) expect(state[name]).toEqual([]);
    expect(Object.keys(state)).toHaveLength(
      1 + new Set(SCALARS.map((f) => f.path.split('.')[0])).size + COLLECTIONS.length,
    );
  });

  it('comes back from the database in catalogue order, completed, and without what is not of it', () => {
    const state = withScalar(emptyState(F1), 'externalStatus.code', 'DELAY');
    expect(JSON.stringify(canonicalise(throughJsonb(state)))).toBe(JSON.stringify(state));
    const old = { stands: [{ code: '9', seq: 1 }], externalStatus: { code: 'DELAY' }, flid: F1, retired: 1 };
    const now = canonicalise(old);
    expect(Object.keys(now)).toEqual(Object.keys(state));
    expect(now['externalStatus']).toEqual({ code: 'DELAY', remark: null });
    expect(JSON.stringify(now['stands'])).toBe(
      '[{"seq":1,"code":"9","plannedFrom":null,"plannedTo":null,"push":{"time":null,"indicator":null},"tractorAt":null}]',
    );
  });

  it('is read and set by path without touching the one given', () => {
    const state = emptyState(F1);
    const set = withScalar(state, 'port.openedAt', '2026-03-14T08:20:00+08:00');
    expect(scalarAt(set, 'port.openedAt')).toBe('2026-03-14T08:20:00+08:00');
    expect(scalarAt(state, 'port.openedAt')).toBeNull();
    expect(scalarAt({ flid: F1 }, 'port.openedAt')).toBeNull();
    expect(entriesOf({ flid: F1 }, 'gates')).toEqual([]);
    expect(flatten(set).get('port.openedAt')).toBe('2026-03-14T08:20:00+08:00');
    expect([...flatten(set).keys()]).toEqual([
      ...SCALARS.map((f) => f.path),
      ...COLLECTIONS.map((c) => c.name),
    ]);
  });

  it('is rewritten beside the original, which it shares where nothing is written', () => {
    const before = withScalar(emptyState(F1), 'externalStatus.code', 'DELAY');
    const text = JSON.stringify(before);
    const draft = new StateDraft(before);
    expect(draft.finish()).toBe(before);
    draft.setScalar('externalStatus.remark', 'FOG');
    draft.setEntries('gates', [{ seq: 1, code: 'G1' }]);
    expect(draft.scalar('externalStatus.remark')).toBe('FOG');
    expect(draft.entries('gates')).toHaveLength(1);
    const after = draft.finish();
    expect(JSON.stringify(before)).toBe(text);
    expect(after['externalStatus']).toEqual({ code: 'DELAY', remark: 'FOG' });
    expect(after['port']).toBe(before['port']);
    expect(Object.keys(after)).toEqual(Object.keys(before));
  });
});
