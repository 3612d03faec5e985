/** Tokens, sessions, foreign pages, headers, limits and what viewers do not see, on a running service. */
import { writeFile } from 'node:fs/promises';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenFile, digestOf, makeToken } from '../../src/http/tokens.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { scheduleText } from '../scenarios/texts.ts';
import type { HttpServer } from '../../src/http/server.ts';
import { serve, type Started } from './kit.ts';
import { fetch } from './described.ts';

const OPERATOR = makeToken('operator', 'night-desk');
const VIEWER = makeToken('viewer', 'tower');
const SECOND = makeToken('operator', 'day-desk');
const PERSON = 'PERSON-CODE-7';

describe.skipIf(postgresMissing !== null)('security of HTTP', () => {
  let pipeline: Started;
  let tokens: string;
  let url: string;
  const lines: string[] = [];
  const servers: HttpServer[] = [];

  beforeAll(async () => {
    const folder = await createPipeline({
      settings: { events: { 'vip-persons': true } },
      onLog: (line) => lines.push(line),
    });
    tokens = join(folder.directory, 'tokens');
    await writeFile(tokens, [OPERATOR, VIEWER, SECOND].map(({ line }) => line).join('\n'));
    pipeline = { ...folder, running: await folder.start() };
    const server = await serve(pipeline, { tokensFile: tokens });
    servers.push(server);
    url = server.url;
    await pipeline.mailboxSide.insertAt(1n, scheduleText());
    await pipeline.drained();
    await pipeline.client.query(`update flight_schd set state = jsonb_set(state, '{vips}', $1)`, [
      JSON.stringify([{ code: PERSON, entourage: 2 }]),
    ]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await pipeline.close();
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const pause = (headers: Record<string, string>, what: 'pause' | 'resume' = 'pause') =>
    fetch(`${url}/api/v1/stations/backfill/${what}`, {
      method: 'POST',
      body: '{"reason":"test"}',
      headers,
    });
  async function signIn(token: string): Promise<string> {
    const answer = await fetch(`${url}/api/v1/session`, {
      method: 'POST',
      body: JSON.stringify({ token }),
      headers: { origin: url },
    });
    expect(answer.status).toBe(201);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^msgx_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(token);
    return cookie.split(';')[0] ?? '';
  }

  it('names the token in the audit, and where the change is made by a session too', async () => {
    expect((await pause(bearer(OPERATOR.token))).status).toBe(200);
    const cookie = await signIn(SECOND.token);
    expect((await pause({ cookie, origin: url }, 'resume')).status).toBe(200);
    const rows = await pipeline.rows<{ who: string }>('select who from op_audit order by audit_id');
    expect(rows.map(({ who }) => who)).toEqual(['http:night-desk', 'http:day-desk']);
  });

  it('lets a session read, and change only from its own page', async () => {
    const cookie = await signIn(OPERATOR.token);
    const who = await fetch(`${url}/api/v1/session`, { headers: { cookie } });
    expect(await who.json()).toEqual({ name: 'night-desk', role: 'operator', signIn: true });
    const foreign = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: url, 'sec-fetch-site': 'cross-site' },
      { origin: url, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) expect((await pause({ cookie, ...headers })).status).toBe(403);
    const login = await fetch(`${url}/api/v1/session`, {
      method: 'POST',
      body: JSON.stringify({ token: OPERATOR.token }),
      headers: { origin: 'https://evil.example' },
    });
    expect(login.status).toBe(403);
    const out = await fetch(`${url}/api/v1/session`, { method: 'DELETE', headers: { cookie, origin: url } });
    expect(out.status).toBe(204);
    // Not forgotten by the browser alone.
    expect((await fetch(`${url}/api/v1/session`, { headers: { cookie } })).status).toBe(401);
  });

  it('without tokens answers names of loopback only, and changes from its own page', async () => {
    const open = await serve(pipeline);
    servers.push(open);
    const { port, host } = new URL(open.url);
    const status = (method: string, headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const path = method === 'GET' ? '/api/v1/status' : '/api/v1/stations/backfill/resume';
        const asked = ask({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        asked.on('error', reject);
        asked.end(method === 'GET' ? undefined : '{"reason":"test"}');
      });
    expect(await status('GET', { host: `evil.example:${port}` })).toBe(403);
    expect(await status('GET', { host: `127.0.0.1.evil.example:${port}` })).toBe(403);
    expect(await status('GET', { host: `localhost:${port}` })).toBe(200);
    expect(await status('POST', { host, origin: 'https://evil.example' })).toBe(403);
    // Not paused: refused by the state, not by the origin.
    expect(await status('POST', { host, origin: open.url })).toBe(409);
    expect(await status('POST', { host })).toBe(409);
  });

  it('binds browsers by headers', async () => {
    const { headers } = await fetch(`${url}/api/v1/status`, { headers: bearer(VIEWER.token) });
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('permissions-policy')).toContain('camera=()');
    expect(headers.get('cache-control')).toBe('no-store');
    const stream = new AbortController();
    const live = await fetch(`${url}/api/v1/stream`, {
      headers: bearer(VIEWER.token),
      signal: stream.signal,
    });
    expect(live.headers.get('content-security-policy')).toBe(policy);
    stream.abort();
  });

  it('names VIP persons to operators only', async () => {
    const [flight] = await pipeline.rows<{ flid: string }>('select flid from flight_schd');
    const seen = async (token: string) => {
      const texts = await Promise.all(
        ['flights', `flights/${flight?.flid ?? ''}`].map(async (path) =>
          (await fetch(`${url}/api/v1/${path}`, { headers: bearer(token) })).text(),
        ),
      );
      return texts.map((text) => [text.includes(PERSON), text.includes('"entourage":2')]);
    };
    expect(await seen(OPERATOR.token)).toEqual([[true, true], [true, true]]); // prettier-ignore
    expect(await seen(VIEWER.token)).toEqual([[false, true], [false, true]]); // prettier-ignore
  });

  it('slows down whoever guesses tokens, and a token that asks too much', async () => {
    const server = await serve(pipeline, { tokensFile: tokens, maxFailures: 3, maxRequests: 5 });
    servers.push(server);
    const status = async (token: string) =>
      (await fetch(`${server.url}/api/v1/status`, { headers: bearer(token) })).status;
    const many = async (token: string, count: number) => {
      const found: number[] = [];
      for (let n = 0; n < count; n += 1) found.push(await status(token));
      return found;
    };
    expect(await many(VIEWER.token, 6)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await status(OPERATOR.token)).toBe(200);
    expect(await many('guess', 4)).toEqual([401, 401, 401, 429]);
    const late = await fetch(`${server.url}/api/v1/status`, { headers: bearer(OPERATOR.token) });
    expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  it('forgets a revoked token with its sessions and streams, and keeps its tokens where the file is broken', async () => {
    const cookie = await signIn(SECOND.token);
    const stream = await fetch(`${url}/api/v1/stream`, { headers: { cookie } });
    const ended = stream.text();
    await writeFile(tokens, [OPERATOR, VIEWER].map(({ line }) => line).join('\n'));
    await until('the token to be forgotten', async () => {
      const answer = await fetch(`${url}/api/v1/status`, { headers: bearer(SECOND.token) });
      return answer.status === 401 ? true : null;
    });
    expect((await fetch(`${url}/api/v1/status`, { headers: { cookie } })).status).toBe(401);
    expect(await ended).toContain('event: status');
    const errors: string[] = [];
    const said = (fields: object, message: string) => errors.push(`${message} ${JSON.stringify(fields)}`);
    const file = await TokenFile.open(tokens, { ...SILENT, error: said });
    await writeFile(tokens, `operator ${SECOND.token} ${SECOND.token}`);
    await until('the fault to be told', async () => {
      await file.refresh();
      return errors.length > 0 ? true : null;
    });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('tokens:1: expected ROLE NAME HASH');
    expect(errors[0]).not.toContain(SECOND.token);
    expect(file.find(digestOf(VIEWER.token))?.name).toBe('tower');
    const told = lines.join('\n');
    for (const { token } of [OPERATOR, VIEWER, SECOND]) expect(told).not.toContain(token);
  });
});
