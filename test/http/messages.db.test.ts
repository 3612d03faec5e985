import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deletion, gate, schedule, xml } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { fetch } from './described.ts';

interface Listed {
  readonly messages: readonly { readonly msgId: string; readonly state: string }[];
  readonly next: string | null;
}

const BROKEN = '<MSG>\n<META><SNDR>AODB</SNDR></META>\n  <FLOP>';

describe.skipIf(postgresMissing !== null)('messages over HTTP', () => {
  let pipeline: TestPipeline;
  let running: Running;

  beforeAll(async () => {
    pipeline = await createPipeline();
    running = await pipeline.start();
    const twice = gate('700001', 'A2');
    await pipeline.mailbox.insertAll([
      schedule('700001', '700002'), // 1
      gate('700001', 'A1'), // 2
      twice, // 3
      twice, // 4: its duplicate
      BROKEN, // 5
      xml('LDM', 'NONE', ''), // 6: ignored
      // 7: a day that does not exist, on the second line
      xml('FLOP', 'ESTM', '\n<FLOP><FLID>700001</FLID><ESTM>31FEB260900</ESTM></FLOP>'),
      deletion('700002'), // 8
      gate('799999', 'A1'), // 9: no such flight
    ]);
    await pipeline.drained();
    // What ended long ago stands in the archive, as the job moves it.
    await pipeline.client.query(`with gone as (delete from proc_state where msg_id = 2 returning *)
      insert into proc_state_hst select *, now() from gone`);
  });
  afterAll(() => pipeline.close());

  const get = async (path: string) => {
    const response = await fetch(running.url + path);
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, body: (json ? JSON.parse(text) : text) as unknown };
  };
  const ids = async (query: string): Promise<string> => {
    const { status, body } = await get(`/api/v1/messages?${query}`);
    expect(status).toBe(200);
    return (body as Listed).messages.map(({ msgId }) => msgId).join();
  };

  it('lists the newest first, archived ones at their place, page by page', async () => {
    const seen: string[] = [];
    let before = '';
    do {
      const { body } = await get(`/api/v1/messages?limit=4${before}`);
      const { messages, next } = body as Listed;
      seen.push(...messages.map(({ msgId }) => msgId));
      before = next === null ? '' : `&before=${next}`;
    } while (before !== '');
    expect(seen).toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1']);
  });

  it.each([
    ['state=DEAD', '7,5'],
    ['state=SKIPPED', '9,6,4'],
    ['state=PENDING', ''],
    ['class=MALFORMED', '7,5'],
    ['class=EXHAUSTED', ''],
    ['type=flop&styp=gtdt', '9,4,3,2'],
    ['type=SCHD', '1'],
    ['flight=700001', '3,2,1'],
    ['flight=700001&state=DEAD', ''],
    ['flight=xx%200002', '8,1'],
    ['flight=nobody', ''],
    ['attention=true', '7,5'],
    ['attention=true&type=SCHD', ''],
    ['from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z', ''],
    ['from=2000-01-01T00:00:00Z&type=SCHD', '1'],
    ['to=2000-01-01T00:00:00Z', ''],
    ['before=5', '4,3,2,1'],
  ])('finds %s', async (query, expected) => {
    expect(await ids(query)).toBe(expected);
  });

  it('counts a mark that was given up among what needs somebody, until it is confirmed', async () => {
    await pipeline.client.query(`update proc_state set backfill_at = null, backfill_abandoned_at = now(),
      backfill_abandoned_reason = 'MISSING_ROW' where msg_id = 3`);
    expect(await ids('attention=true')).toBe('7,5,3');
    const { body } = await get('/api/v1/messages/3');
    expect(body).toMatchObject({ mark: 'abandoned', backfill: { abandonedReason: 'MISSING_ROW' } });
    await pipeline.client.query('update proc_state set backfill_confirmed_at = now() where msg_id = 3');
    expect(await ids('attention=true')).toBe('7,5');
  });

  it('finds by the time of receipt, told by the mailbox', async () => {
    await pipeline.client.query(
      `update proc_state set received_at = '2026-03-10T00:00:00Z' where msg_id = 1`,
    );
    expect(await ids('from=2026-03-09T00:00:00Z&to=2026-03-11T00:00:00Z')).toBe('1');
    expect(await ids('from=2026-03-10T00:00:00Z&to=2026-03-10T00:00:00Z')).toBe('');
  });

  it('tells what a message changed, its events, its duplicates and its mark', async () => {
    const { status, body } = await get('/api/v1/messages/3');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ msgId: '3', type: 'FLOP', styp: 'GTDT', state: 'SUCCEEDED', archived: false, report: null },
      ...{ otherProfile: false, attempts: 0, maxAttempts: 5 },
      identity: expect.stringMatching(/^AODB\|FLOP\|GTDT\|\d+\|2026-03-14$/) as unknown,
      flights: [
        { flid: '700001', flightNumber: 'XX0001', stateVersion: 3, changed: ['gates'], superseded: [] },
      ],
      moreFlights: false,
      events: [
        { flid: '700001', target: 'KAFKA:msg', version: 3, state: 'SENT', msgId: '3' },
        { target: 'KAFKA:schd' },
      ],
      duplicates: [{ msgId: '4', reason: 'duplicate-of:3' }],
      text: { kept: true },
    });
  });

  it('tells of an archived message as of a living one', async () => {
    const { body } = await get('/api/v1/messages/2');
    expect(body).toMatchObject({
      ...{ archived: true, mark: 'marked', text: { kept: true } },
      flights: [{ flid: '700001', stateVersion: 2, changed: ['gates'] }],
    });
    expect((body as { archivedAt: string }).archivedAt).toMatch(/^\d{4}-/);
  });

  it('names the place of a fault, as found then and as found now, and gives the text', async () => {
    const { body } = await get('/api/v1/messages/7');
    const place = { reason: 'bad-value:ESTM', line: 2, column: 26 };
    expect(body).toMatchObject({
      ...{ state: 'DEAD', errorClass: 'MALFORMED', lastError: 'bad-value:ESTM', detail: { faults: [place] } },
    });
    const decoded = await get('/api/v1/messages/7/decoded');
    expect(decoded.body).toMatchObject({ outcome: 'malformed', header: { type: 'FLOP' }, faults: [place] });
    const { body: text } = await get('/api/v1/messages/7/text');
    expect((text as string).split('\n')[1]).toContain('<ESTM>31FEB260900</ESTM>');
    expect((await get('/api/v1/messages/5/text')).body).toBe(BROKEN);
  });

  it('tells the decoded fields, and names no VIP', async () => {
    const vip = '<VIPF><VPCD>MADE-UP-PERSON</VPCD><VFES>2</VFES></VIPF>';
    const id = await pipeline.mailbox.insert(xml('FLOP', 'VIPF', `<FLOP><FLID>700001</FLID>${vip}</FLOP>`));
    await expect
      .poll(async () => (await get(`/api/v1/messages/${String(id)}`)).body, { timeout: 20_000 })
      .toMatchObject({ state: 'SUCCEEDED' });
    const { body } = await get('/api/v1/messages/3/decoded');
    expect(body).toMatchObject({
      outcome: 'decoded',
      message: {
        header: { type: 'FLOP', subtype: 'GTDT' },
        body: { kind: 'operation', records: [{ flid: '700001', writes: [{ field: 'gates' }] }] },
      },
    });
    const named = await get(`/api/v1/messages/${String(id)}/decoded`);
    expect(JSON.stringify(named.body)).toContain('"entourage":2');
    expect(JSON.stringify(named.body)).not.toContain('MADE-UP-PERSON');
    expect(JSON.stringify((await get(`/api/v1/messages/${String(id)}`)).body)).not.toContain(
      'MADE-UP-PERSON',
    );
  });

  it.each([
    ['/api/v1/messages?state=GONE', 400],
    ['/api/v1/messages?class=GONE', 400],
    ['/api/v1/messages?state=DEAD&state=DEAD', 400],
    ['/api/v1/messages?type=a&type=b', 400],
    ['/api/v1/messages?flight=%00', 400],
    ['/api/v1/messages?from=yesterday', 400],
    ['/api/v1/messages?from=2026-03-14T99:00:00Z', 400],
    ['/api/v1/messages?before=-1', 400],
    ['/api/v1/messages?before=99999999999999999999', 400],
    ['/api/v1/messages?limit=1e9&type=', 200],
    ['/api/v1/messages?attention=maybe', 400],
    ['/api/v1/messages/4711', 404],
    ['/api/v1/messages/x', 404],
    ['/api/v1/messages/9223372036854775807', 404],
    ['/api/v1/messages/4711/text', 404],
    ['/api/v1/messages/-/decoded', 404],
    ['/api/v1/search/flights', 400],
    ['/api/v1/search/flights?q=%00', 400],
    ['/api/v1/search/flights?q=a&q=b', 400],
    ['/api/v1/search/flights?q=XX&day=2026-02-30', 400],
    ['/api/v1/search/flights?q=%F4%8F%BF%BF&after=x', 200],
    ['/api/v1/flights/%00/versions', 200],
    ['/api/v1/flights/700001/versions?before=x', 400],
  ])('answers %s with %i, whatever it asks for', async (path, expected) => {
    expect((await get(path)).status).toBe(expected);
  });
});
