/** A pipeline that has one request or report to send, our SEQN just wrapped; and how that has to end. */
import { expect } from 'vitest';
import { mariadb } from '../kit/mariadb.ts';
import { preparePipeline, type Closing, type Settings, type TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import type { KillCase, What } from './request-kill-cases.ts';

/** `requests.daily-at` midnight asks once a calendar day: in a zone whose midnight is not near. */
export const ZONE = new Date().getUTCHours() === 15 ? 'UTC' : 'Asia/Shanghai';
/** Logged when a station meets an outage. */
export const OUTAGE = 'station paused: a dependency is not available';

export type Kind = 'MariaDB' | 'PostgreSQL';

/** Prepares it: a request that the service makes by itself, or a malformed message. */
export async function prepareSending(
  test: Closing,
  kind: Kind,
  { what, timeout = '1h' }: Pick<KillCase, 'what' | 'timeout'>,
): Promise<TestPipeline> {
  const settings: Settings = {
    'time-zone': ZONE,
    mailbox: { timeout: '1s' },
    requests: { timeout, ...(what === 'request' ? { 'daily-at': '00:00' } : {}) },
  };
  const pipeline = await preparePipeline(test, {
    settings,
    ...(kind === 'MariaDB' ? { mariadb: await mariadb() } : {}),
  });
  // Rows of a former round of the counter, which comes to their SEQN next.
  for (const sequence of ['1', '2']) {
    const header = { sender: 'MSGX', sequence, dttm: '2026-01-01T00:00:00+08:00' };
    await pipeline.mailboxSide.insertOutbound(
      pipeline.dialect.encode(header, { kind: 'reference-request', rtype: 'OLD' }),
    );
  }
  await pipeline.rows('update outbound_counter set last = 999999');
  if (what === 'report') await pipeline.mailboxSide.insertAt(1n, '<MSG><META>');
  return pipeline;
}

const RECORDS: Readonly<Record<What, string>> = {
  request: `select concat_ws(' ', state, matched, expired_because) as state, seqn::text, out_id::text as "outId",
    look_at is not null as open from req_track order by req_id`,
  report: `select state, seqn::text, out_id::text as "outId", look_at is not null as open from error_report`,
};

/**
 * Waits until nothing is left to do; then there is one row, and it is the one that the record names.
 * @returns what was expected and what was found, in words
 */
export async function expectEnd(
  pipeline: TestPipeline,
  { what, ended = ['SENT'] }: Pick<KillCase, 'what' | 'ended'>,
): Promise<readonly [string, string]> {
  const records = () =>
    pipeline.rows<{ state: string; seqn: string; outId: string | null; open: boolean }>(RECORDS[what]);
  let standing: unknown = null;
  const settled = await until(
    'the record to say how it ended',
    async () => {
      const found = await records();
      standing = found;
      return found.length === ended.length &&
        found.every(({ state, open }, index) => state === ended[index] && !open)
        ? found
        : null;
    },
    { timeoutMs: 30_000, standing: () => standing },
  );
  const sent = (await pipeline.mailboxSide.outboundRows())
    .filter(({ text }) => !text.includes('OLD'))
    .map(({ id, text }) => `ID ${id} SEQN ${String(/<SEQN>(\d+)</.exec(text)?.[1])}`);
  const named = settled.flatMap(({ seqn, outId }) => (outId === null ? [] : [`ID ${outId} SEQN ${seqn}`]));
  const expected = `${ended.join(', ')}; 1 row`;
  const found = `${settled.map(({ state }) => state).join(', ')}; ${String(sent.length)} row`;
  expect(found).toBe(expected);
  expect(sent).toEqual(named);
  const [counter] = await pipeline.rows<{ last: number }>('select last from outbound_counter');
  expect(counter).toEqual({ last: ended.length });
  return [expected, found];
}
