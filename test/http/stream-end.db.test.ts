/** How the live stream and slow requests end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { serve } from './kit.ts';
import { fetch } from './described.ts';

describe.skipIf(postgresMissing !== null)('the end of a stream', () => {
  afterEach(() => vi.restoreAllMocks());

  it('stops looking when the last listener has gone, and begins anew with the next', async (test) => {
    const pipeline = await startPipeline(test);
    const read = vi.spyOn(pipeline.running.host.service.status, 'read');
    // Held to the end: fetch closes the connection of an answer that nobody holds any more.
    const answers: Response[] = [];
    const listen = async () => {
      const abort = new AbortController();
      const response = await fetch(`${pipeline.running.url}/api/v1/stream`, { signal: abort.signal });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
      answers.push(response);
      return abort;
    };
    const [first, second] = [await listen(), await listen()];
    await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
    first.abort();
    const before = read.mock.calls.length;
    await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(before), { timeout: 20_000 });
    second.abort();
    // A round may be under way; after it there is none.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const left = read.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    expect(read.mock.calls.length).toBe(left);
    const third = await listen();
    await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(left + 1), { timeout: 20_000 });
    third.abort();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('a server that closes while a round is under way ends its streams and writes nothing behind the end', async (test) => {
    const pipeline = await startPipeline(test);
    const server = await serve(pipeline);
    const { status } = pipeline.running.host.service;
    const original = status.read.bind(status);
    let held: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => (held = resolve));
    vi.spyOn(status, 'read').mockImplementation(async () => {
      await hold;
      return original();
    });
    const response = await fetch(`${server.url}/api/v1/stream`);
    const text = response.text().catch(() => 'cut off');
    const closing = server.close();
    await vi.waitFor(async () => expect(await Promise.race([text, Promise.resolve(null)])).not.toBe(null));
    held();
    await closing;
    // What the round writes behind the end would surface as an unhandled error.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await text).not.toContain('event: status');
  });

  it('cuts off a body that does not arrive in time', async (test) => {
    const pipeline = await startPipeline(test);
    const server = await serve(pipeline, { requestTimeoutMs: 500 });
    test.onTestFinished(() => server.close());
    const { hostname, port } = new URL(server.url);
    const since = performance.now();
    const answer = await new Promise<string>((resolve, reject) => {
      let heard = '';
      const socket = connect(Number(port), hostname, () =>
        socket.write('POST /cminmsgs/send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n<MSG>'),
      );
      socket.on('data', (data) => (heard += data.toString()));
      socket.on('close', () => resolve(heard));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(await pipeline.mailboxSide.count()).toBe(0);
  });

  it('leaves the connection to whoever waits for an action, and cuts off one that nobody uses', async (test) => {
    const pipeline = await startPipeline(test);
    const server = await serve(pipeline, { connectionTimeoutMs: 300 });
    test.onTestFinished(() => server.close());
    await pipeline.client.query('begin');
    await pipeline.client.query('lock table op_audit in access exclusive mode');
    const asked = fetch(`${server.url}/api/v1/stations/backfill/pause`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'mailbox is being moved' }),
    }).then(
      ({ status }) => status,
      () => 'cut off',
    );
    await sleep(1_500);
    await pipeline.client.query('commit');
    expect(await asked).toBe(200);

    const { hostname, port } = new URL(server.url);
    const since = performance.now();
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.on('close', () => resolve());
      socket.on('error', reject);
    });
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});
