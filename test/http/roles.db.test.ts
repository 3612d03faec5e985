/** Every route of a running server × everybody who may come: the server's own list, so that none can be forgotten. */
import { writeFile } from 'node:fs/promises';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '../../src/http/server.ts';
import { makeToken } from '../../src/http/tokens.ts';
import { schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline } from '../kit/service-pipeline.ts';
import { fetch } from './described.ts';
import { serve, type Started } from './kit.ts';

const TOKENS = {
  sender: makeToken('sender', 'upstream'),
  viewer: makeToken('viewer', 'tower'),
  operator: makeToken('operator', 'night-desk'),
};
/** Who comes to a server with tokens, by the header that they bring. */
const CALLERS = {
  'no token': null,
  'a bad token': `Bearer ${makeToken('operator', 'night-desk').token}`,
  'another scheme': `Basic ${Buffer.from(TOKENS.operator.token).toString('base64')}`,
  sender: `Bearer ${TOKENS.sender.token}`,
  viewer: `Bearer ${TOKENS.viewer.token}`,
  operator: `Bearer ${TOKENS.operator.token}`,
} as const;

interface Row {
  /** As in {@link CALLERS}. */
  readonly withTokens: readonly number[];
  /** On a server without tokens: under a name of loopback, and under a foreign name that leads there. */
  readonly withoutTokens: readonly [loopback: number, foreign: number];
  readonly body: string | null;
}

/** Rows by who is let in, with what those are answered. */
const everybody = (status: number, body: string | null = null): Row => ({
  withTokens: Object.keys(CALLERS).map(() => status),
  withoutTokens: [status, status],
  body,
});
const allow =
  (sender: boolean, viewer: boolean) =>
  (status: number, body: string | null = null): Row => ({
    withTokens: [401, 401, 401, sender ? status : 403, viewer ? status : 403, status],
    withoutTokens: [status, 403],
    body,
  });
const tokens = allow(true, true);
const senders = allow(true, false);
const viewers = allow(false, true);
const operators = allow(false, false);

const LDM =
  '<MSG><META><SNDR>AODB</SNDR><SEQN>1</SEQN><DTTM>20260314060000</DTTM><TYPE>LDM</TYPE><STYP>NONE</STYP></META></MSG>';
const TRY = '{"dryRun":true}';
const TRY_ALL = '{"dryRun":true,"all":true}';

/** Trials alone, so that each row finds the state that the others found. HEAD is answered as GET. */
const ROUTES: Readonly<Record<string, Row>> = {
  'GET /healthz': everybody(200),
  'GET /readyz': everybody(200),
  'GET /metrics': everybody(200),
  'GET /api/openapi.json': everybody(200),
  'POST /cminmsgs/send': senders(201, LDM),
  'GET /api/v1/session': tokens(200),
  'POST /api/v1/session': {
    ...{ withTokens: Object.keys(CALLERS).map(() => 401), withoutTokens: [409, 409] },
    body: '{"token":"a guess"}',
  },
  'DELETE /api/v1/session': tokens(204),
  'GET /api/v1/status': viewers(200),
  'GET /api/v1/stream': viewers(200),
  'GET /api/v1/series': viewers(200),
  'GET /api/v1/instance': viewers(200),
  'GET /api/v1/flights': viewers(200),
  'GET /api/v1/flights/:flid': viewers(200),
  'GET /api/v1/flights/:flid/versions': viewers(200),
  'GET /api/v1/search/flights': viewers(400),
  'GET /api/v1/messages': viewers(200),
  'GET /api/v1/messages/:id': viewers(200),
  'GET /api/v1/messages/:id/decoded': viewers(200),
  'GET /api/v1/messages/:id/text': operators(200),
  'GET /api/v1/events': viewers(200),
  'GET /api/v1/outbox': viewers(200),
  'GET /api/v1/audit': viewers(200),
  'GET /api/v1/reference': viewers(200),
  'GET /api/v1/reference/:rtype': viewers(200),
  'GET /api/v1/reference/:rtype/:rkey': viewers(404),
  'GET /api/v1/requests': viewers(200),
  'GET /api/v1/dlq': viewers(200),
  'GET /api/v1/dlq/:id': operators(200),
  'GET /api/v1/backfill': viewers(200),
  'GET /api/v1/backfill/export': viewers(200),
  'POST /api/v1/stations/:station/pause': operators(200, TRY),
  'POST /api/v1/stations/:station/resume': operators(409, TRY),
  'POST /api/v1/actions/republish': operators(200, TRY_ALL),
  'POST /api/v1/actions/skip': operators(409, '{"dryRun":true,"id":"1"}'),
  'POST /api/v1/actions/replay': operators(409, '{"dryRun":true,"class":"EXHAUSTED"}'),
  'POST /api/v1/actions/dlq/retry': operators(409, TRY_ALL),
  'POST /api/v1/actions/dlq/drop': operators(409, TRY_ALL),
  'POST /api/v1/actions/backfill/reopen': operators(409, TRY_ALL),
  'POST /api/v1/actions/backfill/confirm': operators(409, TRY_ALL),
  'POST /api/v1/actions/request/schedule': operators(200, '{"dryRun":true,"from":"2026-03-14"}'),
  'POST /api/v1/actions/request/reference': operators(200, '{"dryRun":true,"type":"ARPT"}'),
};

/** What an operator is answered to a change, by what the body says. Each is refused, and changes nothing. */
const REFUSED: readonly (readonly [path: string, body: string, status: number])[] = [
  ['/api/v1/stations/backfill/pause', '{}', 400],
  ['/api/v1/stations/backfill/pause', '{"reason":" "}', 400],
  ['/api/v1/stations/backfill/pause', '["reason"]', 400],
  ['/api/v1/stations/backfill/pause', 'reason', 400],
  ['/api/v1/stations/nowhere/pause', '{"reason":"test"}', 404],
  ['/api/v1/stations/backfill/resume', '{"reason":"test"}', 409],
  ['/api/v1/actions/republish', '{"reason":"test","all":true,"flid":"1"}', 400],
  ['/api/v1/actions/republish', '{"reason":"test","flid":"4711"}', 409],
  ['/api/v1/actions/republish', '{"all":true,"acceptPartitions":true,"reason":"no Kafka here"}', 409],
  ['/api/v1/actions/skip', '{"id":"4711"}', 400],
  ['/api/v1/actions/skip', '{"id":"-1","reason":"test"}', 400],
  ['/api/v1/actions/skip', '{"id":"4711","reason":"test"}', 409],
  ['/api/v1/actions/dlq/retry', '{"ids":["4711"],"reason":"test"}', 409],
  ['/api/v1/actions/dlq/drop', '{"ids":[],"reason":"test"}', 400],
  ['/api/v1/actions/dlq/drop', '{"all":true}', 400],
  ['/api/v1/actions/backfill/reopen', '{"ids":["4711"],"reason":"test"}', 409],
  ['/api/v1/actions/backfill/confirm', '{"ids":["x"],"reason":"test"}', 400],
  ['/api/v1/actions/replay', '{"class":"EXHAUSTED","reason":"test"}', 409],
  ['/api/v1/actions/replay', '{"class":"PROTOCOL","reason":"test"}', 400],
  ['/api/v1/actions/request/reference', '{"type":"ARPT"}', 400],
];

describe.skipIf(postgresMissing !== null)('routes and roles', () => {
  let pipeline: Started;
  let guarded: HttpServer;
  let open: HttpServer;
  /** For the parts of a path. */
  let samples: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const created = await createPipeline();
    pipeline = { ...created, running: await created.start() };
    const file = join(pipeline.directory, 'tokens');
    await writeFile(
      file,
      Object.values(TOKENS)
        .flatMap(({ line }) => ['# one of us', line])
        .join('\n'),
    );
    // Bad tokens come in numbers here that would otherwise be slowed down.
    guarded = await serve(pipeline, { tokensFile: file, maxFailures: 10_000 });
    open = await serve(pipeline);
    await pipeline.mailbox.insert(schedule('700001'));
    await pipeline.drained();
    const [event] = await pipeline.rows<{ id: string }>('select min(event_id)::text as id from msg_event');
    samples = {
      flid: '700001',
      station: 'backfill',
      rtype: 'ARPT',
      rkey: 'PEK',
      message: '1',
      dlq: event!.id,
    };
  });
  afterAll(async () => {
    await Promise.all([guarded.close(), open.close()]);
    await pipeline.close();
  });

  function addressOf(path: string): string {
    return path
      .replaceAll(/:(\w+)/g, (_, name: string) => {
        const key = name === 'id' ? (path.includes('/dlq/') ? 'dlq' : 'message') : name;
        return samples[key] ?? 'nothing';
      })
      .replace('*', 'index.html');
  }

  it('stand in this table, all of them and no other', () => {
    const described = guarded.routes.filter(({ description }) => description !== null);
    const names = described.filter(({ method }) => method !== 'HEAD');
    expect(names.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(ROUTES).sort());
    for (const { method, path } of described) {
      if (method === 'HEAD') expect(Object.keys(ROUTES)).toContain(`GET ${path}`);
    }
    expect(open.routes.map(({ path }) => path)).toEqual(guarded.routes.map(({ path }) => path));
  });

  it('answer each caller of a server with tokens as the table says', async () => {
    const told: string[] = [];
    const wanted: string[] = [];
    for (const { method, path, description } of guarded.routes) {
      const row =
        description === null ? everybody(200) : ROUTES[`${method === 'HEAD' ? 'GET' : method} ${path}`]!;
      for (const [index, [caller, authorization]] of Object.entries(CALLERS).entries()) {
        const abort = new AbortController();
        const { status } = await fetch(guarded.url + addressOf(path), {
          ...{ method, body: row.body, signal: abort.signal },
          headers: authorization === null ? {} : { authorization },
        });
        abort.abort();
        told.push(`${method} ${path}, ${caller}: ${String(status)}`);
        wanted.push(`${method} ${path}, ${caller}: ${String(row.withTokens[index])}`);
      }
    }
    expect(told).toEqual(wanted);
  });

  it('are open to loopback alone where there are no tokens', async () => {
    const { port } = new URL(open.url);
    const statusUnder = (host: string, method: string, path: string, body: string | null) =>
      new Promise<number>((resolve, reject) => {
        const headers = {
          host: `${host}:${port}`,
          ...(body === null ? {} : { 'content-length': body.length }),
        };
        const asked = ask({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
          resolve(answer.statusCode ?? 0);
          answer.destroy();
        });
        asked.on('error', reject);
        asked.end(body ?? undefined);
      });
    const told: string[] = [];
    const wanted: string[] = [];
    for (const { method, path, description } of open.routes) {
      const row =
        description === null ? everybody(200) : ROUTES[`${method === 'HEAD' ? 'GET' : method} ${path}`]!;
      for (const [index, host] of ['localhost', 'msgx.example'].entries()) {
        const status = await statusUnder(host, method, addressOf(path), row.body);
        told.push(`${method} ${path}, ${host}: ${String(status)}`);
        wanted.push(`${method} ${path}, ${host}: ${String(row.withoutTokens[index])}`);
      }
    }
    expect(told).toEqual(wanted);
  });

  it('nothing else is answered, whoever asks', async () => {
    for (const [method, path] of [
      ['GET', '/api/v1/nothing'],
      ['POST', '/api/v1/status'],
      ['PUT', '/api/v1/session'],
      ['GET', '/api/v1/actions/skip'],
    ] as const) {
      for (const authorization of [null, `Bearer ${TOKENS.operator.token}`]) {
        const answer = await fetch(guarded.url + path, {
          method,
          headers: authorization === null ? {} : { authorization },
        });
        expect(answer.status, `${method} ${path}`).toBe(404);
      }
    }
  });

  it('refuse a change whose body does not say enough, or that the state forbids', async () => {
    const audits = () => pipeline.rows('select 1 from op_audit');
    const before = await audits();
    for (const [path, body, status] of REFUSED) {
      const answer = await fetch(guarded.url + path, {
        ...{ method: 'POST', body },
        headers: { authorization: `Bearer ${TOKENS.operator.token}`, 'content-type': 'application/json' },
      });
      expect(answer.status, `${path} ${body}`).toBe(status);
    }
    expect(await audits()).toEqual(before);
  });
});
