import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { refreshGauges } from '../../src/service/gauges.ts';
import { StatusReader } from '../../src/service/status.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { databaseNow } from '../../src/store/lease.ts';
import { withMethods } from '../inbox/kit.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type TestPipeline } from '../kit/service-pipeline.ts';

describe.skipIf(postgresMissing !== null)('status', () => {
  let pipeline: TestPipeline;
  let now: number;

  beforeEach(async () => {
    // Nothing runs here: every fact is put there.
    pipeline = await createPipeline();
    now = await databaseNow(pipeline.database);
  });
  afterEach(() => pipeline.close());

  const ago = (seconds: number) => toTimestamp(now - seconds * 1_000);
  const reader = () => new StatusReader(pipeline.config, pipeline.database, pipeline.mailbox, null);
  const insert = (id: number, columns: Record<string, unknown>) => {
    const all = { msg_id: id, enqueued_at: ago(90), type: 'FLOP', styp: 'GTDT', ...columns };
    return pipeline.rows(
      `insert into proc_state (${Object.keys(all).join(', ')})
       values (${Object.keys(all)
         .map((_, index) => `$${index + 1}`)
         .join(', ')})`,
      Object.values(all),
    );
  };

  it('of an empty pipeline that nobody runs', async () => {
    expect(await reader().read()).toMatchObject({
      airport: 'HGH',
      timeZone: 'Asia/Shanghai',
      role: 'none',
      shadow: false,
      inbox: {
        watermark: '0',
        seed: '0',
        seeded: false,
        highest: null,
        lag: 0,
        holes: [],
        permanentHoles: 0,
      },
      head: null,
      counts: {
        byState: { PENDING: 0, FAILED: 0, SUCCEEDED: 0, SKIPPED: 0, DEAD: 0 },
        byClass: {},
        deadSchedules: 0,
      },
      outbox: [
        { target: 'KAFKA:msg', pending: 0, oldestSeconds: 0, dead: 0 },
        { target: 'KAFKA:schd', pending: 0, oldestSeconds: 0, dead: 0 },
      ],
      backfill: { owed: 0, abandoned: { MISSING_ROW: 0, TRANSIENT_DEADLINE: 0 } },
      requests: {
        byState: { PENDING: 0, SENT: 0, DONE: 0, EXPIRED: 0 },
        reports: { waiting: 0, sent: 0 },
      },
      last: { enqueuedAt: null, processedAt: null, sentAt: null, markedAt: null },
    });
    const { stations } = await reader().read();
    expect(stations.map(({ name, state, reason }) => [name, state, reason])).toEqual(
      ['inbox', 'pump', 'delivery', 'backfill', 'requests'].map((name) => [
        name,
        'stopped',
        'no instance is running',
      ]),
    );
  });

  it('says why the head of line waits', async () => {
    await insert(5, {});
    const why = async () => (await reader().read()).head?.why;
    expect(await why()).toBe('it is above the watermark 0: smaller IDs have not been read in yet');
    await pipeline.rows('update inbox_cursor set watermark = 5');
    expect(await why()).toBe('it is next');
    await pipeline.rows(
      `update proc_state set state = 'FAILED', attempts = 2, error_class = 'CODEC_ERROR', last_error = 'unknown-value:MVIN',
         next_attempt_at = now() + interval '30 s'`,
    );
    expect(await why()).toMatch(/^attempt 2 failed \(unknown-value:MVIN\); next in (29|30) s$/);
    await pipeline.rows(`insert into station_pause values ('pump', 'ann', 'inventory', now())`);
    expect(await why()).toBe('the pump is paused by ann: inventory');
    expect((await reader().read()).head).toMatchObject({
      msgId: '5',
      state: 'FAILED',
      attempts: 2,
      maxAttempts: 5,
    });
    expect((await reader().read()).stations[1]).toMatchObject({ name: 'pump', state: 'paused', by: 'ann' });
  });

  it('tells a hole that waits from one that a writer holds', async () => {
    await pipeline.mailboxSide.insertAt(9n, '<MSG/>');
    await pipeline.rows(`update inbox_cursor set watermark = 2, seeded_at = $1, hole_since = $1`, [ago(100)]);
    await pipeline.rows(
      `insert into inbox_hole (from_id, to_id, first_seen_at) values (3, 5, $1), (7, 7, now() + interval '1 hour')`,
      [ago(100)],
    );
    await pipeline.rows(
      `insert into inbox_hole (from_id, to_id, first_seen_at, released_at, found_at, past) values
         (100, 103, $1, $1, null, false), (110, 110, $1, $1, $1, false), (120, 120, $1, $1, null, true)`,
      [ago(100)],
    );
    const { inbox } = await reader().read();
    expect(inbox).toMatchObject({ watermark: '2', highest: '9', lag: 7, permanentHoles: 4, lateArrivals: 1 });
    expect(inbox.holes).toMatchObject([
      { from: '3', to: '5', ids: '3', held: true },
      { from: '7', to: '7', ids: '1', held: false },
    ]);
  });

  it('counts messages, dead schedules, events and marks; gauges say the same', async () => {
    const end = { terminal_at: ago(60), terminal_seq: 1 };
    await insert(1, { ...end, state: 'SUCCEEDED', backfill_at: ago(50) });
    await insert(2, { ...end, state: 'SKIPPED', backfill_next_at: ago(60) });
    await insert(3, {
      ...end,
      state: 'DEAD',
      error_class: 'PROTOCOL',
      type: 'SCHD',
      backfill_abandoned_at: ago(1),
      backfill_abandoned_reason: 'MISSING_ROW',
    });
    await insert(4, { ...end, state: 'DEAD', error_class: 'MALFORMED', backfill_next_at: ago(60) });
    await insert(5, { state: 'FAILED', attempts: 1, error_class: 'INFRA', last_error: 'x' });
    await insert(6, {});
    await pipeline.rows('update inbox_cursor set watermark = 6');
    await pipeline.rows(
      `insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, created_at, body) values
         ('KAFKA:msg', 'a', 'UPSERT', 1, 'SENT', $1, $1, '{}'), ('KAFKA:msg', 'a', 'UPSERT', 2, 'PENDING', null, $2, '{}'),
         ('KAFKA:msg', 'b', 'UPSERT', 1, 'DEAD', null, $2, '{}'), ('KAFKA:schd', 'a', 'UPSERT', 2, 'PENDING', null, $2, null)`,
      [ago(40), ago(30)],
    );
    const status = await reader().read();
    expect(status.counts).toEqual({
      byState: { PENDING: 1, FAILED: 1, SUCCEEDED: 1, SKIPPED: 1, DEAD: 2 },
      byClass: { PROTOCOL: 1, MALFORMED: 1 },
      deadSchedules: 1,
    });
    expect(status.outbox).toMatchObject([
      { target: 'KAFKA:msg', pending: 1, dead: 1 },
      { target: 'KAFKA:schd', pending: 1, dead: 0 },
    ]);
    for (const { oldestSeconds } of status.outbox) expect(Math.round(oldestSeconds / 10)).toBe(3);
    expect(status.backfill).toMatchObject({ owed: 2, abandoned: { MISSING_ROW: 1, TRANSIENT_DEADLINE: 0 } });
    expect(status.last).toEqual({
      enqueuedAt: ago(90),
      processedAt: ago(60),
      sentAt: ago(40),
      markedAt: ago(50),
    });

    const metrics = createMetrics();
    const times = { now: now + 10_000, lastAckAt: now, mailboxReadAt: null };
    await refreshGauges(metrics, reader(), times);
    const values = async (name: string) =>
      (await metrics.registry.getSingleMetric(name)!.get()).values.map(({ labels, value }) => [
        ...Object.values(labels),
        Math.round(value),
      ]);
    expect((await values('msgx_dead_messages')).sort()).toEqual([
      ['EXHAUSTED', 0],
      ['MALFORMED', 1],
      ['PROTOCOL', 1],
    ]);
    expect(await values('msgx_dead_schedules')).toEqual([[1]]);
    expect(await values('msgx_dead_events')).toEqual([[1]]);
    expect(await values('msgx_outbox_pending')).toEqual([
      ['KAFKA:msg', 1],
      ['KAFKA:schd', 1],
    ]);
    expect(await values('msgx_backfill_owed')).toEqual([[2]]);
    expect(await values('msgx_backfill_abandoned')).toEqual([
      ['MISSING_ROW', 1],
      ['TRANSIENT_DEADLINE', 0],
    ]);
    expect(await values('msgx_pipeline_backlog_oldest_unprocessed_seconds')).toEqual([[100]]);
    expect(await values('msgx_head_blocked_seconds')).toEqual([[100]]);
    expect(await values('msgx_last_message_age_seconds')).toEqual([[100]]);
    expect(await values('msgx_ack_age_seconds')).toEqual([[10]]);
    expect(await values('msgx_watermark')).toEqual([[6]]);
    // A class that nobody is in any more is at zero, and an outage leaves everything but the ages as it was.
    await pipeline.rows(`update proc_state set error_class = 'EXHAUSTED' where state = 'DEAD'`);
    await refreshGauges(metrics, reader(), times);
    expect((await values('msgx_dead_messages')).sort()).toEqual([
      ['EXHAUSTED', 2],
      ['MALFORMED', 0],
      ['PROTOCOL', 0],
    ]);
    const away = {
      read: () => Promise.reject(new Outage('database', new Error('gone'))),
    } as unknown as StatusReader;
    await refreshGauges(metrics, away, { ...times, now: now + 25_000 });
    expect((await values('msgx_dead_messages')).sort()).toEqual([
      ['EXHAUSTED', 2],
      ['MALFORMED', 0],
      ['PROTOCOL', 0],
    ]);
    expect(await values('msgx_ack_age_seconds')).toEqual([[25]]);
  });

  it('tells how the upkeep jobs stand, and gauges say since when', async () => {
    await pipeline.rows(
      `insert into upkeep_job (job, next_at, started_at, ended_at, rows_run, rows_total, failures, error) values
         ('flights', $1, $2, null, 7, 7, 0, null), ('messages', $3, $2, $1, 0, 12, 3, 'a trigger that is not ours'),
         ('texts', $4, $1, $2, 5, 50, 0, null)`,
      [ago(120), ago(60), ago(-30), ago(-600)],
    );
    const { jobs } = await reader().read();
    expect(
      jobs.map(({ job, state, rows, rowsTotal, failures }) => [job, state, rows, rowsTotal, failures]),
    ).toEqual([
      ['flights', 'running', 7, 7, 0],
      ['messages', 'failing', 0, 12, 3],
      ['texts', 'waiting', 5, 50, 0],
      ['events', 'due', 0, 0, 0],
      ['snap-log', 'due', 0, 0, 0],
      ['requests', 'due', 0, 0, 0],
    ]);
    expect(jobs.map(({ nextAt }) => nextAt)).toEqual([null, ago(-30), ago(-600), null, null, null]);
    expect(jobs[1]?.error).toBe('a trigger that is not ours');
    const metrics = createMetrics();
    await refreshGauges(metrics, reader(), { now, lastAckAt: null, mailboxReadAt: null });
    const values = async (name: string) =>
      (await metrics.registry.getSingleMetric(name)!.get()).values.map(({ value }) => Math.round(value));
    expect(await values('msgx_job_failures')).toEqual([0, 3, 0, 0, 0, 0]);
    // Since the end; of a first run since its beginning.
    expect(await values('msgx_job_age_seconds')).toEqual([60, 120, 60, 0, 0, 0]);
  });

  it('goes without the mailbox', async () => {
    const mailbox = withMethods(pipeline.mailbox, {
      bounds: () => Promise.reject(new Outage('mailbox', new Error('gone'))),
    });
    const status = await new StatusReader(pipeline.config, pipeline.database, mailbox, null).read();
    expect(status.inbox).toMatchObject({ highest: null, lag: 0 });
  });

  it('a pause set before the start holds the station from its first round', async () => {
    await pipeline.rows(`insert into station_pause values ('inbox', 'ann', 'inventory', now())`);
    await pipeline.mailboxSide.insertAt(1n, '<MSG/>');
    const running = await pipeline.start();
    await expect
      .poll(() => running.host.service.stations().map(({ state }) => state), { timeout: 10_000 })
      .toEqual(['paused', 'running', 'running', 'running', 'running']);
    expect(await pipeline.standing()).toMatchObject({ unread: 1, finished: 0 });
    await pipeline.rows('delete from station_pause');
    await pipeline.drained();
    expect((await running.host.service.status.read()).role).toBe('active');
    await running.stop();
    expect((await reader().read()).role).toBe('none');
  });
});
