/** Reference data in bulk, through `msgx run` as a process: what it holds, and loads that change nothing. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { startMsgx, type MsgxProcess } from '../kit/msgx-process.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { preparePipeline } from '../kit/service-pipeline.ts';
import { expectClean } from './checks.ts';
import { REFERENCE_TYPES, referencePackage } from './reference-packages.ts';

const ROWS_OF_TYPE = 5_000;
const MOST_MIB = 300;

/** Most memory that a process has held so far, MiB. */
async function peakMemory({ pid }: MsgxProcess): Promise<number> {
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

describe.skipIf(postgresMissing !== null)('reference data in bulk', () => {
  it('loads 100,000 rows of all types within 300 MB; the same again changes nothing', async (test) => {
    const pipeline = await preparePipeline(test);
    const msgx = await startMsgx(test, pipeline);
    await msgx.active();
    let sequence = 0;
    const load = async () => {
      for (const rtype of REFERENCE_TYPES) {
        sequence += 1;
        await pipeline.mailbox.insertAll([referencePackage({ sequence, rtype, count: ROWS_OF_TYPE })]);
      }
      await pipeline.drained(120_000);
    };
    const counted = async () =>
      pipeline.rows<{ rows: number; newest: string; past: number }>(
        `select count(*)::int as rows, max(xmin::text::bigint)::text as newest,
           (select count(*)::int from ref_history) as past from ref_master where active`,
      );
    const outcomes = async () =>
      pipeline.rows('select state, reason, count(*)::int from proc_state group by 1, 2 order by 3, 2');

    await load();
    const [loaded] = await counted();
    expect(loaded).toMatchObject({ rows: 100_000, past: 0 });
    await load();
    expect(await counted()).toEqual([loaded]);
    expect(await outcomes()).toEqual([
      { state: 'SUCCEEDED', reason: 'unchanged', count: REFERENCE_TYPES.length },
      { state: 'SUCCEEDED', reason: null, count: REFERENCE_TYPES.length },
    ]);
    expect(await peakMemory(msgx)).toBeLessThan(MOST_MIB);
    await expectClean(pipeline);
  }, 300_000);

  it('takes 100,000 rows in one message, changes half of them and says what they were', async (test) => {
    const pipeline = await preparePipeline(test);
    const msgx = await startMsgx(test, pipeline);
    await msgx.active();
    const load = async (sequence: number, word: (number: number) => string) => {
      const text = referencePackage({ sequence, rtype: 'STTS', count: 100_000, word, brief: true });
      expect(Buffer.byteLength(text)).toBeLessThan(8 << 20);
      await pipeline.mailbox.insertAll([text]);
      await pipeline.drained(120_000);
    };
    await load(1, () => 'old');
    await load(2, (number) => (number % 2 === 0 ? 'new' : 'old'));
    expect(
      await pipeline.rows(
        `select (select count(*)::int from ref_master where active) as active,
           (select count(*)::int from ref_master where body ->> 'DESC' = 'new') as changed,
           (select count(*)::int from ref_history where body ->> 'DESC' = 'old' and msg_id = 2) as past`,
      ),
    ).toEqual([{ active: 100_000, changed: 50_000, past: 50_000 }]);
    expect(await peakMemory(msgx)).toBeLessThan(MOST_MIB);
  }, 300_000);
});
