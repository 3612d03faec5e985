import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settleMarks, type MarkRequest } from '../../src/actions/marks.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { abandonedCsv } from '../../src/service/mark-json.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { selectAbandoned } from '../../src/store/owed-mark.ts';
import { gate, schedule } from '../kit/messages.ts';
import { createPipeline, type TestPipeline } from '../kit/pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';

const ALL = { after: -1n, confirmed: true, limit: 10 };

async function csvOf({ db }: TestPipeline): Promise<string> {
  let text = '';
  for await (const part of abandonedCsv(db.database, true)) text += part;
  return text;
}

describe.skipIf(postgresMissing !== null)('abandoned marks', () => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await createPipeline();
    await pipeline.send(schedule('810001'), gate('810001', 'A1'), gate('810001', 'A2'));
    await pipeline.drain(['inbox', 'pump', 'delivery']);
    // The owner has deleted two rows before they were marked.
    await pipeline.query('create table public.kept as select * from cminmsgs where cminmsgs_id in (2, 3)');
    await pipeline.query('delete from cminmsgs where cminmsgs_id in (2, 3)');
    await pipeline.drain();
  });
  afterEach(async () => {
    await pipeline.close();
  });
  const ask = (change: MarkRequest['change'], msgIds: MarkRequest['msgIds'], dryRun = false) =>
    settleMarks(
      pipeline.db.database,
      { change, msgIds, dryRun },
      { who: 'cli:lin', reason: 'agreed', now: pipeline.clock.now() },
    );

  it('are owed again when they are reopened, and marked where the row is back', async () => {
    expect(await ask('reopen', [2n, 3n], true)).toMatchObject({
      ...{ outcome: 'planned', message: 'would reopen 2 of 2 marks', changed: ['2', '3'] },
    });
    expect(await ask('reopen', 'all', true)).toEqual(await ask('reopen', [2n, 3n], true));
    await pipeline.query('insert into cminmsgs select * from public.kept where cminmsgs_id = 2');
    expect(await ask('reopen', [3n, 2n])).toMatchObject({ outcome: 'done', changed: ['2', '3'] });
    expect(await selectAbandoned(pipeline.db.database, ALL)).toEqual([]);
    await pipeline.drain();
    // The other one is still missing, and is given up once more.
    expect((await selectAbandoned(pipeline.db.database, ALL)).map(({ msgId }) => msgId)).toEqual([3n]);
    const marks = await pipeline.query(
      'select cminmsgs_id as id from cminmsgs where cminmsgs_date_processed is null',
    );
    expect(marks).toEqual([]);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toMatchObject([
      { action: 'reopen', target: 'message:3', reason: 'agreed' },
      {
        ...{ action: 'reopen', target: 'message:2' },
        ...{ before: { mark: 'abandoned', because: 'MISSING_ROW', attempts: 1 }, after: { mark: 'owed' } },
      },
    ]);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('are settled when they are confirmed: not marked, not reopened, not confirmed twice', async () => {
    const outcomes = await Promise.all([ask('confirm', [2n]), ask('reopen', [2n]), ask('confirm', [2n])]);
    // One of them is first; where it is the reopening, there is nothing left to confirm.
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    await ask('confirm', [3n]);
    expect(await ask('confirm', [3n, 1n, 99n])).toMatchObject({
      outcome: 'refused',
      refused: [
        { msgId: '1', why: 'the mark of message 1 is not abandoned' },
        { msgId: '3', why: 'the mark of message 3 was confirmed by cli:lin already' },
        { msgId: '99', why: 'there is no message 99' },
      ],
    });
    expect(await ask('reopen', [3n])).toMatchObject({ outcome: 'refused' });
    expect(
      await pipeline.query(
        `select backfill_at, backfill_confirmed_by as by from proc_state where msg_id = 3`,
      ),
    ).toEqual([{ backfill_at: null, by: 'cli:lin' }]);
    const audits = await selectAudit(pipeline.db.database, MAX_ID, 5);
    expect(audits.map(({ target }) => target)).toEqual(['message:3', 'message:2']);
    await pipeline.drain();
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('are listed for the owner as CSV that no spreadsheet misreads', async () => {
    await pipeline.query(`update proc_state set styp = '=A,"1"' where msg_id = 3`);
    const text = await csvOf(pipeline);
    const [head, ...lines] = text.split('\r\n');
    expect(head).toMatch(/^CMINMSGS_ID,TYPE,/);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /^2,FLOP,GTDT,[^,]*,2026-03-14T[^,]*Z,SUCCEEDED,2026-03-14T[^,]*Z,MISSING_ROW,,$/,
    );
    expect(lines[1]).toMatch(/^3,FLOP,"'=A,""1""",/);
  });

  it('are listed to the last, however many pages they are', async () => {
    await pipeline.query(
      `insert into proc_state (msg_id, enqueued_at, state, terminal_at, terminal_seq, backfill_abandoned_at,
         backfill_abandoned_reason)
       select 100 + n, now(), 'SKIPPED', now(), nextval('terminal_seq'), now(), 'MISSING_ROW' from generate_series(1, 2000) n`,
    );
    const text = await csvOf(pipeline);
    const ids = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0]);
    expect(ids).toHaveLength(2_002);
    expect(new Set(ids).size).toBe(2_002);
    expect(ids.at(-1)).toBe('2100');
  });
});
