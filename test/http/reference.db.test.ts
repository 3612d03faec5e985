import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { referencePackage } from '../scenarios/reference-packages.ts';
import { fetch } from './described.ts';

interface Page {
  readonly rows: readonly { readonly rkey: string; readonly active: boolean }[];
  readonly next: string | null;
}

describe.skipIf(postgresMissing !== null)('look-ups of reference data', () => {
  let pipeline: TestPipeline;
  let running: Running;

  beforeAll(async () => {
    pipeline = await createPipeline();
    running = await pipeline.start();
    await pipeline.mailbox.insertAll([
      referencePackage({ sequence: 1, rtype: 'STTS', count: 5 }),
      referencePackage({ sequence: 2, rtype: 'AIRL', count: 2, word: () => '50% "Happy" \\ Air' }),
      referencePackage({
        sequence: 3,
        rtype: 'STTS',
        operation: 'UPD',
        first: 2,
        count: 1,
        word: () => 'DELAYED',
      }),
      referencePackage({ sequence: 4, rtype: 'STTS', count: 4 }),
    ]);
    await pipeline.drained();
  });
  afterAll(() => pipeline.close());

  const get = async (path: string) => {
    const response = await fetch(`${running.url}/api/v1/reference${path}`);
    return { status: response.status, body: await response.json() };
  };
  const keys = async (query: string) =>
    ((await get(query)).body as Page).rows.map(({ rkey }) => rkey.replace(/0+/, ''));

  it('lists the types with their rows', async () => {
    expect((await get('')).body).toMatchObject({
      types: [
        { rtype: 'AIRL', active: 2, inactive: 0, loadedBy: '2' },
        { rtype: 'STTS', active: 4, inactive: 1, loadedBy: '4' },
      ],
    });
  });

  it('pages through a type, each row once', async () => {
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const after: string = next === null ? '' : `&after=${next}`;
      const { body } = await get(`/STTS?limit=2${after}`);
      const page = body as Page;
      seen.push(...page.rows.map(({ rkey }) => rkey));
      next = page.next;
    } while (next !== null);
    expect(seen).toEqual(['ST000001', 'ST000002', 'ST000003', 'ST000004', 'ST000005']);
    expect((await get('/STTS?limit=5')).body).toMatchObject({ next: null });
  });

  it.each([
    ['/STTS?active=true', ['ST1', 'ST2', 'ST3', 'ST4']],
    ['/STTS?active=false', ['ST5']],
    ['/STTS?prefix=ST00000', ['ST1', 'ST2', 'ST3', 'ST4', 'ST5']],
    ['/STTS?prefix=ST000003', ['ST3']],
    ['/STTS?prefix=st', []],
    ['/STTS?text=000004', ['ST4']],
    ['/STTS?text=st000004', ['ST4']],
    [`/STTS?text=${encodeURIComponent('3 号说')}`, ['ST3']],
    // A value, not a name of an element; what means something in a pattern means itself.
    ['/STTS?text=DESC', []],
    ['/STTS?text=ST_0000', []],
    [`/AIRL?text=${encodeURIComponent('50% "happy" \\')}`, ['AI1', 'AI2']],
    ['/NONE', []],
  ])('%s', async (query, expected) => {
    expect(await keys(query)).toEqual(expected);
  });

  it('shows a row with the messages behind it and what it had been', async () => {
    expect((await get('/STTS/ST000002')).body).toMatchObject({
      rtype: 'STTS',
      rkey: 'ST000002',
      active: true,
      namedBy: '4',
      describedBy: '4',
      body: { CODE: 'ST000002', DESC: 'Record ST000002 as it was' },
      history: [
        { until: { msgId: '4' }, active: true, body: { DESC: 'Record ST000002 DELAYED' } },
        { until: { msgId: '3' }, active: true, body: { DESC: 'Record ST000002 as it was' } },
      ],
    });
    // Confirmed by the second load, which wrote nothing of it.
    expect((await get('/STTS/ST000001')).body).toMatchObject({ namedBy: '4', history: [] });
    expect((await get('/STTS/ST000005')).body).toMatchObject({
      active: false,
      namedBy: '1',
      history: [{ until: { msgId: '4' }, active: true }],
    });
  });

  it.each([
    ['/STTS/none', 404],
    ['/STTS/%00', 404],
    ['/STTS?text=%00', 400],
    ['/STTS?text=a&text=b', 400],
    ['/STTS?active=perhaps', 400],
    ['/STTS?limit=1e9', 200],
  ])('%s: %i', async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });
});
