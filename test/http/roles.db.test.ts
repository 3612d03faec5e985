import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Access } from '../../src/http/access.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type Running, type TestPipeline } from '../kit/service-pipeline.ts';

const TOKENS = {
  none: null,
  bad: 'not-a-token-of-this-house',
  sender: 'sender-token-0123456789',
  viewer: 'viewer-token-0123456789',
  operator: 'operator-token-0123456789',
} as const;
type Caller = keyof typeof TOKENS;
const CALLERS = Object.keys(TOKENS) as readonly Caller[];

const MESSAGE =
  '<MSG><META><SNDR>AODB</SNDR><SEQN>1</SEQN><DTTM>20260314060000</DTTM><TYPE>LDM</TYPE><STYP>NONE</STYP></META></MSG>';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly expected: readonly number[];
}

/** Route, body, and the status for each caller: none, bad, sender, viewer, operator. */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/healthz', body: null, expected: [200, 200, 200, 200, 200] },
  { method: 'GET', path: '/readyz', body: null, expected: [200, 200, 200, 200, 200] },
  { method: 'GET', path: '/metrics', body: null, expected: [200, 200, 200, 200, 200] },
  { method: 'POST', path: '/cminmsgs/send', body: MESSAGE, expected: [401, 401, 201, 403, 201] },
  { method: 'GET', path: '/api/v1/status', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/flights', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/flights/700001', body: null, expected: [401, 401, 403, 404, 404] },
  { method: 'GET', path: '/api/v1/events', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/audit', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/requests', body: null, expected: [401, 401, 403, 200, 200] },
  {
    method: 'POST',
    path: '/api/v1/actions/request/schedule',
    body: '{"reason":"test","from":"2026-03-14"}',
    expected: [401, 401, 403, 403, 200],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/request/reference',
    body: '{"type":"ARPT"}',
    expected: [401, 401, 403, 403, 400],
  },
  { method: 'GET', path: '/api/v1/stream', body: null, expected: [401, 401, 403, 200, 200] },
  {
    method: 'POST',
    path: '/api/v1/actions/republish',
    body: '{"reason":"test","all":true}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/republish',
    body: '{"reason":"test","all":true,"flid":"1"}',
    expected: [401, 401, 403, 403, 400],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/republish',
    body: '{"all":true,"acceptPartitions":true,"reason":"no Kafka here"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/stations/backfill/pause',
    body: '{"reason":"test"}',
    expected: [401, 401, 403, 403, 200],
  },
  {
    method: 'POST',
    path: '/api/v1/stations/backfill/resume',
    body: '{"reason":"test"}',
    expected: [401, 401, 403, 403, 200],
  },
  {
    method: 'POST',
    path: '/api/v1/stations/backfill/resume',
    body: '{"reason":"test"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/stations/backfill/pause',
    body: '{}',
    expected: [401, 401, 403, 403, 400],
  },
  {
    method: 'POST',
    path: '/api/v1/stations/nowhere/pause',
    body: '{"reason":"test"}',
    expected: [401, 401, 403, 403, 404],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/skip',
    body: '{"id":"4711","reason":"test"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/skip',
    body: '{"id":"4711"}',
    expected: [401, 401, 403, 403, 400],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/skip',
    body: '{"id":"-1","reason":"test"}',
    expected: [401, 401, 403, 403, 400],
  },
  { method: 'GET', path: '/api/v1/dlq', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/dlq/4711', body: null, expected: [401, 401, 403, 403, 404] },
  {
    method: 'POST',
    path: '/api/v1/actions/dlq/retry',
    body: '{"ids":["4711"],"reason":"test"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/dlq/drop',
    body: '{"ids":[],"reason":"test"}',
    expected: [401, 401, 403, 403, 400],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/dlq/drop',
    body: '{"all":true}',
    expected: [401, 401, 403, 403, 400],
  },
  { method: 'GET', path: '/api/v1/backfill', body: null, expected: [401, 401, 403, 200, 200] },
  { method: 'GET', path: '/api/v1/backfill/export', body: null, expected: [401, 401, 403, 200, 200] },
  {
    method: 'POST',
    path: '/api/v1/actions/backfill/reopen',
    body: '{"ids":["4711"],"reason":"test"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/backfill/confirm',
    body: '{"ids":["x"],"reason":"test"}',
    expected: [401, 401, 403, 403, 400],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/replay',
    body: '{"class":"EXHAUSTED","reason":"test"}',
    expected: [401, 401, 403, 403, 409],
  },
  {
    method: 'POST',
    path: '/api/v1/actions/replay',
    body: '{"class":"PROTOCOL","reason":"test"}',
    expected: [401, 401, 403, 403, 400],
  },
  { method: 'GET', path: '/api/v1/nothing', body: null, expected: [404, 404, 404, 404, 404] },
];

describe.skipIf(postgresMissing !== null)('routes and roles', () => {
  let pipeline: TestPipeline;
  let running: Running;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'msgx-roles-'));
    const file = join(folder, 'tokens');
    const lines = (['sender', 'viewer', 'operator'] as const).map((role) => `${role} ${TOKENS[role]}`);
    await writeFile(file, ['# who may do what', '', ...lines].join('\n'));
    pipeline = await createPipeline({ settings: { http: { listen: '127.0.0.1:0', 'tokens-file': file } } });
    running = await pipeline.start();
  });
  afterAll(async () => {
    await pipeline.close();
    await rm(folder, { recursive: true });
  });

  it.each(ROUTES)('$method $path $body', async ({ method, path, body, expected }) => {
    for (const [index, caller] of CALLERS.entries()) {
      const token = TOKENS[caller];
      const abort = new AbortController();
      const response = await fetch(running.url + path, {
        method,
        body,
        signal: abort.signal,
        headers: {
          'content-type': body?.startsWith('{') === true ? 'application/json' : 'application/xml',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      });
      abort.abort();
      expect(response.status, caller).toBe(expected[index]);
    }
  });
});

describe('the tokens file', () => {
  it.each([
    ['an unknown role', 'admin 0123456789abcdef', /:1: expected ROLE TOKEN/],
    ['a short token', '# a\nviewer short', /:2: expected ROLE TOKEN/],
    ['a third word', 'viewer 0123456789abcdef x', /:1: expected ROLE TOKEN/],
  ])('names the line of %s and keeps the token to itself', async (_, text, message) => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-tokens-'));
    const file = join(folder, 'tokens');
    await writeFile(file, text);
    const refused = await Access.load(file).then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(refused).toMatch(message);
    expect(refused).not.toContain('0123456789abcdef');
    await rm(folder, { recursive: true });
  });
});
