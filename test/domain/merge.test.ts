import { describe, expect, it } from 'vitest';
import { msgId } from '../../src/domain/ids.ts';
import type { Write } from '../../src/domain/message.ts';
import { emptyRegisters, foldPatch, type Fold } from '../../src/domain/merge.ts';
import { lineage } from '../../src/domain/stamps.ts';
import { scalarAt } from '../../src/domain/state.ts';
import { CLEAR_DELAYS, delay, F1, list, push, scalar, tractor } from './kit.ts';

const AT = '2026-03-14T14:58:00+08:00';

/** Folds messages in the order given; the last fold tells. */
function folding(...messages: readonly (readonly [number | bigint, ...Write[]])[]): Fold {
  let last: Fold | undefined;
  for (const [id, ...writes] of messages) {
    last = foldPatch(last?.after ?? emptyRegisters(F1), msgId(BigInt(id)), writes);
  }
  return last!;
}
const stands = (fold: Fold): unknown => fold.after.state['stands'];
const stand = (code: string, extra: object = {}): unknown => ({
  seq: 1,
  code,
  plannedFrom: null,
  plannedTo: null,
  push: { time: null, indicator: null },
  tractorAt: null,
  ...extra,
});
const delayCodes = (fold: Fold): unknown[] =>
  (fold.after.state['delays'] as { code: string; minutes: number }[]).map((d) => [d.code, d.minutes]);

describe('scalars', () => {
  it('take a newer message, keep against an older one and name what was lost', () => {
    const late = folding(
      [5, scalar('terminal', 'T2')],
      [3, scalar('terminal', 'T1'), scalar('runway', '02L')],
    );
    expect(scalarAt(late.after.state, 'terminal')).toBe('T2');
    expect(late.superseded).toEqual(['terminal']);
    expect(late.changed).toEqual(['runway']);
  });

  it('lose without a word where the newer message has the same value', () => {
    expect(folding([5, scalar('terminal', 'T2')], [3, scalar('terminal', 'T2')]).superseded).toEqual([]);
  });

  it('move the stamp though the value stays, so that an older one cannot slip in', () => {
    const unchanged = folding([1, scalar('terminal', 'T2')], [9, scalar('terminal', 'T2')]);
    expect(unchanged).toMatchObject({ changed: [], stored: true });
    const late = folding(
      [1, scalar('terminal', 'T2')],
      [9, scalar('terminal', 'T2')],
      [5, scalar('terminal', 'T3')],
    );
    expect(scalarAt(late.after.state, 'terminal')).toBe('T2');
  });

  it('compare message IDs as numbers of 64 bits', () => {
    const fold = folding(
      [9_007_199_254_740_993n, scalar('terminal', 'T2')],
      [9_007_199_254_740_992n, scalar('terminal', 'T1')],
    );
    expect(fold.superseded).toEqual(['terminal']);
    expect(folding([9, scalar('terminal', 'T2')], [10, scalar('terminal', 'T1')]).changed).toEqual([
      'terminal',
    ]);
  });

  it('nest by path', () => {
    expect(folding([1, scalar('irregular.diversion.airport', 'CKG')]).after.state['irregular']).toEqual({
      diversion: { airport: 'CKG', direction: null, reason: null },
      return: { kind: null, reason: null },
      abortedLanding: { kind: null, reason: null },
    });
  });

  it('follow the last write of a message', () => {
    const fold = folding([1, scalar('terminal', 'T1'), scalar('terminal', 'T2')]);
    expect(scalarAt(fold.after.state, 'terminal')).toBe('T2');
  });
});

describe('collections', () => {
  it('are replaced as a whole, in sequence, with every attribute', () => {
    const fold = folding(
      [1, list('gates', { seq: 1, code: '01' }, { seq: 2, code: '02' })],
      [2, list('gates', { seq: 2, code: 'G33' }, { seq: 1, code: '04', stray: 'x' })],
    );
    const rest = { plannedFrom: null, plannedTo: null, actualFrom: null, actualTo: null, indicator: null };
    expect(fold.after.state['gates']).toEqual([
      { seq: 1, code: '04', ...rest },
      { seq: 2, code: 'G33', ...rest },
    ]);
    expect(fold.changed).toEqual(['gates']);
  });

  it('are cleared by an empty list', () => {
    const fold = folding([1, list('gates', { seq: 1, code: '01' })], [2, list('gates')]);
    expect(fold.after.state['gates']).toEqual([]);
    expect(fold.changed).toEqual(['gates']);
  });

  it('keep the order of the message where they have no sequence', () => {
    const fold = folding([1, list('vips', { code: 'B', entourage: 2 }, { code: 'A', entourage: 1 })]);
    expect(fold.after.state['vips']).toEqual([
      { code: 'B', entourage: 2 },
      { code: 'A', entourage: 1 },
    ]);
  });
});

describe('push and tractor', () => {
  it('are joined to every stand of their code and survive a new list', () => {
    const joined = { push: { time: AT, indicator: 'OUT' }, tractorAt: AT };
    const fold = folding(
      [1, list('stands', { seq: 1, code: '401#' })],
      [2, push('401#', AT), tractor('401#', AT)],
      [3, list('stands', { seq: 1, code: '401#' }, { seq: 2, code: '401#' }, { seq: 3, code: '9' })],
    );
    expect(stands(fold)).toEqual([
      stand('401#', joined),
      stand('401#', { ...joined, seq: 2 }),
      stand('9', { seq: 3 }),
    ]);
  });

  it('wait invisibly for a stand, are counted, and appear with it', () => {
    const waiting = folding(
      [1, list('stands', { seq: 1, code: '9' })],
      [2, push('401#', AT), tractor('401#', AT)],
    );
    expect(waiting).toMatchObject({ changed: [], stored: true, unmatchedStands: 2 });
    const shown = foldPatch(waiting.after, msgId(3n), [list('stands', { seq: 1, code: '401#' })]);
    expect(stands(shown)).toEqual([stand('401#', { push: { time: AT, indicator: 'OUT' }, tractorAt: AT })]);
    expect(shown.unmatchedStands).toBe(0);
  });

  it('are matched against the list of the same message', () => {
    const fold = folding([1, push('401#', AT), list('stands', { seq: 1, code: '401#' })]);
    expect(fold.unmatchedStands).toBe(0);
    expect(stands(fold)).toEqual([stand('401#', { push: { time: AT, indicator: 'OUT' } })]);
  });

  it('are not taken from the entries of a list', () => {
    const fold = folding([
      1,
      list('stands', { seq: 1, code: '9', push: { time: AT, indicator: 'X' }, tractorAt: AT }),
    ]);
    expect(stands(fold)).toEqual([stand('9')]);
  });

  it('change `stands` where they are seen, and lose as `stands`', () => {
    const base = [1, list('stands', { seq: 1, code: '9' })] as const;
    expect(folding([...base], [2, push('9', AT)]).changed).toEqual(['stands']);
    expect(folding([...base], [3, push('9', null)], [2, push('9', AT)]).superseded).toEqual(['stands']);
    expect(stands(folding([...base], [2, push('9', AT)], [3, push('9', null)]))).toEqual([stand('9')]);
  });

  it('are kept under any code', () => {
    for (const code of ['__proto__', 'constructor', 'toString']) {
      const fold = folding([1, push(code, AT)], [2, list('stands', { seq: 1, code })]);
      expect(stands(fold)).toEqual([stand(code, { push: { time: AT, indicator: 'OUT' } })]);
    }
    expect(stands(folding([1, list('stands', { seq: 1, code: 'constructor' })]))).toEqual([
      stand('constructor'),
    ]);
  });
});

describe('delays', () => {
  it('merge by code, in code order', () => {
    const fold = folding([1, delay('93', 15)], [2, delay('81', 45)], [3, delay('93', 20)]);
    expect(delayCodes(fold)).toEqual([['81', 45], ['93', 20]]); // prettier-ignore
  });

  it('set then cleared in one message are cleared, cleared then set are set', () => {
    expect(delayCodes(folding([1, delay('81', 45), CLEAR_DELAYS]))).toEqual([]);
    expect(delayCodes(folding([1, delay('93', 1)], [2, CLEAR_DELAYS, delay('81', 45)]))).toEqual([
      ['81', 45],
    ]);
  });

  it('under a clear are gone, also those that come late', () => {
    const fold = folding([1, delay('81', 45)], [5, CLEAR_DELAYS], [3, delay('93', 15)]);
    expect(delayCodes(fold)).toEqual([]);
    expect(fold.superseded).toEqual(['delays']);
    expect(fold.after.stamps.delays).toEqual({ floor: '5', codes: {} });
  });

  it('survive a late clear where they are newer', () => {
    const fold = folding([1, delay('81', 45)], [5, delay('93', 15)], [3, CLEAR_DELAYS]);
    expect(delayCodes(fold)).toEqual([['93', 15]]);
    expect(fold.superseded).toEqual(['delays']);
    expect(fold.changed).toEqual(['delays']);
  });
});

it('a flight tells which message wrote what', () => {
  const { after } = folding([1, scalar('terminal', 'T1'), delay('81', 5)], [2, list('gates'), push('9', AT)]);
  expect(Object.fromEntries(lineage(after.stamps))).toMatchObject({
    terminal: '1',
    gates: '2',
    'delays[81]': '1',
    'stands[9].push': '2',
  });
});
