/** The model against the domain, message by message: two statements of the same rules that share no code. */
import { describe, expect, it } from 'vitest';
import { judge, stepsOf, written } from '../simulator/kit.ts';
import { readXml } from './xml.ts';
import { World } from './world.ts';

const SHARES = { duplicates: 0.03, poison: 0.06, unsupported: 0.01 };

describe('the model', { timeout: 30_000 }, () => {
  it.each([
    ['1', 'Asia/Shanghai', '2026-03-14', '00:00', 1_000],
    ['2', 'America/New_York', '2026-11-01', '04:00', 700],
    ['3', 'Europe/London', '2026-10-25', '03:30', 700],
    ['4', 'Asia/Shanghai', '2026-03-14', '00:00', 60],
  ])('agrees with the domain on day %s in %s, %s, cutoff %s', async (seed, timeZone, day, cutoff, count) => {
    const messages = written(stepsOf({ ...SHARES, seed, timeZone, day, count }));
    const { verdicts, flights } = await judge(messages, { timeZone, cutoff });
    const world = new World({ timeZone, cutoff, vipPersons: true });
    for (const [index, { state, errorClass, reason, text }] of verdicts.entries()) {
      const { verdict } = world.apply(BigInt(index + 1), text);
      // What is repeated to no avail ends EXHAUSTED.
      const repeated = errorClass === 'CODEC_ERROR' || state === 'FAILED';
      expect({ state: verdict.state, errorClass: verdict.errorClass }, text).toEqual({
        state: state === 'FAILED' ? 'DEAD' : state,
        errorClass: repeated ? 'EXHAUSTED' : errorClass,
      });
      if (verdict.reason !== null) expect(reason, text).toMatch(new RegExp(`^${verdict.reason}`));
    }
    expect([...world.flights.keys()].sort()).toEqual([...flights.keys()].sort());
    for (const [flid, { state, version, deleted, operationDay }] of flights) {
      const flight = world.flights.get(flid);
      expect(flight?.state(), flid).toEqual(state);
      expect([flight?.version, flight?.deleted, flight?.operationDay]).toEqual([
        version,
        deleted,
        operationDay,
      ]);
    }
  });

  it('keeps what the newest message said, in whatever order they run', () => {
    const text = (sequence: number, subtype: string, elements: string) =>
      `<MSG><META><SNDR>A</SNDR><SEQN>${String(sequence)}</SEQN><DTTM>20260314060000</DTTM><TYPE>FLOP</TYPE>` +
      `<STYP>${subtype}</STYP></META><FLOP><FLID>7</FLID>${elements}</FLOP></MSG>`;
    const schedule =
      '<MSG><META><SNDR>A</SNDR><SEQN>1</SEQN><DTTM>20260314060000</DTTM><TYPE>SCHD</TYPE><STYP>DNLD</STYP></META>' +
      '<SCHD><RECS>1</RECS><FLTR><FLID>7</FLID><FLNO>XX7</FLNO><MVIN>D</MVIN><SODT>14MAR260805</SODT></FLTR></SCHD></MSG>';
    const delay = (code: string) => `<DELY CODE="${code}" STRT="14MAR260805" DURA="0100">late</DELY>`;
    const messages = new Map([
      [1n, schedule],
      [2n, text(2, 'DELY', delay('81'))],
      [3n, text(3, 'REMC', '<REMC>first</REMC>')],
      [4n, text(4, 'DELY', '<DELY/>')],
      [5n, text(5, 'DELY', delay('93'))],
      [6n, text(6, 'REMC', '<REMC>second</REMC>')],
      [7n, text(7, 'FDEL', '<FDEL/>')],
    ]);
    const run = (...order: readonly bigint[]) => {
      const world = new World({ timeZone: 'Asia/Shanghai' });
      const changes = order.flatMap((id) => world.apply(id, messages.get(id) ?? '').changes);
      return {
        state: world.flights.get('7')?.state(),
        changes: changes.map(({ msgId, type }) => `${msgId} ${type}`),
      };
    };
    const inOrder = run(1n, 2n, 3n, 4n, 5n, 6n, 7n);
    expect(inOrder.state).toMatchObject({ remark: 'second', delays: [{ code: '93', minutes: 60 }] });
    expect(inOrder.changes).toHaveLength(7);
    const late = run(1n, 4n, 5n, 2n, 6n, 3n, 7n);
    expect(late.state).toEqual(inOrder.state);
    expect(late.changes).toEqual(['1 UPSERT', '5 UPSERT', '6 UPSERT', '7 TOMBSTONE']);
    // Older than the deletion: it is applied, and nobody is told.
    const afterDeletion = run(1n, 7n, 6n, 3n, 5n, 2n, 4n);
    expect(afterDeletion.state).toEqual(inOrder.state);
    expect(afterDeletion.changes).toEqual(['1 UPSERT', '7 TOMBSTONE']);
  });

  it('reads what is well-formed and nothing else', () => {
    expect(readXml('<?xml version="1.0"?>\n<A b="1 &amp; 2"><!-- c --><B/>t &lt;<B>x</B></A>\n')).toEqual({
      name: 'A',
      attributes: { b: '1 & 2' },
      text: 't <',
      children: [
        { name: 'B', attributes: {}, text: '', children: [] },
        { name: 'B', attributes: {}, text: 'x', children: [] },
      ],
    });
    for (const text of [
      '<A>',
      '<A></B>',
      '<A/><A/>',
      '<A>a & b</A>',
      'x<A/>',
      '<A',
      '',
      '<!DOCTYPE A><A/>',
    ]) {
      expect(readXml(text), text).toBeNull();
    }
  });
});
