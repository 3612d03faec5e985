import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';
import { daySteps, playInto } from '../scenarios/simulated.ts';
import { fetch } from './described.ts';

interface Heard {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

describe.skipIf(postgresMissing !== null)('the live stream and the bounds of the server', () => {
  let pipeline: TestPipeline;
  let running: Running;

  beforeAll(async () => {
    pipeline = await createPipeline({ settings: { 'max-message-bytes': '1 KiB' } });
    running = await pipeline.start();
  });
  afterAll(async () => {
    await pipeline.close();
  });

  it('tells the status each second, and every change of a flight with its event, until it is SENT', async () => {
    const heard: Heard[] = [];
    const abort = new AbortController();
    const listening = listen(`${running.url}/api/v1/stream`, abort.signal, heard);
    await expect.poll(() => heard.some(({ event }) => event === 'status'), { timeout: 10_000 }).toBe(true);
    // Messages small enough for this pipeline: a reference row and updates; schedules are larger.
    const texts = daySteps({ count: 400, poison: 0, duplicates: 0, holes: 0 }).filter(
      (step) => step.kind !== 'message' || Buffer.byteLength(step.text) <= 1_024,
    );
    await pipeline.mailbox.insert(schedule());
    await playInto(pipeline, texts.slice(0, 30));
    await pipeline.drained();
    const [{ events } = { events: '0' }] = await pipeline.rows<{ events: string }>(
      `select count(*)::text as events from msg_event where target = 'KAFKA:msg'`,
    );
    expect(Number(events)).toBeGreaterThan(0);
    const sent = () =>
      new Set(
        heard
          .filter(({ event }) => event === 'events')
          .flatMap(({ data }) => data['events'] as readonly { eventId: string; state: string }[])
          .filter(({ state }) => state === 'SENT')
          .map(({ eventId }) => eventId),
      ).size;
    await expect.poll(sent, { timeout: 15_000 }).toBe(Number(events));
    const flights = heard
      .filter(({ event }) => event === 'flights')
      .flatMap(({ data }) => data['flights'] as readonly { flid: string; flight: object }[]);
    expect(flights.map(({ flid }) => flid)).toContain('900001');
    const statuses = heard.filter(({ event }) => event === 'status').length;
    await expect
      .poll(() => heard.filter(({ event }) => event === 'status').length, { timeout: 5_000 })
      .toBeGreaterThan(statuses);
    abort.abort();
    await listening;
  });

  it('refuses what is too large by the bytes received, and so that the client hears it', async () => {
    const send = (body: string) => fetch(`${running.url}/cminmsgs/send`, { method: 'POST', body });
    expect((await send(`<MSG>${'x'.repeat(1_024 - 11)}</MSG>`)).status).toBe(201);
    expect((await send(`<MSG>${'x'.repeat(1_025 - 11)}</MSG>`)).status).toBe(413);
    // Longer than any buffer on the way: the client still writes when the limit is passed.
    const long = `<MSG>${'x'.repeat(8 * 1024 * 1024)}</MSG>`;
    for (let round = 0; round < 5; round += 1) expect((await send(long)).status).toBe(413);
  });

  it.each([
    [
      'headers beyond 16 KiB',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      'a way out of the console folder',
      'GET /../../package.json HTTP/1.1\r\nHost: x\r\n\r\n',
      /^HTTP\/1\.1 (400|403|404) /,
    ],
    [
      'the same, encoded',
      'GET /%2e%2e/%2e%2e/package.json HTTP/1.1\r\nHost: x\r\n\r\n',
      /^HTTP\/1\.1 (400|403|404) /,
    ],
    ['no HTTP at all', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('answers %s shortly and goes on', async (_, request, answer) => {
    expect(await raw(running.url, request)).toMatch(answer);
    expect((await fetch(`${running.url}/healthz`)).status).toBe(200);
  });
});

function schedule(): string {
  const flight = '<FLTR><FLID>900001</FLID><FLNO>XX1</FLNO><MVIN>D</MVIN><SODT>14MAR260805</SODT></FLTR>';
  return `<MSG><META><SNDR>AODB</SNDR><SEQN>1</SEQN><DTTM>20260314060000</DTTM><TYPE>SCHD</TYPE><STYP>DNLD</STYP></META><SCHD><RECS>1</RECS>${flight}</SCHD></MSG>`;
}

/** Reads server-sent events until aborted. */
async function listen(url: string, signal: AbortSignal, heard: Heard[]): Promise<void> {
  try {
    const response = await fetch(url, { signal });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (event !== undefined && data !== undefined) {
          heard.push({ event, data: JSON.parse(data) as Record<string, unknown> });
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** First line that the server answers to raw bytes. */
async function raw(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.once('data', (data) => {
      resolve(data.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
