/** A server under attack: bounded, the right answers, and messages flow meanwhile. */
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '../../src/http/server.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { remarkText, scheduleText } from '../scenarios/texts.ts';
import { serve, type Started } from './kit.ts';
import { fetch } from './described.ts';

const MIB = 1024 * 1024;
const TOKEN = 'sender-token-of-a-test';

/** A raw connection: what the server said, and that it has ended it. */
interface Raw {
  readonly socket: Socket;
  readonly said: () => string;
  /** Status lines received, in order. */
  readonly statuses: () => readonly number[];
  readonly closed: Promise<void>;
}

function raw(server: HttpServer, text = ''): Raw {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  let said = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => (said += chunk));
  // A server that refuses may reset the connection under a client that still writes.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  if (text !== '') socket.write(text);
  const statuses = () => [...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  return { socket, said: () => said, statuses, closed };
}

function many<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
const post = (more: string) => `POST /cminmsgs/send HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

describe.skipIf(postgresMissing !== null)('HTTP under attack', () => {
  let pipeline: Started;
  const servers: HttpServer[] = [];

  beforeAll(async () => {
    const created = await createPipeline({ settings: { 'max-message-bytes': '64 KiB' } });
    pipeline = { ...created, running: await created.start() };
    await pipeline.mailboxSide.insertAt(1n, scheduleText());
    await pipeline.drained();
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await pipeline.close();
  });

  async function under(bounds: Parameters<typeof serve>[1] = {}): Promise<HttpServer> {
    const server = await serve(pipeline, bounds);
    servers.push(server);
    return server;
  }

  let id = 1n;
  /** A message goes all the way while whatever the test does goes on. */
  async function flows(): Promise<void> {
    id += 1n;
    await pipeline.mailboxSide.insertAt(id, remarkText(`message ${String(id)}`));
    await pipeline.drained(10_000);
    const [row] = await pipeline.rows<{ remark: string }>(
      `select state ->> 'remark' as remark from flight_schd`,
    );
    expect(row?.remark).toBe(`message ${String(id)}`);
  }

  it('cuts off clients that are slow with headers, with a body, or silent', async () => {
    const server = await under({ requestTimeoutMs: 1_000 });
    const headers = many(40, () => raw(server, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'));
    const bodies = many(40, () => raw(server, post('Content-Length: 1000\r\n') + '<MSG>'));
    const silent = many(40, () => raw(server));
    const drip = setInterval(() => {
      for (const { socket } of headers) socket.write('X-A: b\r\n');
      for (const { socket } of bodies) socket.write('x');
    }, 100);
    await flows();
    await Promise.all([...headers, ...bodies, ...silent].map(({ closed }) => closed));
    clearInterval(drip);
    expect(new Set([...headers, ...bodies].flatMap(({ statuses }) => statuses()))).toEqual(new Set([408]));
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('refuses a body over the limit, declared or not, and takes no more bodies than it has memory for', async () => {
    const server = await under({ maxBodyMemory: 200 * 1024 });
    const chunked = `${(70_000).toString(16)}\r\n${'x'.repeat(70_000)}\r\n0\r\n\r\n`;
    const refused = [
      raw(server, post('Content-Length: 65537\r\n') + 'x'.repeat(65_537)),
      raw(server, post('Transfer-Encoding: chunked\r\n') + chunked),
      raw(server, post(`Content-Length: ${String(1024 * MIB)}\r\n`)),
    ];
    for (const one of refused) await until('a refusal', () => one.statuses()[0] ?? null);
    expect(refused.map(({ statuses }) => statuses()[0])).toEqual([413, 413, 413]);

    const held = many(3, () => raw(server, post('Content-Length: 60001\r\n') + '<'.repeat(60_000)));
    // Their bytes have arrived when a fourth finds no room.
    const fourth = () =>
      fetch(`${server.url}/cminmsgs/send`, { method: 'POST', body: 'no XML '.repeat(8_000) });
    await expect.poll(async () => (await fourth()).status, { timeout: 10_000 }).toBe(503);
    expect((await fourth()).headers.get('retry-after')).toBe('1');
    await flows();
    for (const { socket } of held) socket.destroy();
    await expect.poll(async () => (await fourth()).status, { timeout: 10_000 }).toBe(400);
  });

  it('refuses floods of headers and very long addresses', async () => {
    const server = await under();
    const flood = many(1_000, (index) => `X-${String(index)}: ${'y'.repeat(20)}\r\n`).join('');
    const floods = [
      ...many(20, () => raw(server, get('/healthz', flood))),
      ...many(20, () => raw(server, get('/healthz', `X-A: ${'y'.repeat(20_000)}\r\n`))),
      ...many(20, () => raw(server, get(`/${'a'.repeat(20_000)}`))),
    ];
    await Promise.all(floods.map(({ closed }) => closed));
    expect(new Set(floods.flatMap(({ statuses }) => statuses()))).toEqual(new Set([431]));
    for (const { said } of floods) expect(said()).toContain('{"error":"the headers are too large"}');
    await flows();
  });

  it('knows nobody by a bad token', async () => {
    const tokensFile = join(pipeline.directory, 'tokens');
    await writeFile(tokensFile, `sender ${TOKEN}\n`);
    const server = await under({ tokensFile });
    const bad = ['', 'Bearer', 'Bearer ', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, `Basic ${TOKEN}`, `Bearer ${'z'.repeat(12_000)}`, TOKEN, `bearer\t${TOKEN}`]; // prettier-ignore
    const before = await pipeline.mailbox.bounds();
    for (const authorization of bad) {
      const headers = { authorization };
      const sent = await fetch(`${server.url}/cminmsgs/send`, {
        method: 'POST',
        body: remarkText('bad'),
        headers,
      });
      expect([authorization.slice(0, 40), sent.status]).toEqual([authorization.slice(0, 40), 401]);
    }
    expect(await pipeline.mailbox.bounds()).toEqual(before);
    // A sender may not read.
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${server.url}/api/v1/status`, { headers })).status).toBe(403);
    await flows();
  });

  it('leads no address out of the console, and none to a failure', async () => {
    const server = await under();
    const paths = [
      '/..%2f..%2fpackage.json', '/%2e%2e/%2e%2e/package.json', '/../../package.json', '/..\\..\\package.json', '/%5c..%5c..%5cpackage.json',
      '/%00', '/index.html%00.js', '/%', '/%c0%ae%c0%ae/package.json', '/%ff', '//evil.example/', '/.git/config', '/assets/..%2f..%2f..%2fpackage.json',
      '/api/v1/flights/..%2f..%2fetc%2fpasswd', '/api/v1/flights/%00', `/api/v1/flights/${'9'.repeat(8_000)}`, '/api/v1/flights?day=%00', '/api/v1/flights?after=%00',
      '/api/v1/flights?limit=-1&limit=x', '/api/v1/flights?__proto__[a]=b', '/api//v1/flights/1', '/cminmsgs/send',
    ]; // prettier-ignore
    for (const path of paths) {
      const one = raw(server, get(path, 'Connection: close\r\n'));
      await one.closed;
      const [status = 0] = one.statuses();
      expect([path, status < 500 && status >= 200]).toEqual([path, true]);
      expect([path, one.said().includes('"msgexchange"'), one.said().includes('[core]')]).toEqual([
        path,
        false,
        false,
      ]);
    }
    await flows();
  });

  it('ends a connection on which rubbish follows a request', async () => {
    const server = await under();
    const junk = [
      raw(server, get('/healthz') + 'junk\r\n\r\n'),
      raw(server, get('/healthz') + get('/healthz') + '\0\x01\x02'),
      raw(
        server,
        post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n') +
          '0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n',
      ),
      raw(server, post('Content-Length: 5\r\nContent-Length: 6\r\n') + '<MSG/>'),
      raw(server, post('Transfer-Encoding: chunked\r\n') + 'zz\r\n'),
      raw(server, 'GET /healthz HTTP/1.1\r\n\r\n'),
      raw(server, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
    ];
    await Promise.all(junk.map(({ closed }) => closed));
    expect(junk.map(({ statuses }) => statuses().at(-1))).toEqual(junk.map(() => 400));
    const piped = raw(server, get('/healthz').repeat(2_000));
    await until('all answers', () => (piped.statuses().length === 2_000 ? true : null));
    piped.socket.destroy();
    await flows();
  });

  it('has so many connections and no more, and takes new ones when old ones have gone', async () => {
    const server = await under({ maxConnections: 30 });
    const idle = many(30, () => raw(server, get('/healthz')));
    for (const one of idle) await until('an answer', () => one.statuses()[0] ?? null);
    const more = many(30, () => raw(server, get('/healthz')));
    await expect.poll(() => more.filter(({ socket }) => socket.closed).length, { timeout: 10_000 }).toBe(30);
    expect(more.flatMap(({ statuses }) => statuses())).toEqual([]);
    await flows();
    for (const { socket } of idle) socket.destroy();
    await until('a free place', async () => {
      const answer = await fetch(`${server.url}/healthz`).catch(() => null);
      return answer?.status === 200 ? true : null;
    });
  });
});
