/** Requests on the page: what waits and what became of the others. Asking is in actions.test.ts. */
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { describePage, settles } from './pages.ts';

describePage('requests on the page', (on) => {
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    await on.open(options, '#/requests');
    await settles(() => rows().count()).toBe(52);
  }
  const rows = () => on.page.getByTestId('requests').locator('tbody tr');
  const words = async (row: number) => (await rows().nth(row).innerText()).replaceAll(/\s+/g, ' ').trim();

  it('lists what waits first, then what has ended, page by page and by state', async () => {
    await open();
    expect(await on.page.getByTestId('requests-summary').innerText()).toMatch(
      /^2 open · Error reports: 13 queued, 27 sent/,
    );
    expect(await words(0)).toBe(
      'Schedule 2026-03-16 64 to be sent 2026-03-14 09:00:00 msgx:on-start not yet',
    );
    expect(await words(1)).toBe(
      'Schedule 2026-03-15 3 waits for its answer 2026-03-14 09:00:00 msgx:on-start ' +
        '2026-03-14 09:00:00 ID 7003, SEQN 3 until 2026-03-14 09:05:00',
    );
    expect(await words(2)).toMatch(/^ARPT 63 answered .* ID 7063, SEQN 63 .* message 900, without an echoed/);
    expect(await words(3)).toMatch(/^ARPT 62 answered .* message 901$/);
    await on.page.getByRole('button', { name: 'More' }).click();
    await settles(() => rows().count()).toBe(64);
    expect(await on.page.getByRole('button', { name: 'More' }).count()).toBe(0);

    const filter = on.page.getByLabel('Requests on show');
    await filter.selectOption('EXPIRED');
    await settles(() => rows().count()).toBe(2);
    expect(await words(0)).toMatch(/^STTS 2 expired .* none in time$/);
    expect(await words(1)).toMatch(/^STTS 1 expired .* not yet .* asked again meanwhile$/);
    await filter.selectOption('open');
    await settles(() => words(1)).toContain('waits for its answer');
    expect(await rows().count()).toBe(2);
    // What is counted anew is read anew.
    on.fixture.requests.answer('3');
    await settles(() => rows().count()).toBe(1);
    await settles(() => on.page.getByTestId('requests-summary').innerText()).toContain('1 open');
    expect(on.faults).toEqual([]);
  });

  it('speaks Chinese, and fits a phone', async () => {
    await open({
      ...{ locale: 'zh-CN', viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true },
    });
    expect(await on.page.getByTestId('requests-summary').innerText()).toMatch(
      /^未完成 2 · EROR 回报：排队 13，已发送 27/,
    );
    expect(await words(1)).toContain('日计划 2026-03-15 3 等待应答');
    expect(await on.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
    expect(on.faults).toEqual([]);
  });
});
