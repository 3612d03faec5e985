import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skip } from '../../src/actions/skip.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { createPipeline, session, type TestPipeline } from '../kit/pipeline.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { until } from '../kit/until.ts';

describe.skipIf(postgresMissing !== null)('skip', () => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await createPipeline();
  });
  afterEach(async () => {
    await pipeline.close();
  });
  const ask = (msgId: bigint, dryRun = false) =>
    skip(
      pipeline.db.database,
      { msgId, dryRun },
      { who: 'cli:lin', reason: 'agreed with the sender', now: pipeline.clock.now() },
    );
  const states = async () =>
    (
      await pipeline.query<{ line: string }>(
        `select msg_id || ' ' || state || coalesce(' ' || reason, '') as line from proc_state order by msg_id`,
      )
    ).map(({ line }) => line);

  it('lets the line go on behind a head that fails, and the message owes its mark', async () => {
    await pipeline.send(xml('SCHS', 'DNLD', ''), schedule('810001'), gate('810001', 'A1'));
    await pipeline.round(['inbox', 'pump']);
    expect(await states()).toEqual(['1 FAILED', '2 PENDING', '3 PENDING']);
    expect(await ask(1n, true)).toEqual({
      outcome: 'planned',
      message: 'would skip message 1: FAILED after 1 attempt, unsupported:SCHS/DNLD',
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toEqual([]);
    expect(await ask(1n)).toMatchObject({ outcome: 'done' });
    // Before anything else has ended: the skipped one is the first, and owes what every ending owes.
    expect(
      await pipeline.query(
        `select backfill_next_at is not null as owed, next_attempt_at, error_class from proc_state where msg_id = 1`,
      ),
    ).toEqual([{ owed: true, next_attempt_at: null, error_class: null }]);
    await pipeline.round(['pump']);
    expect(await states()).toEqual([
      '1 SKIPPED operator:agreed with the sender',
      '2 SUCCEEDED',
      '3 SUCCEEDED',
    ]);
    await pipeline.drain();
    const marks = await pipeline.query(
      `select count(*)::integer as n from proc_state where backfill_at is not null`,
    );
    expect(marks).toEqual([{ n: 3 }]);
    expect((await pipeline.verify()).clean).toBe(true);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toMatchObject([
      {
        ...{ who: 'cli:lin', action: 'skip', target: 'message:1', reason: 'agreed with the sender' },
        before: {
          ...{ state: 'FAILED', attempts: 1, errorClass: 'UNSUPPORTED' },
          lastError: 'unsupported:SCHS/DNLD',
        },
        after: { state: 'SKIPPED', reason: 'operator:agreed with the sender' },
      },
    ]);
  });

  it('takes one behind the head, out of order, and leaves the head alone', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'), gate('810001', 'A2'));
    await pipeline.round(['inbox']);
    expect(await ask(3n)).toMatchObject({ outcome: 'done' });
    expect(await states()).toEqual(['1 PENDING', '2 PENDING', '3 SKIPPED operator:agreed with the sender']);
    await pipeline.drain();
    expect(await pipeline.query(`select state #>> '{gates,0,code}' as gate from flight_schd`)).toEqual([
      { gate: 'A1' },
    ]);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('refuses what has ended, what is not there, and the second of two', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'));
    await pipeline.round(['inbox']);
    const twice = await Promise.all([ask(2n), ask(2n), ask(2n)]);
    expect(twice.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    await pipeline.drain();
    expect(await ask(1n)).toEqual({ outcome: 'refused', message: 'message 1 has ended already: SUCCEEDED' });
    expect(await ask(77n)).toEqual({ outcome: 'refused', message: 'there is no message 77 in the queue' });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toHaveLength(1);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('waits for whoever is ending the message, and then leaves it', async () => {
    await pipeline.send(schedule('810001'));
    await pipeline.round(['inbox']);
    const pump = await session(pipeline.db.url);
    await pump.query('begin');
    await pump.query(`update proc_state set state = 'SUCCEEDED', terminal_at = now(), backfill_next_at = now(),
      terminal_seq = nextval('terminal_seq') where msg_id = 1`);
    const asked = ask(1n);
    await until('the skip to wait', async () => {
      const [row] = await pipeline.query<{ n: number }>(
        `select count(*)::integer as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return row?.n === 1 ? true : null;
    });
    await pump.query('commit');
    await pump.end();
    expect(await asked).toEqual({
      outcome: 'refused',
      message: 'message 1 has changed meanwhile: look again',
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toEqual([]);
  });
});
