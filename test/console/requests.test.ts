/** Requests on the page: what waits and what became of the others, and asking the upstream with a reason. */
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { describePage, settles } from './pages.ts';

describePage('requests on the page', (on) => {
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    await on.open(options);
    await on.page.getByTestId('requests-summary').click();
    await settles(() => rows().count()).toBe(52);
  }
  const rows = () => on.page.getByTestId('requests').locator('tbody tr');
  const words = async (row: number) => (await rows().nth(row).innerText()).replaceAll(/\s+/g, ' ').trim();

  it('lists what waits first, then what has ended, page by page and by state', async () => {
    await open();
    expect(await on.page.getByTestId('requests-summary').innerText()).toMatch(
      /Requests\s+2 open · Error reports: 13 queued, 27 sent/,
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

  it('asks for days and for reference data, with a reason, and tells what was refused', async () => {
    await open();
    const form = on.page.getByRole('form', { name: 'Ask the upstream' });
    const ask = form.getByRole('button', { name: 'Ask' });
    expect(await ask.isDisabled()).toBe(true);
    await form.getByLabel('First day').fill('2026-03-20');
    expect(await form.getByLabel('Last day').inputValue()).toBe('2026-03-20');
    await form.getByLabel('Last day').fill('2026-03-21');
    await form.getByLabel('Reason').fill('a gap');
    await ask.click();
    await settles(() => form.getByRole('status').innerText()).toBe('2 requests registered');
    expect(await form.getByLabel('Reason').inputValue()).toBe('');
    await settles(() => words(0)).toMatch(/^Schedule 2026-03-21 66 to be sent .* http:operator not yet$/);

    await form.getByLabel('Last day').fill('2026-03-19');
    await form.getByLabel('Reason').fill('the other way round');
    await on.page.keyboard.press('Enter');
    await settles(() => form.getByRole('status').innerText()).toContain('19 is before the first 2026-03-20');
    expect(await form.getByLabel('Reason').inputValue()).toBe('the other way round');
    // The browser itself reports an answer that is no success.
    expect(on.faults.splice(0)).toEqual([expect.stringContaining('400')]);

    await form.getByLabel('What to ask for').selectOption('STTS');
    expect(await form.getByLabel('First day').count()).toBe(0);
    await ask.click();
    await settles(() => form.getByRole('status').innerText()).toBe('Request 67 registered');
    expect(on.fixture.posted.map(({ body }) => body)).toEqual([
      { from: '2026-03-20', to: '2026-03-21', reason: 'a gap' },
      { from: '2026-03-20', to: '2026-03-19', reason: 'the other way round' },
      { type: 'STTS', reason: 'the other way round' },
    ]);
    expect(on.faults).toEqual([]);
  });

  it('speaks Chinese, and fits a phone', async () => {
    await open({
      ...{ locale: 'zh-CN', viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true },
    });
    expect(await on.page.getByTestId('requests-summary').innerText()).toMatch(
      /上游请求\s+未完成 2 · EROR 回报：排队 13，已发送 27/,
    );
    expect(await words(1)).toContain('日计划 2026-03-15 3 等待应答');
    expect(await on.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
    const form = on.page.getByRole('form', { name: '向上游请求' });
    await form.getByLabel('原因').fill('缺口');
    await form.getByRole('button', { name: '请求' }).click();
    await settles(() => form.getByRole('status').innerText()).toBe('已登记请求 65');
    expect(on.faults).toEqual([]);
  });
});
