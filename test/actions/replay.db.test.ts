import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay, type ReplayRequest } from '../../src/actions/replay.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { gate, schedule, xml } from '../kit/messages.ts';
import { createPipeline, TIME_ZONE, type TestPipeline } from '../kit/pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';

const EXHAUSTED: ReplayRequest['scope'] = { kind: 'class', errorClass: 'EXHAUSTED' };

describe.skipIf(postgresMissing !== null)('replay', () => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await createPipeline();
  });
  afterEach(async () => {
    await pipeline.close();
  });
  const ask = (scope: ReplayRequest['scope'], dryRun = false, pageSize?: number) =>
    replay(
      {
        ...{ database: pipeline.db.database, dialect: pipeline.dialect, timeZone: TIME_ZONE },
        ...{ operationDayCutoff: '00:00', includeDayBoundary: true, clockSkewMs: 30_000 },
      },
      { scope, dryRun },
      { who: 'cli:lin', reason: 'disk repaired', now: pipeline.clock.now() },
      pageSize,
    );
  const byId = (...msgIds: readonly bigint[]): ReplayRequest['scope'] => ({ kind: 'ids', msgIds });
  /** As if each had failed to its last attempt for a fault that is gone. */
  const exhaust = async (...ids: readonly number[]) => {
    await pipeline.query(
      `update proc_state set state = 'DEAD', error_class = 'EXHAUSTED', last_error = 'disk full', attempts = 5,
         terminal_at = $2, terminal_seq = nextval('terminal_seq'), backfill_next_at = $2
       where msg_id = any ($1::bigint[])`,
      [ids, new Date(pipeline.clock.now()).toISOString()],
    );
  };
  const states = async () =>
    (
      await pipeline.query<{ line: string }>(
        `select msg_id || ' ' || state || coalesce(' ' || reason, '') || case when replayed then ' replayed' else '' end
           as line from proc_state order by msg_id`,
      )
    ).map(({ line }) => line);

  it('puts back what would pass alone, keeps what is newer, and a second time does nothing', async () => {
    await pipeline.send(schedule('810001', '810002'));
    await pipeline.drain();
    await pipeline.send(
      gate('810001', 'A1'),
      gate('810002', 'B1'),
      xml('SCHS', 'DNLD', ''),
      gate('810001', 'A2'),
    );
    await pipeline.round(['inbox']);
    await exhaust(2, 3, 4);
    await pipeline.drain();
    expect(await ask(EXHAUSTED, true)).toMatchObject({
      outcome: 'planned',
      message:
        'would replay 2 of 3 messages; 1 with fields that newer messages have set since; ' +
        'left: message 4 would not pass: unsupported:SCHS/DNLD',
      messages: [
        { msgId: '2', becomes: 'SUCCEEDED superseded:gates', refused: null },
        { msgId: '3', becomes: 'SUCCEEDED', superseded: [], refused: null },
        { msgId: '4', becomes: null },
      ],
    });
    // More than a page holds: the same, page by page.
    expect(await ask(EXHAUSTED, true, 1)).toEqual(await ask(EXHAUSTED, true));
    expect(await states()).toEqual(['1 SUCCEEDED', '2 DEAD', '3 DEAD', '4 DEAD', '5 SUCCEEDED']);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 9)).toEqual([]);

    expect(await ask(EXHAUSTED)).toMatchObject({ outcome: 'done' });
    expect(await states()).toEqual([
      ...['1 SUCCEEDED', '2 PENDING replayed', '3 PENDING replayed', '4 DEAD', '5 SUCCEEDED'],
    ]);
    // While they wait nothing is broken either.
    expect((await pipeline.verify()).clean).toBe(true);
    await pipeline.drain();
    expect(await states()).toEqual([
      ...[
        '1 SUCCEEDED',
        '2 SUCCEEDED superseded:gates replayed',
        '3 SUCCEEDED replayed',
        '4 DEAD',
        '5 SUCCEEDED',
      ],
    ]);
    expect(
      await pipeline.query(`select state #>> '{gates,0,code}' as gate from flight_schd order by flid`),
    ).toEqual([{ gate: 'A2' }, { gate: 'B1' }]);
    expect((await pipeline.verify()).clean).toBe(true);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 9)).toMatchObject([
      { action: 'replay', target: 'message:3', reason: 'disk repaired', after: { superseded: [] } },
      {
        ...{ action: 'replay', target: 'message:2' },
        before: { state: 'DEAD', attempts: 5, errorClass: 'EXHAUSTED', lastError: 'disk full', reason: null },
        after: { state: 'PENDING', expected: 'SUCCEEDED superseded:gates', superseded: ['810001 gates'] },
      },
    ]);

    expect(await ask(EXHAUSTED)).toMatchObject({
      ...{ outcome: 'refused', message: 'message 4 would not pass: unsupported:SCHS/DNLD' },
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 9)).toHaveLength(2);
  });

  it('judges a schedule and the updates behind it together, also those that found no flight', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'), gate('810009', 'C1'));
    await pipeline.round(['inbox']);
    await exhaust(1);
    await pipeline.drain();
    expect(await states()).toEqual(['1 DEAD', '2 SKIPPED no-match:810001', '3 SKIPPED no-match:810009']);
    expect(await ask(byId(2n), true)).toMatchObject({
      ...{ outcome: 'refused', message: 'message 2 would not pass: no-match:810001' },
    });
    expect(await ask(byId(3n, 2n, 1n))).toMatchObject({
      outcome: 'done',
      messages: [
        { refused: null },
        { refused: null },
        { refused: 'message 3 would not pass: no-match:810009' },
      ],
    });
    await pipeline.drain();
    expect(await states()).toEqual([
      ...['1 SUCCEEDED replayed', '2 SUCCEEDED replayed', '3 SKIPPED no-match:810009'],
    ]);
    expect((await pipeline.verify()).clean).toBe(true);
  });

  it('keeps to the whitelist', async () => {
    await pipeline.send(
      schedule('810001'),
      xml('FLOP', 'GTDT', ''),
      schedule('810002', '810002'),
      xml('LDM', 'NONE', ''),
      gate('810001', 'A1'),
    );
    await pipeline.drain();
    await pipeline.send(gate('810001', 'A2'));
    await pipeline.round(['inbox']);
    expect((await states()).map((line) => line.replace(/:.*/, ''))).toEqual([
      ...['1 SUCCEEDED', '2 DEAD', '3 DEAD', '4 SKIPPED ignored', '5 SUCCEEDED', '6 PENDING'],
    ]);
    const { outcome, messages } = await ask(byId(1n, 2n, 3n, 4n, 6n, 99n));
    expect(outcome).toBe('refused');
    expect(messages.map(({ refused }) => refused)).toEqual([
      'message 1 has SUCCEEDED',
      'message 2 is MALFORMED under the profile in use: correct the profile first',
      'message 3 is DEAD(PROTOCOL), which is not replayed',
      'message 4 is SKIPPED, ignored:LDM/NONE: only no-match is replayed',
      'message 6 waits for its turn already',
      'there is no message 99',
    ]);
    // Judged by another profile: tried, and left because it would not pass under this one either.
    await pipeline.query(`update proc_state set profile_hash = 'older' where msg_id = 2`);
    expect(await ask({ kind: 'class', errorClass: 'MALFORMED' })).toMatchObject({
      outcome: 'refused',
      messages: [{ msgId: '2', refused: 'message 2 would not pass: payload-missing:FLOP' }],
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 9)).toEqual([]);
  });

  it('is no duplicate of itself, but of what has taken its identity; settled marks stay settled', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'));
    await pipeline.drain();
    // Both were bound, and marked, before they died; the identity of the second has another owner.
    await exhaust(1, 2);
    await pipeline.query(`update proc_state set backfill_next_at = null`);
    await pipeline.query('delete from msg_event');
    await pipeline.query('delete from flight_message');
    await pipeline.query('delete from flight_schd');
    await pipeline.query('update message_identity set msg_id = 777 where msg_id = 2');
    expect(await ask(EXHAUSTED)).toMatchObject({
      outcome: 'done',
      messages: [{ refused: null }, { refused: 'message 2 would not pass: duplicate-of:777' }],
    });
    await pipeline.round(['pump']);
    expect((await states())[0]).toBe('1 SUCCEEDED replayed');
    expect(
      await pipeline.query(
        `select backfill_next_at, backfill_at is not null as marked from proc_state where msg_id = 1`,
      ),
    ).toEqual([{ backfill_next_at: null, marked: true }]);
  });

  it('of several at once puts each message back once', async () => {
    await pipeline.send(schedule('810001'), ...Array.from({ length: 120 }, () => gate('810001', 'A1')));
    await pipeline.round(['inbox']);
    await exhaust(...Array.from({ length: 120 }, (_, index) => index + 2));
    await pipeline.round(['pump']);
    const outcomes = await Promise.all([ask(EXHAUSTED), ask(EXHAUSTED), ask(EXHAUSTED)]);
    const put = outcomes.flatMap(({ messages }) => messages.filter(({ refused }) => refused === null));
    expect(put).toHaveLength(120);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 500)).toHaveLength(120);
    await pipeline.drain();
    expect((await states()).filter((line) => line.includes('SUCCEEDED'))).toHaveLength(121);
    expect((await pipeline.verify()).clean).toBe(true);
  });
});
