import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT } from '../../../src/runtime/log.ts';
import { createMetrics } from '../../../src/runtime/metrics.ts';
import { LostLease } from '../../../src/runtime/outage.ts';
import { ARCHIVED_COLUMNS } from '../../../src/store/message-archive.ts';
import { JOBS } from '../../../src/upkeep/jobs/job.ts';
import { Upkeep } from '../../../src/upkeep/jobs/upkeep.ts';
import type { VerifyReport } from '../../../src/upkeep/verify/index.ts';
import { deletion, gate, schedule } from '../../kit/messages.ts';
import { createPipeline, TIME_ZONE, type TestPipeline } from '../../kit/pipeline.ts';
import { postgresMissing } from '../../kit/postgres.ts';

const DAY = 86_400_000;
const RETENTION = {
  flightsMs: 30 * DAY,
  procStateMs: 90 * DAY,
  rawMs: 30 * DAY,
  eventsMs: 7 * DAY,
  snapLogMs: 30 * DAY,
};

function answers(report: VerifyReport): { broken: string[]; notCheckable: number[] } {
  return {
    broken: report.findings.filter((f) => f.answer === 'broken').flatMap((f) => f.notes),
    notCheckable: report.findings.filter((f) => f.answer === 'not-checkable').map((f) => f.invariant),
  };
}

describe.skipIf(postgresMissing !== null)('upkeep jobs', () => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await createPipeline();
  });
  afterEach(() => pipeline.close());

  const create = (fence: { epoch: bigint } | null = null) =>
    new Upkeep({
      ...{
        database: pipeline.db.database,
        fence,
        clock: pipeline.clock,
        log: SILENT,
        metrics: createMetrics(),
      },
      ...{ timeZone: TIME_ZONE, operationDayCutoff: '00:00', publication: { vipPersons: false } },
      retention: RETENTION,
    });
  /** Rounds until nothing is due. */
  const upkeep = async (jobs = create()) => {
    for (let turn = 0; turn < 100; turn++) {
      const round = await jobs.round();
      if (round.next === 'wait' && (round.until ?? 0) - pipeline.clock.now() > 10_000) return;
      if (round.next === 'wait' && round.until !== null)
        pipeline.clock.advance(Math.max(0, Math.ceil(round.until - pipeline.clock.now())));
    }
    throw new Error('upkeep does not come to an end');
  };
  const count = async (what: string) =>
    (await pipeline.query<{ n: number }>(`select count(*)::integer as n from ${what}`))[0]?.n ?? -1;

  it('archives flights and messages, deletes what is old, and leaves verify clean', async () => {
    const first = schedule('810001', '810002');
    await pipeline.send(first, gate('810001', 'A1'), schedule('810003'));
    await pipeline.drain();
    await pipeline.send(deletion('810003'));
    await pipeline.drain();
    await upkeep();
    expect([await count('proc_state_hst'), await count('flight_schd_hst')]).toEqual([0, 0]);

    pipeline.clock.advance(40 * DAY);
    await pipeline.send(schedule('820001'));
    await pipeline.drain();
    await upkeep();
    await pipeline.drain();
    expect(await pipeline.query(`select flid, version, deleted from flight_schd_hst order by 1`)).toEqual([
      { flid: '810001', version: 3, deleted: true },
      { flid: '810002', version: 2, deleted: true },
      { flid: '810003', version: 2, deleted: true },
    ]);
    expect(await pipeline.query('select flid from flight_schd')).toEqual([{ flid: '820001' }]);
    // The deletion is told to both targets, once, by nobody's message.
    const told = await pipeline.query(
      `select target, partition_key as flid, event_type as type, state_version as version, state, msg_id as "msgId",
         body -> 'cause' as cause, body -> 'flight' as flight, body -> 'changed' as changed
       from msg_event where partition_key in ('810001', '810003') order by 1, 2`,
    );
    const fact = { type: 'TOMBSTONE', state: 'SENT', msgId: null };
    expect(told).toEqual([
      {
        ...fact,
        target: 'KAFKA:msg',
        flid: '810001',
        version: 3,
        cause: null,
        flight: null,
        changed: ['deleted'],
      },
      { ...fact, target: 'KAFKA:schd', flid: '810001', version: 3, cause: null, flight: null, changed: null },
    ]);
    // Texts, traces and events of before have gone; the messages are kept for 90 days.
    expect(await count('proc_state')).toBe(5);
    expect(await pipeline.query('select msg_id from raw_message')).toEqual([{ msg_id: '5' }]);
    expect(await count('schd_snap_log')).toBe(1);
    expect(answers(await pipeline.verify())).toEqual({ broken: [], notCheckable: [7] });

    pipeline.clock.advance(60 * DAY);
    await upkeep();
    expect([await count('proc_state'), await count('proc_state_hst')]).toEqual([1, 4]);
    expect(answers(await pipeline.verify()).broken).toEqual([]);

    // A duplicate of an archived message is known, and an archived flight goes on.
    const [duplicate] = await pipeline.send(first);
    await pipeline.send(schedule('810001'));
    await pipeline.drain();
    expect(
      await pipeline.query('select state, reason from proc_state where msg_id = $1', [String(duplicate)]),
    ).toEqual([{ state: 'SKIPPED', reason: 'duplicate-of:1' }]);
    expect(
      await pipeline.query(`select version, deleted, state -> 'gates' -> 0 ->> 'code' as gate
        from flight_schd where flid = '810001'`),
    ).toEqual([{ version: 4, deleted: false, gate: 'A1' }]);
    expect(await count(`flight_schd_hst where flid = '810001'`)).toBe(0);
    expect(answers(await pipeline.verify()).broken).toEqual([]);
  });

  it('keeps flights with an open event, and marks that are owed or wait for a human', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'), gate('810001', 'A2'));
    await pipeline.drain(['inbox', 'pump']);
    await pipeline.query(`update proc_state set backfill_next_at = null, backfill_abandoned_at = now(),
      backfill_abandoned_reason = 'MISSING_ROW' where msg_id = 2`);
    pipeline.clock.advance(100 * DAY);
    await upkeep();
    expect([await count('flight_schd'), await count('proc_state'), await count('raw_message')]).toEqual([
      1, 3, 0,
    ]);
    await pipeline.query(
      `update proc_state set backfill_confirmed_at = now(), backfill_confirmed_by = 'o' where msg_id = 2`,
    );
    await pipeline.drain();
    pipeline.clock.advance(DAY);
    await upkeep();
    expect([await count('flight_schd'), await count('proc_state')]).toEqual([0, 0]);
    expect(await count('proc_state_hst')).toBe(3);
  });

  it('keeps texts of messages that have not ended, and events that are pending, dead or dropped', async () => {
    await pipeline.send(schedule('810001'), ...['A1', 'A2', 'A3'].map((code) => gate('810001', code)));
    await pipeline.drain();
    await pipeline.query(`update msg_event set state = case state_version when 1 then 'DEAD' else 'DROPPED' end
      where target = 'KAFKA:msg' and state_version in (1, 3)`);
    await pipeline.query(`insert into op_audit (at, who, action, target, reason)
      select now(), 'o', 'drop', 'event:' || event_id, 'r' from msg_event where state = 'DROPPED'`);
    pipeline.clock.advance(10 * DAY);
    await pipeline.send(gate('810001', 'A4'));
    await pipeline.drain(['inbox', 'pump']);
    await upkeep();
    const left = () =>
      pipeline.query(
        `select state_version as version, state from msg_event where target = 'KAFKA:msg' order by event_id`,
      );
    expect(await left()).toEqual([
      { version: 1, state: 'DEAD' },
      { version: 3, state: 'DROPPED' },
      { version: 5, state: 'PENDING' },
    ]);
    expect(answers(await pipeline.verify()).broken).toEqual([]);
    await pipeline.send(gate('810001', 'A5'));
    await pipeline.round(['inbox']);
    pipeline.clock.advance(100 * DAY);
    // The line is behind: upkeep waits for it.
    const jobs = create();
    await expect(jobs.round()).resolves.toMatchObject({ next: 'wait' });
    expect(await count('raw_message')).toBe(6);
    await pipeline.query(`update proc_state set state = 'FAILED', attempts = 1, error_class = 'INFRA',
      next_attempt_at = '2099-01-01' where msg_id = 6`);
    await upkeep(jobs);
    expect(await pipeline.query('select msg_id from raw_message')).toEqual([{ msg_id: '6' }]);
  });

  it('a gap above the front is broken all the same', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'), gate('810001', 'A2'));
    await pipeline.drain();
    await pipeline.query(`delete from msg_event where target = 'KAFKA:msg' and state_version = 2`);
    expect(answers(await pipeline.verify()).broken.join()).toMatch(/version 3 after 1/);
  });

  it('a flight that a late message takes out of the archive keeps the deletion that was told', async () => {
    const [early] = await pipeline.send(gate('810001', 'A1'));
    await pipeline.send(schedule('810001'));
    await pipeline.drain();
    pipeline.clock.advance(40 * DAY);
    await upkeep();
    await pipeline.query(
      `update proc_state set state = 'PENDING', reason = null, terminal_at = null, terminal_seq = null, replayed = true
       where msg_id = $1`,
      [String(early)],
    );
    await pipeline.query(`insert into op_audit (at, who, action, target, reason)
      values (now(), 'o', 'replay', 'message:1', 'r')`);
    await pipeline.drain();
    expect(await pipeline.query('select version, deleted from flight_schd')).toEqual([
      { version: 2, deleted: true },
    ]);
    expect(answers(await pipeline.verify()).broken).toEqual([]);
  });

  it('a job that fails says so, is tried again later, and keeps no other from its work', async () => {
    await pipeline.send(schedule('810001'));
    await pipeline.drain();
    pipeline.clock.advance(100 * DAY);
    await pipeline.query(`insert into proc_state_hst select *, now() from proc_state`);
    const jobs = create();
    await upkeep(jobs);
    expect(await pipeline.query(`select job, failures, error from upkeep_job where failures > 0`)).toEqual([
      { job: 'messages', failures: 1, error: expect.stringMatching(/duplicate key/) as string },
    ]);
    expect([await count('proc_state'), await count('flight_schd'), await count('raw_message')]).toEqual([
      1, 0, 0,
    ]);
    await pipeline.query('delete from proc_state_hst');
    pipeline.clock.advance(60_000);
    await upkeep(jobs);
    expect(await count('proc_state_hst')).toBe(1);
    expect(await count('upkeep_job where failures > 0')).toBe(0);
    // What a later start knows: nothing is due before the hour.
    const [row] = await pipeline.query<{ next: string }>(
      `select min(next_at)::text as next from upkeep_job where next_at > '${new Date(pipeline.clock.now()).toISOString()}'`,
    );
    expect(row?.next).toMatch(/:00:00\+00$/);
  });

  it('writes nothing without the lease, and tells the pump that flights have gone', async () => {
    await pipeline.send(schedule('810001'));
    await pipeline.drain();
    pipeline.clock.advance(100 * DAY);
    await expect(create({ epoch: 99n }).round()).rejects.toThrow(LostLease);
    expect(await count('flight_schd')).toBe(1);
    const generation = async () => (await pipeline.query('select generation from pipeline_lock'))[0];
    const before = await generation();
    await upkeep();
    expect(await generation()).not.toEqual(before);
  });

  it('stops in the middle of a run where the lease is taken over', async () => {
    await pipeline.send(schedule('810001'), gate('810001', 'A1'));
    await pipeline.drain();
    pipeline.clock.advance(100 * DAY);
    const { database } = pipeline.db;
    const facts = async () =>
      Promise.all(
        ['flight_schd', 'proc_state', 'raw_message', 'msg_event', 'schd_snap_log'].map((table) =>
          count(table),
        ),
      );
    const before = await facts();
    expect(before.every((rows) => rows > 0)).toBe(true);
    const transaction = database.transaction.bind(database);
    for (const job of JOBS) {
      await pipeline.query('delete from upkeep_job');
      await pipeline.query(`insert into upkeep_job (job, next_at) select unnest($1::text[]), '2099-01-01'`, [
        JOBS.filter((other) => other !== job),
      ]);
      const [lease] = await pipeline.query<{ epoch: string }>('select epoch from lease');
      let begun = false;
      database.transaction = async (work, options) => {
        const result = await transaction(work, options);
        // Behind the first one, which says that the run has begun.
        if (!begun) await pipeline.query('update lease set epoch = epoch + 1');
        begun = true;
        return result;
      };
      try {
        await expect(create({ epoch: BigInt(lease?.epoch ?? '') }).round(), job).rejects.toThrow(LostLease);
      } finally {
        database.transaction = transaction;
      }
      expect(begun, job).toBe(true);
      expect(await facts(), job).toEqual(before);
    }
  });

  it('names every column of both tables', async () => {
    const named = ARCHIVED_COLUMNS.split(',')
      .map((column) => column.trim())
      .sort();
    for (const [table, extra] of [
      ['proc_state', []],
      ['proc_state_hst', ['archived_at']],
    ] as const) {
      const rows = await pipeline.query<{ name: string }>(
        `select column_name as name from information_schema.columns
         where table_schema = 'msgx' and table_name = $1`,
        [table],
      );
      expect(rows.map(({ name }) => name).sort()).toEqual([...named, ...extra].sort());
    }
  });
});
