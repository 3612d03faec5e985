/** What an operator reads beside the actions: series, outbox, dead events, audit; and trials that change nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { fetch } from './described.ts';

describe.skipIf(postgresMissing !== null)('what operators read and try over HTTP', () => {
  let pipeline: TestPipeline;
  let running: Running;
  beforeAll(async () => {
    pipeline = await createPipeline();
    running = await pipeline.start();
    await pipeline.mailbox.insertAll([schedule('700001', '700002'), gate('700001', 'A1')]);
    await pipeline.drained();
  });
  afterAll(() => pipeline.close());

  const get = async (path: string) => {
    const response = await fetch(running.url + path);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const post = async (path: string, body: object) => {
    const response = await fetch(running.url + path, { method: 'POST', body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const audits = async () => (await pipeline.rows('select 1 from op_audit')).length;

  it('counts what came, ended and was sent in the buckets of the last hour and day', async () => {
    for (const [span, buckets] of [
      ['hour', 60],
      ['day', 96],
    ] as const) {
      const { status, body } = await get(`/api/v1/series?span=${span}`);
      expect(status).toBe(200);
      const sum = (name: string) => (body[name] as number[]).reduce((total, value) => total + value, 0);
      expect(body['at']).toHaveLength(buckets);
      expect([sum('enqueued'), sum('finished'), sum('sent'), sum('backlog')]).toEqual([2, 2, 3, 0]);
      const { p50, p99 } = body['process'] as Record<'p50' | 'p99', (number | null)[]>;
      expect(p50.filter((value) => value !== null).length).toBeGreaterThan(0);
      expect(Math.max(...p99.map(Number))).toBeGreaterThan(0);
    }
    expect((await get('/api/v1/series?span=year')).status).toBe(400);
  });

  it('tells who holds the lease, and what is used of the database and of its connections', async () => {
    const { status, body } = await get('/api/v1/instance');
    expect(status).toBe(200);
    const [lease] = await pipeline.rows<{ epoch: string; holder: string }>(
      'select epoch::text as epoch, holder from lease',
    );
    expect(body['lease']).toEqual({ ...lease, held: true });
    const { bytes, ownBytes, largest } = body['database'] as {
      bytes: number;
      ownBytes: number;
      largest: { table: string; bytes: number }[];
    };
    const [sizes] = await pipeline.rows<{ bytes: string; event: string }>(
      "select pg_database_size(current_database()) as bytes, pg_total_relation_size('msg_event') as event",
    );
    // Within the pages that came meanwhile.
    expect(Math.abs(bytes - Number(sizes?.bytes))).toBeLessThan(1_000_000);
    expect(ownBytes).toBeGreaterThan(Number(sizes?.event));
    expect(ownBytes).toBeLessThan(bytes);
    expect(largest).toHaveLength(5);
    expect(largest.map((table) => table.bytes)).toEqual(
      largest.map((table) => table.bytes).toSorted((left, right) => right - left),
    );
    const { used, own, limit } = body['connections'] as Record<'used' | 'own' | 'limit', number>;
    const [server] = await pipeline.rows<{ own: number; limit: number }>(
      `select (select count(*)::integer from pg_stat_activity where datname = current_database()
           and usename = current_user) as own,
         current_setting('max_connections')::integer as limit`,
    );
    expect(Math.abs(own - (server?.own ?? 0))).toBeLessThanOrEqual(4);
    expect(used).toBeGreaterThanOrEqual(own);
    expect(limit).toBe((server?.limit ?? 0) - 3);
  });

  it('lists what waits in the outbox and what is dead, by target and flight', async () => {
    await post('/api/v1/stations/delivery/pause', { reason: 'to look at the outbox' });
    // A pause is a row that the process looks at each second.
    const delivery = async () =>
      ((await get('/api/v1/status')).body['stations'] as { name: string; state: string }[]).find(
        ({ name }) => name === 'delivery',
      )?.state;
    await expect.poll(delivery, { timeout: 15_000 }).toBe('paused');
    await pipeline.mailbox.insertAll([gate('700001', 'A2'), gate('700002', 'B1')]);
    await expect
      .poll(async () => ((await get('/api/v1/outbox')).body['events'] as unknown[]).length, {
        timeout: 15_000,
      })
      .toBe(2);
    const one = await get('/api/v1/outbox?target=KAFKA:msg&flid=700002');
    expect(one.body['events']).toMatchObject([
      { target: 'KAFKA:msg', flid: '700002', version: 2, attempts: 0, nextAttemptAt: null },
    ]);
    const first = await get('/api/v1/outbox?limit=1');
    const second = await get(`/api/v1/outbox?limit=1&after=${String(first.body['next'])}`);
    expect([first, second].map(({ body }) => (body['events'] as { flid: string }[])[0]?.flid)).toEqual([
      '700001',
      '700002',
    ]);
    await pipeline.rows(
      `update msg_event set state = 'DEAD', attempts = 10, last_error = 'too large'
       where state = 'PENDING' and target = 'KAFKA:msg'`,
    );
    const dead = async (query: string) =>
      ((await get(`/api/v1/dlq?${query}`)).body['events'] as { flid: string }[]).map(({ flid }) => flid);
    expect(await dead('flid=700002')).toEqual(['700002']);
    expect(await dead('target=KAFKA:msg')).toEqual(['700001', '700002']);
    expect(await dead('target=KAFKA:schd')).toEqual([]);
    expect((await get('/api/v1/dlq?target=x')).status).toBe(400);
    expect((await get('/api/v1/outbox?target=x')).status).toBe(400);
    await post('/api/v1/actions/dlq/drop', { all: true, reason: 'tidy' });
    await post('/api/v1/stations/delivery/resume', { reason: 'seen' });
  });

  it('says what pausing, resuming and requesting would do, without a reason and without a trace', async () => {
    const before = await audits();
    expect(await post('/api/v1/stations/pump/pause', { dryRun: true })).toMatchObject({
      ...{ status: 200, body: { outcome: 'planned' } },
    });
    expect(await post('/api/v1/stations/pump/resume', { dryRun: true })).toMatchObject({
      ...{ status: 409, body: { outcome: 'refused', message: 'pump is not paused' } },
    });
    expect(await pipeline.rows('select 1 from station_pause')).toEqual([]);
    const asked = { from: '2026-03-14', to: '2026-03-15' };
    expect(await post('/api/v1/actions/request/schedule', { ...asked, dryRun: true })).toEqual({
      status: 200,
      body: {
        outcome: 'planned',
        message: 'would register 2 requests',
        requests: [
          { type: 'SCHD', operationDay: '2026-03-14', replaced: [] },
          { type: 'SCHD', operationDay: '2026-03-15', replaced: [] },
        ],
      },
    });
    expect(await pipeline.rows('select 1 from req_track')).toEqual([]);
    expect(await audits()).toBe(before);
    await post('/api/v1/actions/request/reference', { type: 'ARPT', reason: 'a gap' });
    expect(await post('/api/v1/actions/request/reference', { type: 'ARPT', dryRun: true })).toMatchObject({
      body: { message: 'would register 1 request; ends the open request 1' },
    });
    await post('/api/v1/stations/pump/pause', { reason: 'looking' });
    expect(await post('/api/v1/stations/pump/resume', { dryRun: true })).toMatchObject({
      body: { message: 'would resume pump, paused by http:operator: looking' },
    });
    expect(await pipeline.rows('select station from station_pause')).toEqual([{ station: 'pump' }]);
    await post('/api/v1/stations/pump/resume', { reason: 'seen' });
  });

  it('pages through the audit, each entry once, and filters by who, what and when', async () => {
    const seen: unknown[] = [];
    let next: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof get>> = await get(
        `/api/v1/audit?limit=2${next === null ? '' : `&after=${next}`}`,
      );
      seen.push(...(page.body['entries'] as { auditId: string }[]).map(({ auditId }) => auditId));
      next = page.body['next'] as string | null;
    } while (next !== null);
    const ids = await pipeline.rows<{ id: string }>(
      'select audit_id::text as id from op_audit order by 1 desc',
    );
    expect(seen).toEqual(ids.map(({ id }) => id));
    const actions = async (query: string) =>
      ((await get(`/api/v1/audit?${query}`)).body['entries'] as { action: string; target: string }[]).map(
        ({ action, target }) => `${action} ${target}`,
      );
    expect(await actions('action=pause')).toEqual(['pause station:pump', 'pause station:delivery']);
    expect(await actions('action=pause&target=station:del')).toEqual(['pause station:delivery']);
    expect(await actions('who=nobody')).toEqual([]);
    const [last] = await pipeline.rows<{ at: string }>(
      `select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from op_audit
       where action = 'resume' and target = 'station:pump'`,
    );
    expect(await actions(`from=${last?.at ?? ''}`)).toEqual(['resume station:pump']);
    expect((await actions(`to=${last?.at ?? ''}`)).length).toBe(seen.length - 1);
    expect((await get('/api/v1/audit?from=yesterday')).status).toBe(400);
    expect((await get('/api/v1/audit?who=a&who=b')).status).toBe(400);
    expect((await get('/api/v1/audit')).body['entries']).toMatchObject([
      { at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string, before: { paused: true } },
      ...Array.from({ length: seen.length - 1 }, () => ({})),
    ]);
  });
});
