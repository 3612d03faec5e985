import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { judge, stepsOf, written } from './kit.ts';

// Longer than its flights have to tell, so that nothing was left out.
const messages = written(stepsOf({ count: 5_000, seed: 'order' }));
const { flights } = await judge(messages);

interface Told {
  readonly index: number;
  readonly dttm: string;
  readonly what: string;
}

/** What was told of each flight, by the moments that have an order. */
function stories(): ReadonlyMap<string, readonly Told[]> {
  const result = new Map<string, Told[]>();
  messages.forEach(({ text }, index) => {
    const [, dttm = '', type, subtype = ''] =
      /<DTTM>(\d+)<\/DTTM><TYPE>(\w+)<\/TYPE><STYP>(\w+)</.exec(text) ?? [];
    if (type !== 'FLOP') return;
    for (const [, flid = '', record = ''] of text.matchAll(/<FLOP><FLID>(\d+)<\/FLID>(.*?)<\/FLOP>/gs)) {
      const what =
        subtype +
        (record.includes('<CHID>ON<') || record.includes('<ABOP>A<') ? '+' : '') +
        (record.includes('<COTM>') ? '(' : '') +
        (record.includes('<CCTM>') ? ')' : '') +
        (record.includes('<FBAG>') ? '(' : '') +
        (record.includes('<LBAG>') ? ')' : '');
      result.set(flid, [...(result.get(flid) ?? []), { index, dttm, what }]);
    }
  });
  return result;
}

const told = stories();
const movements = new Map([...flights].map(([flid, { state }]) => [String(flid), state['movement']]));

describe('the life of a flight', () => {
  it.each([
    ['D', ['CKDT(', 'CKDT()', 'PSHT', 'ACTM', 'NAAT']],
    ['D', ['BOTM', 'LACL', 'FINT', 'ABTM', 'CHOT', 'PSHT', 'ACTM']],
    ['D', ['TIPT', 'PSHT']],
    ['A', ['PADT', 'ESTM', 'ACTM', 'CHOT+', 'ABTM+', 'CLDT(', 'CLDT()']],
  ] as const)('%s goes %j', (movement, order) => {
    let complete = 0;
    for (const [flid, story] of told) {
      if (movements.get(flid) !== movement) continue;
      // The last time each was told, except that an estimate is told again and again.
      const places = order.map(
        (what) =>
          (what === 'ESTM'
            ? story.find((one) => one.what === what)
            : story.findLast((one) => one.what === what)
          )?.index,
      );
      const known = places.filter((place) => place !== undefined);
      expect(known, `${flid} ${order.join(' ')}`).toEqual([...known].sort((left, right) => left - right));
      if (known.length === order.length) complete += 1;
    }
    expect(complete).toBeGreaterThan(50);
  });

  it('is told in order of time, interleaved with the others', () => {
    const times = messages.flatMap(({ text }) => /<DTTM>(\d+)</.exec(text)?.[1] ?? []);
    expect(times).toEqual([...times].sort());
    const flids = [...told.values()].map((story) => story.map(({ index }) => index));
    const runs = flids.filter((indexes) => indexes.length > 5 && indexes.at(-1)! - indexes[0]! > 100);
    expect(runs.length).toBeGreaterThan(200);
  });

  it('begins after reference data and schedule', () => {
    const first = messages.findIndex(({ note }) => note.about === 'operation');
    const abouts = messages.slice(0, first).map(({ note }) => note.about);
    expect(abouts.filter((about) => about === 'reference')).toHaveLength(16);
    expect(abouts.slice(16).every((about) => about === 'schedule')).toBe(true);
    const later = messages.slice(first).filter(({ note }) => note.about === 'schedule');
    expect(later).toEqual([]);
  });
});

describe('the day as a whole', () => {
  it('sees every operational update of the dialect but those that nobody sends', () => {
    const seen = new Set([...told.values()].flat().map(({ what }) => what.replace(/[+()]/g, '')));
    const subtypes =
      'ABTM ACFT ACTM APPT BOTM CHDT CHOT CKDT CLDT CNCL COBT CSFT CTOT DELY EGSR EGST EOBT ERUT ESTM EXSS FDEL FDIV FINT FLAB FLIN FLTY FRET FTSS GTDT HNAG IEST LACL MAXP NAAT NEAT PADT PEDT PORT PSDT PSHT REMC RENO RUNW SRVT STND TAOP TIPT TOBT TRML VIPF VIPP';
    expect(subtypes.split(' ').filter((subtype) => !seen.has(subtype))).toEqual([]);
  });

  it('speaks Chinese in remarks, delays, states and reference data', () => {
    const chinese = (pattern: RegExp) => messages.filter(({ text }) => pattern.test(text)).length;
    expect(chinese(/<REMC>[^<]*\p{Script=Han}/u)).toBeGreaterThan(10);
    expect(chinese(/<DELY [^>]*>[^<]*\p{Script=Han}/u)).toBeGreaterThan(10);
    expect(chinese(/<EXSR>[^<]*\p{Script=Han}/u)).toBeGreaterThan(10);
    expect(chinese(/<CDES>[^<]*\p{Script=Han}/u)).toBeGreaterThan(10);
  });

  it('puts no two aircraft on one stand at once', () => {
    const stays = new Map<string, { plane: string; from: string; to: string }[]>();
    for (const { flid: plane, state, deleted } of flights.values()) {
      const actual = state['actualTime'];
      if (deleted || typeof actual !== 'string') continue;
      for (const { stand, time } of state['chocks'] as unknown as { stand: string; time: string }[]) {
        const landed = state['movement'] === 'A';
        const linked = (state['linked'] as JsonObject)['flid'];
        const other = typeof linked === 'string' ? flights.get(linked as never)?.state : undefined;
        if (!landed || other === undefined) continue;
        const [leaving] = other['chocks'] as unknown as { stand: string; time: string }[];
        if (leaving?.stand !== stand) continue;
        stays.set(stand, [...(stays.get(stand) ?? []), { plane, from: time, to: leaving.time }]);
      }
    }
    expect([...stays.values()].flat().length).toBeGreaterThan(50);
    for (const visits of stays.values()) {
      const ordered = visits.sort((left, right) => left.from.localeCompare(right.from));
      ordered.slice(1).forEach(({ from }, index) => expect(from >= ordered[index]!.to).toBe(true));
    }
  });

  it('links arrival and departure to one aircraft and one stand', () => {
    let pairs = 0;
    for (const { state } of flights.values()) {
      const { flid } = state['linked'] as { flid: string | null };
      const other = flid === null ? undefined : flights.get(flid as never)?.state;
      if (other === undefined) continue;
      pairs += 1;
      expect((other['linked'] as { flid: string }).flid).toBe(state['flid']);
      expect(other['movement']).not.toBe(state['movement']);
    }
    expect(pairs).toBeGreaterThan(200);
  });
});
