/** Requests over HTTP: registered, sent by the running service, answered, listed page by page, audited. */
import { expect, it, describe } from 'vitest';
import { mariadb, mariadbMissing } from '../kit/mariadb.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { startPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { fetch } from './described.ts';

interface Listed {
  readonly requests: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

describe.skipIf(postgresMissing !== null || mariadbMissing !== null)('requests over HTTP', () => {
  it('go to the upstream in MariaDB, and their answer ends them', async (context) => {
    const pipeline = await startPipeline(context, {
      mariadb: await mariadb(),
      settings: { requests: { routing: { schedule: 'AODB' } } },
    });
    const { url } = pipeline.running;
    const ask = async (what: string, body: object) => {
      const response = await fetch(`${url}/api/v1/actions/request/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [response.status, (await response.json()) as Record<string, unknown>] as const;
    };
    const list = async (query = '') =>
      (await (await fetch(`${url}/api/v1/requests${query}`)).json()) as Listed;

    const [status, asked] = await ask('schedule', { from: '2026-03-14', to: '2026-03-15', reason: 'gap' });
    expect(status).toBe(200);
    expect(asked['requests']).toMatchObject([
      { type: 'SCHD', operationDay: '2026-03-14', replaced: [] },
      { type: 'SCHD', operationDay: '2026-03-15', replaced: [] },
    ]);
    const sent = await until('both to be sent', async () => {
      const { requests } = await list();
      return requests.every(({ state }) => state === 'SENT') ? requests : null;
    });
    expect(await pipeline.mailboxSide.outbound()).toBe(2);
    expect(sent.map(({ outId }) => outId)).toEqual(['2', '1']);

    // Page by page, newest first.
    const first = await list('?limit=1');
    expect(first.requests.map(({ operationDay }) => operationDay)).toEqual(['2026-03-15']);
    const second = await list(`?limit=1&after=${String(first.next)}`);
    expect(second.requests.map(({ operationDay }) => operationDay)).toEqual(['2026-03-14']);

    const sequence = String(sent[1]?.['sequence']);
    const now = new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 19).replaceAll(/\D/g, '');
    await pipeline.mailbox.insert(
      `<MSG><META><SNDR>AODB</SNDR><SEQN>5</SEQN><DTTM>${now}</DTTM><TYPE>SCHD</TYPE><STYP>RESP</STYP>` +
        `<RSEQ>${sequence}</RSEQ></META><SCHD><RECS>1</RECS><FLTR><FLID>700001</FLID><FLNO>XX1</FLNO>` +
        `<MVIN>D</MVIN><SODT>14MAR261200</SODT></FLTR></SCHD></MSG>`,
    );
    await pipeline.drained();
    const { requests } = await list();
    expect(requests.map(({ state, matched, doneBy }) => [state, matched, doneBy])).toEqual([
      ['SENT', null, null],
      ['DONE', 'exact', '1'],
    ]);
    expect((await list('?state=open')).requests.map(({ state }) => state)).toEqual(['SENT']);
    expect((await list('?state=closed')).requests.map(({ state }) => state)).toEqual(['DONE']);
    expect((await list('?state=EXPIRED')).requests).toEqual([]);
    expect((await fetch(`${url}/api/v1/requests?state=gone`)).status).toBe(400);
    const audit = (await (await fetch(`${url}/api/v1/audit`)).json()) as {
      entries: readonly Record<string, unknown>[];
    };
    expect(audit.entries).toMatchObject([
      { who: 'http:operator', action: 'request', reason: 'gap', after: { operationDay: '2026-03-15' } },
      { who: 'http:operator', action: 'request', reason: 'gap', after: { operationDay: '2026-03-14' } },
    ]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('msgx_requests{state="SENT"} 1');
    expect(metrics).toContain('msgx_requests{state="DONE"} 1');

    for (const [what, body, error] of [
      ['schedule', { from: '2026-02-30', reason: 'x' }, '2026-02-30 is no day yyyy-MM-dd'],
      ['schedule', { from: '2026-03-15', to: 'tomorrow', reason: 'x' }, 'tomorrow is no day yyyy-MM-dd'],
      ['schedule', { from: '2026-03-15', to: '2026-03-14', reason: 'x' }, 'before the first'],
      ['schedule', { from: '2026-03-15', to: '2027-03-14', reason: 'x' }, 'at most 31 days'],
      ['schedule', { reason: 'x' }, '"from"'],
      ['schedule', { from: '2026-03-15' }, '"reason"'],
      ['reference', { type: 'NOPE', reason: 'x' }, 'no reference type NOPE'],
    ] as const) {
      const [code, answer] = await ask(what, body);
      expect(code, error).toBe(400);
      expect(answer['error']).toContain(error);
    }
    expect((await list()).requests).toHaveLength(2);
  });

  it('are refused in shadow mode', async (context) => {
    const pipeline = await startPipeline(context, {
      settings: {
        pipeline: { shadow: true },
        delivery: { kafka: { 'topic-msg': 'shadow.msg', 'topic-schd': 'shadow.schd' } },
      },
    });
    const response = await fetch(`${pipeline.running.url}/api/v1/actions/request/reference`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'ARPT', reason: 'test' }),
    });
    expect([response.status, await response.json()]).toEqual([
      409,
      { outcome: 'refused', message: 'shadow mode sends nothing upstream' },
    ]);
  });
});
