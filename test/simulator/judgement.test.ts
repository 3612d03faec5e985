import { describe, expect, it } from 'vitest';
import { prefixOf } from '../../src/domain/reasons.ts';
import { judge, stepsOf, written, type Verdict } from './kit.ts';

const SHARES = { count: 3_000, duplicates: 0.03, poison: 0.06, unsupported: 0.01 };
const { verdicts, flights } = await judge(written(stepsOf(SHARES)));

function about(kind: Verdict['note']['about']): readonly Verdict[] {
  return verdicts.filter(({ note }) => note.about === kind);
}

describe('a simulated day, judged', () => {
  it('has nothing refused but poison and what is unsupported', () => {
    for (const kind of ['reference', 'schedule', 'ad-hoc', 'operation', 'deletion'] as const) {
      expect(about(kind).length, kind).toBeGreaterThan(0);
      const failed = about(kind).filter(({ state }) => state !== 'SUCCEEDED');
      expect(failed, kind).toEqual([]);
    }
  });

  it('ends each poisoned message in its class, for the reason it names', () => {
    expect(about('poison')).toHaveLength(180);
    for (const { note, state, errorClass, reason, text } of about('poison')) {
      if (note.about !== 'poison') continue;
      expect({ state, errorClass }, text).toEqual({ state: 'DEAD', errorClass: note.errorClass });
      expect(prefixOf(reason ?? ''), text).toBe(note.what.split(':')[0]);
    }
  });

  it('knows every kind of poison', () => {
    const kinds = about('poison').map(({ note }) => (note.about === 'poison' ? note.what : ''));
    expect(new Set(kinds).size).toBe(19);
  });

  it('takes repeats for repeats, and sees which differ', () => {
    const repeats = about('duplicate');
    expect(repeats).toHaveLength(90);
    for (const { note, state, reason } of repeats) {
      if (note.about !== 'duplicate') continue;
      expect(state).toBe('SKIPPED');
      expect(reason).toMatch(note.changed ? /^duplicate-of:\d+ content-differs$/ : /^duplicate-of:\d+$/);
    }
    expect(repeats.some(({ note }) => note.about === 'duplicate' && note.changed)).toBe(true);
  });

  it('skips what names no flight, what is ignored, and fails what is unsupported', () => {
    expect(about('no-match').every(({ reason }) => reason?.startsWith('no-match:'))).toBe(true);
    expect(about('no-match').length).toBeGreaterThan(3);
    expect(about('ignored').every(({ reason }) => reason === 'ignored:LDM/NONE')).toBe(true);
    expect(about('ignored').length).toBeGreaterThan(3);
    expect(about('unsupported')).toHaveLength(30);
    expect(about('unsupported').every(({ reason }) => reason === 'unsupported:SCHS/DNLD')).toBe(true);
  });

  it('names no element the dialect does not know, and mostly changes something', () => {
    const unchanged = about('operation').filter(({ reason }) => reason === 'unchanged');
    expect(unchanged.length / about('operation').length).toBeLessThan(0.05);
  });

  it('leaves flights deleted, cancelled, diverted, returned, delayed and shared', () => {
    const states = [...flights.values()];
    const has = (test: (state: Record<string, unknown>) => boolean) =>
      states.filter(({ state }) => test(state)).length;
    expect(states.filter(({ deleted }) => deleted).length).toBeGreaterThan(0);
    expect(has((state) => state['cancelledAt'] !== null)).toBeGreaterThan(1);
    expect(has((state) => JSON.stringify(state['irregular']).includes('"TO"'))).toBeGreaterThan(0);
    expect(has((state) => Array.isArray(state['delays']) && state['delays'].length > 1)).toBeGreaterThan(1);
    expect(has((state) => JSON.stringify(state['stands']).includes('"time":"'))).toBeGreaterThan(20);
    expect(has((state) => JSON.stringify(state['master']).includes('flid":"'))).toBeGreaterThan(3);
  });
});

describe.each([
  ['America/New_York', '2026-03-08', '00:00'],
  ['America/New_York', '2026-11-01', '04:00'],
  ['Europe/London', '2026-10-25', '03:30'],
])('a day of a clock change in %s, %s, cutoff %s', (timeZone, day, cutoff) => {
  it('is judged the same', async () => {
    const messages = written(stepsOf({ count: 700, poison: 0.06, timeZone, day }));
    const judged = await judge(messages, { timeZone, cutoff });
    for (const { note, state, errorClass, reason, text } of judged.verdicts) {
      if (note.about === 'poison') expect(errorClass, text).toBe(note.errorClass);
      else if (note.about === 'ignored' || note.about === 'no-match') expect(state).toBe('SKIPPED');
      else expect(state, `${reason ?? ''} ${text}`).toBe('SUCCEEDED');
    }
  });
});
