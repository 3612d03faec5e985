/** The page Health after an hour of traffic: what the charts say of it, drawn and as numbers. */
import { beforeAll, expect, it } from 'vitest';
import { describeLive, settles } from './live-pages.ts';
import { screenshot } from './screenshot.ts';

/** Messages of the hour: in waves, a flight in turn, each with an event. */
const MESSAGES = 3_600;

describeLive('the page Health on an hour of traffic', {}, (on) => {
  beforeAll(async () => {
    await on.pipeline.rows(
      `insert into proc_state (msg_id, type, styp, state, received_at, enqueued_at, terminal_at, terminal_seq, backfill_at)
       select row_number() over (order by at), 'FLOP', 'GTDT', 'SUCCEEDED', at, at, at + wait, row_number() over (order by at), at + wait
       from (select now() - interval '2 minutes' - interval '1 hour' * (n + 0.12 * sin(n * 6 * pi())) as at,
           interval '1 millisecond' * (8 + 30 * abs(sin(n * 40)) + case when n between 0.3 and 0.36 then 900 else 0 end) as wait
         from (select i::float8 / $1 as n from generate_series(1, $1::integer) i) s) t`,
      [MESSAGES],
    );
    await on.pipeline.rows(
      `insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
       select 'KAFKA:msg', (700000 + msg_id % 300)::text, 'UPSERT', 1 + msg_id / 300, 'SENT',
         terminal_at + interval '1 millisecond' * (4 + msg_id % 23), msg_id, terminal_at, '{}' from proc_state`,
    );
    await on.pipeline.rows('analyze');
  });

  it('draws throughput, latency and backlog of the hour', async () => {
    await on.open('#/health', { viewport: { width: 1440, height: 1_000 } });
    await on.page.getByTestId('lease').waitFor();
    const said = (title: string) =>
      on.page.getByRole('figure').filter({ hasText: title }).getByRole('img').getAttribute('aria-label');
    await settles(() => said('Throughput')).toMatch(/Enqueued: now \d+, at most \d{2,3}\./);
    // The wave of waiting is seen: nearly a second where all else took a twentieth of it.
    expect(await said('Latency')).toMatch(/Processing, 99 %: now 0(\.0\d+)?, at most 0\.9\d/);
    expect(await said('Backlog')).toMatch(/Not ended: now 0/);
    const throughput = on.page.getByRole('figure').filter({ hasText: 'Throughput' });
    await settles(() => throughput.locator('canvas').count()).toBe(1);
    await screenshot(on.page, 'health');
    await throughput.getByText('As a table').click();
    const sent = await throughput.locator('tbody td:nth-child(4)').allInnerTexts();
    const sum = sent.reduce((total, text) => total + (text === '–' ? 0 : Number(text)), 0);
    expect(sum).toBeGreaterThan(MESSAGES * 0.8);
    expect(sum).toBeLessThanOrEqual(MESSAGES);
    expect(on.faults).toEqual([]);
  });
});
