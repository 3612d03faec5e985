/** The pages on which operators work, on a running pipeline: read, without barriers, in Chinese and on a phone. */
import { beforeAll, expect, it } from 'vitest';
import { gate, schedule } from '../kit/messages.ts';
import { barriers } from './axe.ts';
import { describeLive, settles } from './live-pages.ts';
import { screenshot } from './screenshot.ts';

/** Addresses, and a test id that is there once the page has read what it shows. */
const PAGES = [
  ['now', 'verdict'],
  ['delivery', 'dead-events'],
  ['backfill', 'abandoned'],
  ['requests', 'requests'],
  ['reference', null],
  // One row stands for all: they are alike.
  ['audit?action=request', 'audit'],
  ['health', 'jobs'],
] as const;

describeLive('the pages of operators', {}, (on) => {
  beforeAll(async () => {
    await on.pipeline.mailbox.insertAll([
      ...[schedule('700001', '700002'), gate('700001', 'A1'), gate('700002', 'B1')],
      schedule('700003', '700003'),
    ]);
    await on.pipeline.drained();
    const post = async (path: string, body: object): Promise<void> => {
      const answer = await fetch(`${on.running.url}/api/v1/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
    };
    for (let round = 0; round < 30; round += 1) {
      await post('stations/requests/pause', { reason: `quiet ${String(round)}` });
      await post('stations/requests/resume', { reason: `again ${String(round)}` });
    }
    await post('actions/request/reference', { type: 'ARPT', reason: 'airports are old' });
    await on.pipeline.rows(
      `update msg_event set state = 'DEAD', attempts = 10, last_error = 'too large'
       where target = 'KAFKA:msg' and partition_key = '700002' and state_version = 2`,
    );
    await on.pipeline.rows(
      `update proc_state set backfill_at = null, backfill_attempts = 1, backfill_abandoned_at = now(),
         backfill_abandoned_reason = 'MISSING_ROW' where msg_id = 2`,
    );
  });
  /** Goes to a page without loading the console anew. */
  const go = (path: string): Promise<void> => on.page.evaluate(`location.hash = '#/${path}'; undefined`);

  it('say first on Now what needs a person, with the action or its page beside it', async () => {
    await on.open();
    await settles(() => on.page.getByTestId('verdict').innerText()).toBe(
      'A dead schedule needs a person: its flights are missing',
    );
    const verdict = on.page.getByRole('region', { name: 'Verdict' });
    await verdict.getByRole('button', { name: 'Ask for a schedule…' }).waitFor();
    const others = verdict.getByRole('list', { name: 'Also' }).getByRole('listitem');
    const dead = others.filter({ hasText: '1 event for KAFKA:msg could not be delivered' });
    await dead.getByRole('link', { name: 'Show' }).click();
    await settles(() => on.page.getByTestId('dead-events').innerText()).toMatch(/700002.*too large/s);
    expect(on.page.url()).toContain('#/delivery?target=KAFKA');
    await on.page.goBack();
    await others.filter({ hasText: '1 mark was given up' }).getByRole('link', { name: 'Show' }).click();
    await settles(() => on.page.getByTestId('abandoned').innerText()).toContain('MISSING_ROW');
    expect(on.faults).toEqual([]);
  });

  it('act on what is chosen alone where a filter hides some', async () => {
    await on.open('#/delivery');
    await on.page.getByRole('button', { name: 'Send all again…' }).waitFor();
    await on.page.getByLabel('FLID…').fill('700002');
    const retry = on.page.getByRole('button', { name: 'Send again…' });
    await settles(() => retry.isDisabled()).toBe(true);
    await on.page.getByLabel('Choose all that are shown').click();
    await settles(() => retry.isEnabled()).toBe(true);
    await on.page.getByLabel('FLID…').fill('700001');
    await on.page.getByText('No dead event.').waitFor();
    expect(await retry.isDisabled()).toBe(true);
    expect(on.faults).toEqual([]);
  });

  it('show the audit page by page, filtered, with what changed', async () => {
    await on.open('#/audit');
    const rows = on.page.getByTestId('audit').locator('tbody tr');
    const first = async () => (await rows.first().innerText()).replaceAll(/\s+/g, ' ');
    await settles(() => rows.count()).toBe(50);
    await on.page.getByRole('button', { name: 'More' }).click();
    await settles(() => rows.count()).toBe(61);
    expect(await on.page.getByRole('button', { name: 'More' }).count()).toBe(0);
    await screenshot(on.page, 'audit');
    await on.page.getByLabel('Action').selectOption({ label: 'resumed' });
    await settles(() => rows.count()).toBe(30);
    await settles(first).toMatch(/http:operator resumed station:requests again 29 .*paused true → false/);
    const paused = rows.first().locator('.difference div').filter({ hasText: 'paused' });
    expect(await paused.first().locator('del').innerText()).toBe('true');
    await on.page.getByLabel('Action').selectOption({ label: 'every action' });
    await on.page.getByLabel('What', { exact: true }).fill('request:');
    await settles(() => rows.count()).toBe(1);
    await settles(first).toContain('asked the upstream request:1 airports are old');
    await on.page.getByLabel('To', { exact: true }).fill('2001-01-01');
    await on.page.getByText('No entry.').waitFor();
    await on.page.reload();
    await on.page.getByText('No entry.').waitFor();
    await on.page.getByLabel('To', { exact: true }).fill('');
    await on.page.getByLabel('Who').fill('http:nobody');
    await on.page.getByText('No entry.').waitFor();
    await on.page.getByLabel('Who').fill('http:operator');
    await settles(() => rows.count()).toBe(1);
    expect(on.faults).toEqual([]);
  });

  it('show health: what is reachable, the jobs, and charts with their numbers', async () => {
    await on.open('#/health');
    await settles(() => on.page.getByTestId('connections').innerText()).toMatch(
      /Database\s+reachable\s+Mailbox\s+reachable\s+Delivery\s+reachable/,
    );
    expect(await on.page.getByTestId('instance').innerText()).toMatch(/all turning[\s\S]*active/);
    const [lease] = await on.pipeline.rows<{ epoch: string; holder: string }>(
      'select epoch::text as epoch, holder from lease',
    );
    const told = on.page.getByTestId('lease');
    await settles(() => told.innerText()).toContain(lease?.holder ?? 'a holder');
    expect(await told.innerText()).toMatch(
      new RegExp(`held epoch ${lease?.epoch ?? ''}[^]*MB of a database of [^]*Connections[^]* of \\d+ used`),
    );
    const { jobs } = (await (await fetch(`${on.running.url}/api/v1/status`)).json()) as {
      jobs: readonly { job: string }[];
    };
    expect(await on.page.getByTestId('jobs').locator('tbody tr').count()).toBe(jobs.length);
    const chart = on.page.getByRole('figure').filter({ hasText: 'Throughput' });
    await settles(() => chart.getByRole('img').getAttribute('aria-label')).toMatch(
      // Now is the last minute that is over: the one before the messages, or theirs.
      /^Throughput, per minute\. Enqueued: now [04], at most [04]/,
    );
    // uPlot has drawn: not all of the canvas is empty.
    const drawn = `[...document.querySelectorAll('.plot canvas')].map((canvas) =>
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part > 0))`;
    await settles(() => on.page.evaluate<readonly boolean[]>(drawn)).toEqual([true, true, true]);
    await chart.getByText('As a table').click();
    await settles(() => chart.locator('tbody tr').count()).toBe(60);
    const numbers = await chart.locator('tbody td:nth-child(2)').allInnerTexts();
    const counted = numbers.filter((text) => text !== '–').reduce((sum, text) => sum + Number(text), 0);
    // What came in this minute stands in the bucket that is not over.
    expect([0, 4]).toContain(counted);
    await on.page.getByRole('button', { name: 'The last day' }).click();
    await settles(() => chart.locator('tbody tr').count()).toBe(96);
    expect(on.page.url()).toContain('span=day');
    expect(on.faults).toEqual([]);
  });

  it('have no barrier, in light and in dark, and neither has the dialog of an action', async () => {
    await on.open();
    for (const [path, ready] of PAGES) {
      await go(path);
      if (ready !== null) await on.page.getByTestId(ready).waitFor();
      expect(await barriers(on.page), path).toEqual([]);
      if (path === 'delivery') await screenshot(on.page, path);
    }
    await go('delivery');
    await on.page.getByRole('button', { name: 'Send all again…' }).click();
    const told = on.page.getByRole('dialog').getByRole('status');
    await settles(() => told.innerText()).toContain('1 of 1 would be changed');
    expect(await barriers(on.page)).toEqual([]);
    await screenshot(on.page, 'action');
  });

  it('speak Chinese, and fit a phone', async () => {
    const phone = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true };
    const headings = ['当前', '投递', '回填', '请求', '基础数据', '审计', '健康'];
    const width = () => on.page.evaluate<number>('document.documentElement.scrollWidth');
    await on.open('', { ...phone, locale: 'zh-CN' });
    for (const [index, [path, ready]] of PAGES.entries()) {
      await go(path);
      if (ready !== null) await on.page.getByTestId(ready).waitFor();
      await settles(() => on.page.getByRole('heading', { level: 1 }).innerText()).toBe(headings[index]);
      expect(await width(), path).toBe(360);
      expect(on.faults).toEqual([]);
    }
    await go('delivery');
    await on.page.getByRole('button', { name: '全部丢弃…' }).tap();
    await settles(() => on.page.getByRole('dialog').innerText()).toContain('将更改 1 / 1');
    expect(await width()).toBe(360);
  });
});
