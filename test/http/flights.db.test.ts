import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { fetch } from './described.ts';

describe.skipIf(postgresMissing !== null)('flights over HTTP', () => {
  let pipeline: TestPipeline;
  let running: Running;

  beforeAll(async () => {
    pipeline = await createPipeline();
    running = await pipeline.start();
    await pipeline.mailbox.insertAll([
      schedule('700001', '700002', '710001'),
      gate('700001', 'A1'),
      gate('700001', 'B2'),
      deletion('700002'),
    ]);
    await pipeline.drained();
    await pipeline.client.query(`with gone as (delete from flight_schd where flid = '700002' returning
        flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
      insert into flight_schd_hst select *, now() from gone`);
  });
  afterAll(() => pipeline.close());

  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(running.url + path);
    expect(response.status).toBe(200);
    return response.json();
  };
  const found = async (query: string): Promise<string> => {
    const page = (await get(`/api/v1/search/flights?${query}`)) as {
      readonly flights: readonly { readonly flid: string; readonly archived: boolean }[];
    };
    return page.flights.map(({ flid, archived }) => `${flid}${archived ? ' archived' : ''}`).join();
  };

  it.each([
    ['q=XX', '700001,700002 archived,710001'],
    ['q=xx%200001', '700001,710001'],
    ['q=0001', ''],
    ['q=710001', '710001'],
    ['q=700002', '700002 archived'],
    ['q=XX&day=2026-03-14&limit=1', '700001'],
    ['q=XX&day=2026-03-15', ''],
    ['q=%25', ''],
  ])('finds %s', async (query, expected) => {
    expect(await found(query)).toBe(expected);
  });

  it('pages through what it finds, each flight once', async () => {
    const seen: string[] = [];
    let after = '';
    do {
      const page = (await get(`/api/v1/search/flights?q=XX&limit=1${after}`)) as {
        readonly flights: readonly { readonly flid: string }[];
        readonly next: string | null;
      };
      seen.push(...page.flights.map(({ flid }) => flid));
      after = page.next === null ? '' : `&after=${page.next}`;
    } while (after !== '');
    expect(seen).toEqual(['700001', '700002', '710001']);
  });

  it('tells the versions with what changed between them, and the events that told them', async () => {
    expect(await get('/api/v1/flights/700001/versions')).toMatchObject({
      versions: [
        {
          ...{ version: 3, state: 'SENT', msgId: '3', type: 'UPSERT', beforeKept: true },
          differences: [{ path: 'gates', before: [{ code: 'A1' }], after: [{ code: 'B2' }] }],
        },
        { version: 2, differences: [{ path: 'gates', before: [], after: [{ code: 'A1' }] }] },
        { version: 1, beforeKept: true },
      ],
      next: null,
    });
    const first = (await get('/api/v1/flights/700001/versions?limit=1')) as { next: string };
    expect(await get(`/api/v1/flights/700001/versions?limit=1&before=${first.next}`)).toMatchObject({
      versions: [{ version: 2, beforeKept: true, differences: [{ before: [], after: [{ code: 'A1' }] }] }],
    });
    expect(await get('/api/v1/flights/700002/versions?limit=1')).toMatchObject({
      versions: [{ type: 'TOMBSTONE', version: 2, differences: [] }],
    });
  });

  it('says where the version before is no longer kept', async () => {
    await pipeline.client.query(`delete from msg_event where partition_key = '700001' and state_version = 1
      and target = 'KAFKA:msg'`);
    expect(await get('/api/v1/flights/700001/versions')).toMatchObject({
      versions: [
        { version: 3, beforeKept: true },
        { version: 2, beforeKept: false, differences: [{ before: null }] },
      ],
    });
  });

  it('tells which message set each field, and when', async () => {
    const { lineage } = (await get('/api/v1/flights/700001')) as {
      readonly lineage: Readonly<Record<string, { readonly msgId: string; readonly at: string }>>;
    };
    expect(lineage['gates']?.msgId).toBe('3');
    expect(lineage['flightNumber']?.msgId).toBe('1');
    expect(lineage['gates']?.at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });
});
