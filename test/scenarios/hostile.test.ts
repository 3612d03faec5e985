import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';
import { startPipeline, type TestPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, through } from '../kit/tcp-proxy.ts';
import { expectClean, expectTold, unmarked } from './checks.ts';
import { deepText, longText, remarkOf, remarkText, scheduleText } from './texts.ts';

const LIMIT = 64 * 1024;

interface Outcome {
  readonly id: string;
  readonly state: string;
  readonly errorClass: string | null;
  readonly text: string | null;
}

async function outcomes(pipeline: TestPipeline): Promise<readonly Outcome[]> {
  return pipeline.rows<Outcome & Record<string, unknown>>(
    `select msg_id::text as id, state, error_class as "errorClass", coalesce(last_error, reason) as text
     from proc_state order by msg_id`,
  );
}

async function remarkOfFlight(pipeline: TestPipeline): Promise<unknown> {
  const [row] = await pipeline.rows<{ remark: unknown }>(
    `select state ->> 'remark' as remark from flight_schd where flid = '800001'`,
  );
  return row?.remark;
}

const dead = (reason: string) => ({ state: 'DEAD', errorClass: 'MALFORMED', text: reason });
const succeeded = { state: 'SUCCEEDED', errorClass: null, text: null };

describe.skipIf(postgresMissing !== null)('hostile messages in the mailbox', () => {
  it('end as the contract says, at the limits and beyond them', async (test) => {
    const pipeline = await startPipeline(test, { settings: { 'max-message-bytes': '64 KiB' } });
    const bomb = await readFile(new URL('../fixtures/day/022-entity-bomb.xml', import.meta.url), 'utf8');
    const rows: readonly (readonly [string | null, object])[] = [
      [scheduleText(), succeeded],
      [remarkOf(LIMIT), succeeded],
      [remarkOf(LIMIT + 1), dead('too-large')],
      [deepText(64), succeeded],
      [deepText(65), dead('too-deep')],
      [bomb, dead('doctype-forbidden')],
      ['', dead('raw-missing')],
      [null, dead('raw-missing')],
      [remarkText('&#0;'), dead('not-well-formed')],
      ['not XML at all', dead('not-well-formed')],
      [remarkText('the last one'), succeeded],
    ];
    for (const [index, [text]] of rows.entries())
      await pipeline.mailboxSide.insertAt(BigInt(index + 1), text);
    await pipeline.drained();
    expect(await outcomes(pipeline)).toMatchObject(
      rows.map(([, outcome], index) => ({ id: String(index + 1), ...outcome })),
    );
    expect(await remarkOfFlight(pipeline)).toBe('the last one');
    // Of what is too large only the length is kept.
    expect(
      await pipeline.rows('select bytes::int, body is null as empty from raw_message where msg_id = 3'),
    ).toEqual([{ bytes: LIMIT + 1, empty: true }]);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });

  it('are bounded at 8 MiB by default', async (test) => {
    const pipeline = await startPipeline(test);
    const limit = 8 * 1024 * 1024;
    const texts = [scheduleText(), longText(limit), longText(limit + 1)];
    expect(texts.map((text) => Buffer.byteLength(text)).slice(1)).toEqual([limit, limit + 1]);
    for (const [index, text] of texts.entries()) await pipeline.mailboxSide.insertAt(BigInt(index + 1), text);
    await pipeline.drained();
    expect(await outcomes(pipeline)).toMatchObject([succeeded, succeeded, dead('too-large')]);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });

  it.for<[string, bigint]>([
    ['2^53', 2n ** 53n],
    ['nearly 2^63', 2n ** 63n - 5n],
  ])('keep IDs beyond %s exact', async ([, cutover], test) => {
    const pipeline = await startPipeline(test, {
      settings: { pipeline: { 'cutover-watermark': cutover.toString() } },
    });
    const ids = [1n, 2n, 4n].map((offset) => cutover + offset);
    const texts = [scheduleText(), remarkText('first'), remarkText('second')];
    for (const [index, id] of ids.entries()) await pipeline.mailboxSide.insertAt(id, texts[index]!);
    await pipeline.drained();
    expect(await outcomes(pipeline)).toMatchObject(ids.map((id) => ({ id: id.toString(), ...succeeded })));
    const causes = (await pipeline.journal('msg')).map(({ value }) => value?.['cause']);
    expect(causes).toMatchObject(ids.map((id) => ({ msgId: id.toString() })));
    const hole = (cutover + 3n).toString();
    expect(
      await pipeline.rows('select from_id, to_id from inbox_hole where released_at is not null'),
    ).toEqual([{ from_id: hole, to_id: hole }]);
    expect(await unmarked(pipeline)).toEqual([]);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });
});

describe.skipIf(postgresMissing !== null)('POST /cminmsgs/send', () => {
  const SEND = '/cminmsgs/send';

  async function post(
    url: string,
    body: string | Uint8Array<ArrayBuffer>,
    type = 'application/xml',
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(url + SEND, { method: 'POST', body, headers: { 'content-type': type } });
    return { status: response.status, body: await response.json() };
  }

  /** A message whose remark is given as bytes, in the encoding its declaration names. */
  function labelled(encoding: string, remark: readonly number[]): Uint8Array<ArrayBuffer> {
    const [head = '', tail = ''] = remarkText('|').split('|');
    const ascii = (text: string) => [...Buffer.from(text, 'latin1')];
    const declaration = `<?xml version="1.0" encoding="${encoding}"?>`;
    return new Uint8Array([...ascii(declaration + head), ...remark, ...ascii(tail)]);
  }

  it('answers every body as the contract says', async (test) => {
    const pipeline = await startPipeline(test, { settings: { 'max-message-bytes': '64 KiB' } });
    const { url } = pipeline.running;
    const accepted = (id: number) => ({ status: 201, body: { mailboxId: String(id), enqueued: true } });
    const refused = (status: number) => ({ status, body: { error: expect.any(String) as string } });

    expect(await post(url, scheduleText())).toEqual(accepted(1));
    expect(await post(url, remarkText('a NUL \0 in it'))).toEqual(refused(400));
    expect(await post(url, labelled('UTF-8', [0xba, 0xbd]))).toEqual(refused(400));
    expect(await post(url, labelled('gb2312', [0xba]))).toEqual(refused(400));
    expect(await post(url, 'not XML at all')).toEqual(refused(400));
    expect(await post(url, '')).toEqual(refused(400));
    expect(await post(url, '{"text": "<MSG/>"}', 'application/json')).toEqual(refused(400));
    expect(await post(url, '{"message": 7}', 'application/json')).toEqual(refused(400));
    expect(await post(url, '<MSG>', 'application/json')).toEqual(refused(400));
    expect(await post(url, JSON.stringify({ message: 'a NUL \0' }), 'application/json')).toEqual(
      refused(400),
    );
    expect(
      await post(url, `{"message": ${JSON.stringify(remarkText('half \ud800'))}}`, 'application/json'),
    ).toEqual(refused(400));
    expect(await post(url, remarkOf(LIMIT + 1))).toEqual(refused(413));
    // Nothing of that has reached the mailbox.
    expect(await pipeline.mailbox.bounds()).toEqual({ min: 1n, max: 1n });

    expect(await post(url, remarkOf(LIMIT))).toEqual(accepted(2));
    // XML that is not well-formed is the pipeline's to judge, and to report.
    expect(await post(url, '<MSG><META>')).toEqual(accepted(3));
    // Bytes of GBK under the label of its subset: 航班镕, the last of which GB 2312 does not have.
    expect(await post(url, labelled('gb2312', [0xba, 0xbd, 0xb0, 0xe0, 0xe9, 0x46]))).toEqual(accepted(4));
    await pipeline.drained();
    expect(await remarkOfFlight(pipeline)).toBe('航班镕');
    expect(await post(url, JSON.stringify({ message: remarkText('再见') }), 'application/json')).toEqual(
      accepted(5),
    );
    await pipeline.drained();
    expect(await remarkOfFlight(pipeline)).toBe('再见');
    expect(await outcomes(pipeline)).toMatchObject([
      succeeded,
      succeeded,
      dead('not-well-formed'),
      succeeded,
      succeeded,
    ]);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });

  it('refuses in shadow mode', async (test) => {
    const pipeline = await startPipeline(test, { settings: { pipeline: { shadow: true } } });
    expect((await post(pipeline.running.url, scheduleText())).status).toBe(409);
    expect(await pipeline.mailbox.bounds()).toBeNull();
  });

  it('answers 503 with the mailbox down, having written nothing, and goes on when it is back', async (test) => {
    const { url: mailboxUrl } = await createTestDatabase({ blank: true });
    const proxy = await startProxy(targetOf(mailboxUrl));
    const pipeline = await startPipeline(test, {
      mailboxUrl,
      settings: { mailbox: { url: through(mailboxUrl, proxy), timeout: '2s' } },
    });
    const { url } = pipeline.running;
    expect((await post(url, scheduleText())).status).toBe(201);
    await pipeline.drained();
    proxy.refuse();
    proxy.cut();
    expect((await post(url, remarkText('lost'))).status).toBe(503);
    const readiness = await fetch(`${url}/readyz`);
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ mailbox: 'down', database: 'ok' });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await pipeline.mailbox.bounds()).toEqual({ min: 1n, max: 1n });
    proxy.heal();
    expect((await post(url, remarkText('found'))).status).toBe(201);
    await pipeline.drained();
    expect(await remarkOfFlight(pipeline)).toBe('found');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await outcomes(pipeline)).toMatchObject([succeeded, succeeded]);
    await expectClean(pipeline);
  });

  it('answers 202 with our own database down; the inbox finds the row later', async (test) => {
    const { url: databaseUrl } = await createTestDatabase();
    const proxy = await startProxy(targetOf(databaseUrl));
    const pipeline = await startPipeline(test, {
      databaseUrl,
      settings: { database: { url: through(databaseUrl, proxy) } },
    });
    const { url } = pipeline.running;
    expect((await post(url, scheduleText())).status).toBe(201);
    await pipeline.drained();
    proxy.refuse();
    proxy.cut();
    expect(await post(url, remarkText('early'))).toEqual({
      status: 202,
      body: { mailboxId: '2', enqueued: false },
    });
    const readiness = await fetch(`${url}/readyz`);
    expect(readiness.status).toBe(503);
    expect(await readiness.json()).toMatchObject({ mailbox: 'ok', database: 'down' });
    proxy.heal();
    await pipeline.drained();
    expect(await remarkOfFlight(pipeline)).toBe('early');
    expect(await outcomes(pipeline)).toMatchObject([succeeded, succeeded]);
    await expectClean(pipeline);
    await expectTold(pipeline);
  });
});
