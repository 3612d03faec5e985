import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { fetch } from './described.ts';

interface Listed {
  readonly day: string;
  readonly days: readonly { readonly day: string; readonly flights: number }[];
  readonly flights: readonly { readonly flid: string; readonly deleted: boolean; readonly version: number }[];
  readonly next: string | null;
}

describe.skipIf(postgresMissing !== null)('the reading API', () => {
  let pipeline: TestPipeline;
  let running: Running;

  beforeAll(async () => {
    pipeline = await createPipeline();
    running = await pipeline.start();
    const flids = ['700001', '700002', '700003', '700004', '700005'];
    await pipeline.mailbox.insertAll([schedule(...flids), gate('700001', 'A1'), deletion('700005')]);
    await pipeline.drained();
  });
  afterAll(() => pipeline.close());

  const get = async (path: string) => {
    const response = await fetch(running.url + path);
    return { status: response.status, body: await response.json() };
  };

  it('pages through a day, each flight once', async () => {
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const after: string = next === null ? '' : `&after=${next}`;
      const { status, body } = await get(`/api/v1/flights?day=2026-03-14&limit=2${after}`);
      expect(status).toBe(200);
      const page = body as Listed;
      expect(page.days).toEqual([{ day: '2026-03-14', flights: 5 }]);
      seen.push(...page.flights.map(({ flid }) => flid));
      next = page.next;
    } while (next !== null);
    expect(seen).toEqual(['700001', '700002', '700003', '700004', '700005']);
  });

  it('takes the nearest day that has flights where none is named', async () => {
    const { body } = await get('/api/v1/flights');
    expect((body as Listed).day).toBe('2026-03-14');
    expect((body as Listed).flights).toMatchObject([{}, {}, {}, {}, { flid: '700005', deleted: true }]);
  });

  it('shows a flight with its lineage and the messages that touched it, newest first', async () => {
    const { status, body } = await get('/api/v1/flights/700001');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      flid: '700001',
      version: 2,
      operationDay: '2026-03-14',
      archived: false,
      lastMsgId: '2',
      flight: { flid: '700001', gates: [{ seq: 1, code: 'A1' }], remark: null },
      stamps: { fields: { gates: '2', flightNumber: '1' } },
      names: {},
      namedFields: { status: 'STTS', 'delays.code': 'DLYL' },
      messages: [
        { msgId: '2', type: 'FLOP', styp: 'GTDT', stateVersion: 2, changed: ['gates'] },
        { msgId: '1', type: 'SCHD', styp: 'DNLD', stateVersion: 1 },
      ],
    });
  });

  it('lists the newest events first', async () => {
    const { body } = await get('/api/v1/events?limit=2');
    expect(body).toMatchObject({
      events: [
        { flid: '700005', type: 'TOMBSTONE', version: 2, state: 'SENT', msgId: '3', changed: ['deleted'] },
        { flid: '700001', type: 'UPSERT', version: 2, changed: ['gates'], flightNumber: 'XX0001' },
      ],
    });
  });

  it.each([
    ['/api/v1/flights?day=2026-02-30', 400],
    ['/api/v1/flights?day=2026-99-99', 400],
    ['/api/v1/flights?day=today', 400],
    ['/api/v1/flights?day=2026-03-14&day=2026-03-15', 400],
    ['/api/v1/flights?day=2026-03-14&limit=-1&after=%00', 200],
    [`/api/v1/flights?day=2026-03-14&after=${Buffer.from('["a\\u0000","b"]').toString('base64url')}`, 200],
    ['/api/v1/flights?day=2026-03-14&limit=1e9', 200],
    ['/api/v1/flights/%00', 404],
    ['/api/v1/flights/..%2f..%2fetc', 404],
    ['/api/v1/flights/%zz', 400],
    [`/api/v1/flights/${'7'.repeat(200)}`, 404],
    ['/api/v1/events?limit=x', 200],
  ])('answers %s with %i, whatever it asks for', async (path, expected) => {
    expect((await get(path)).status).toBe(expected);
  });
});
