import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { gate, schedule } from '../kit/messages.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { fetch } from './described.ts';

describe.skipIf(postgresMissing !== null)('health, readiness and metrics', () => {
  it('a crowd of slow questions keeps neither a message nor a probe waiting', async (test) => {
    const pipeline = await startPipeline(test);
    const { askedDatabase } = pipeline.running.resources;
    await pipeline.client.query('select pg_advisory_lock(1)');
    let answered = 0;
    const questions = Array.from({ length: 12 }, async () => {
      await askedDatabase.query({ name: 'slow_question', text: 'select pg_advisory_lock_shared(1)' });
      answered += 1;
    });
    const answers = Promise.allSettled(questions);
    await pipeline.mailbox.insert(schedule('700001'));
    await pipeline.drained();
    const response = await fetch(`${pipeline.running.url}/readyz`);
    expect(await response.json()).toMatchObject({ role: 'active', database: 'ok', delivery: 'ok' });
    expect(answered).toBe(0);
    await pipeline.client.query('select pg_advisory_unlock(1)');
    await answers;
    expect(answered).toBeGreaterThan(0);
  });

  it('readiness follows mailbox and database, delivery trouble only degrades; health follows none of them', async (test) => {
    const own = await createTestDatabase();
    const box = await createTestDatabase({ blank: true });
    const ownProxy = await startProxy(targetOf(own.url));
    const boxProxy = await startProxy(targetOf(box.url));
    const journal = join(await mkdtemp(join(tmpdir(), 'msgx-health-')), 'journal');
    test.onTestFinished(() => rm(dirname(journal), { recursive: true, force: true }));
    const pipeline = await startPipeline(test, {
      databaseUrl: through(own.url, ownProxy),
      mailboxUrl: through(box.url, boxProxy),
      settings: {
        delivery: { journal: { dir: journal } },
        mailbox: { timeout: '1s' },
      },
    });
    const { url } = pipeline.running;
    const ready = async () => {
      const response = await fetch(`${url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    await vi.waitFor(async () => expect((await ready()).body).toMatchObject({ role: 'active' }), 10_000);
    expect(await ready()).toEqual({
      status: 200,
      body: { role: 'active', mailbox: 'ok', database: 'ok', delivery: 'ok', ackAgeSeconds: null },
    });
    // Nothing has been sent, and so there is no folder yet: now there cannot be one.
    await writeFile(journal, '');
    await pipeline.mailbox.insert(schedule('700001'));
    await vi.waitFor(
      async () =>
        expect(await ready()).toMatchObject({
          status: 200,
          body: { delivery: 'degraded', ackAgeSeconds: null },
        }),
      { timeout: 10_000, interval: 100 },
    );
    boxProxy.refuse();
    boxProxy.cut();
    expect(await ready()).toMatchObject({ status: 503, body: { mailbox: 'down', database: 'ok' } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    boxProxy.heal();
    ownProxy.refuse();
    ownProxy.cut();
    expect(await ready()).toMatchObject({ status: 503, body: { mailbox: 'ok', database: 'down' } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    // Gauges stay as they were; the page is served.
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    expect((await fetch(`${url}/api/v1/status`)).status).toBe(503);
    ownProxy.heal();
    await vi.waitFor(async () => expect((await ready()).status).toBe(200), {
      timeout: 15_000,
      interval: 200,
    });
  });

  it('a target that cannot be read at the start degrades delivery before there is anything to send', async (test) => {
    const pipeline = await startPipeline(test, {
      settings: { delivery: { journal: { dir: join(import.meta.filename, 'journal') } } },
    });
    await vi.waitFor(
      async () =>
        expect(await (await fetch(`${pipeline.running.url}/readyz`)).json()).toMatchObject({
          role: 'active',
          delivery: 'degraded',
        }),
      { timeout: 10_000, interval: 100 },
    );
    // By the marks nothing is forgotten: the pump does not wait for it.
    await pipeline.mailbox.insert(schedule('700001'));
    await vi.waitFor(
      async () =>
        expect(await pipeline.rows('select state from proc_state')).toEqual([{ state: 'SUCCEEDED' }]),
      { timeout: 10_000, interval: 100 },
    );
  });

  it('health fails where a loop is stuck, and names it', async (test) => {
    const pipeline = await startPipeline(test);
    vi.spyOn(pipeline.running.host.service, 'stuck').mockReturnValue(['pump']);
    const response = await fetch(`${pipeline.running.url}/healthz`);
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 503,
      body: { status: 'stuck', stuck: ['pump'] },
    });
  });

  it('metrics are the text of Prometheus with every name, and the gauges tell the state', async (test) => {
    const pipeline = await startPipeline(test);
    await pipeline.mailbox.insertAll([
      schedule('700001'),
      gate('700001', 'A1'),
      '<broken',
      gate('700009', 'A1'),
    ]);
    await pipeline.drained();
    const response = await fetch(`${pipeline.running.url}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const { registry } = createMetrics();
    for (const { name } of registry.getMetricsAsArray())
      expect(text).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
    const value = (sample: string) => {
      const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
      return line === undefined ? null : Number(line.slice(sample.length));
    };
    expect(value('msgx_active')).toBe(1);
    expect(value('msgx_watermark')).toBe(4);
    expect(value('msgx_watermark_lag_ids')).toBe(0);
    expect(value('msgx_dead_messages{class="MALFORMED"}')).toBe(1);
    // There from the start, so that a rise can be seen.
    expect(value('msgx_dead_messages{class="PROTOCOL"}')).toBe(0);
    expect(value('msgx_dead_schedules')).toBe(0);
    expect(value('msgx_backfill_owed')).toBe(0);
    expect(value('msgx_outbox_pending{target="KAFKA:msg"}')).toBe(0);
    expect(value('msgx_delivery_total{target="KAFKA:msg",outcome="sent"}')).toBe(2);
    expect(value('msgx_messages_total{type="FLOP",styp="GTDT",outcome="SKIPPED"}')).toBe(1);
    expect(value('msgx_station_paused{station="pump",by="none"}')).toBe(0);
    expect(value('msgx_end_to_end_seconds_count')).toBe(2);
    expect(value('msgx_ack_age_seconds')).toBeLessThan(60);
  });
});
