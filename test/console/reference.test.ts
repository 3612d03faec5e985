/** Reference data on the page: looked up, read on, opened with its history; and names beside a flight's codes. */
import { expect, it } from 'vitest';
import { describePage, settles } from './pages.ts';

describePage('reference data on the page', (on) => {
  const open = (locale: string): Promise<void> => on.open({ locale }, '#/reference');
  const rows = () => on.page.getByTestId('reference-rows').locator('li');

  it('is found by text, read page by page, and opened with what it had been', async () => {
    await open('en-GB');
    await settles(() => rows().count()).toBe(100);
    expect(await on.page.getByLabel('Type of reference data').innerText()).toContain(
      'STTS (149, 1 inactive)',
    );
    await on.page.getByRole('button', { name: 'More' }).click();
    await settles(() => rows().count()).toBe(150);
    expect(await on.page.getByRole('button', { name: 'More' }).count()).toBe(0);
    expect(await rows().last().innerText()).toContain('inactive');
    await on.page.getByRole('button', { name: 'Inactive too' }).click();
    await on.page.getByRole('button', { name: 'More' }).click();
    await settles(() => rows().count()).toBe(149);
    await on.page.getByLabel('Search reference data').fill('登机');
    await settles(async () => (await rows().allInnerTexts()).join('|')).toMatch(/^BRD\/1\s+登机$/);
    await on.page.getByRole('button', { name: 'BRD/1' }).click();
    const detail = on.page.getByRole('dialog');
    await settles(() => detail.innerText()).toMatch(/BRD\/1 STTS[\s\S]*valid[\s\S]*named by message 7/);
    const history = on.page.getByTestId('reference-history');
    expect(await history.innerText()).toMatch(
      /until message 7[\s\S]*inactive[\s\S]*until message 5[\s\S]*上客/,
    );
    // Marked is what the next message changed, not what stayed.
    expect((await history.locator('.is-changed').allInnerTexts()).join()).toMatch(/^CDES\s+上客$/);
    await on.page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    expect(await on.page.locator('button:focus').innerText()).toBe('BRD/1');
    expect(on.faults).toEqual([]);
  });

  it('speaks Chinese', async () => {
    await open('zh-CN');
    await settles(() => rows().count()).toBe(100);
    await on.page.getByRole('button', { name: 'BRD/1' }).click();
    await settles(() => on.page.getByRole('dialog').innerText()).toMatch(/有效[\s\S]*至消息 7[\s\S]*已失效/);
    expect(on.faults).toEqual([]);
  });
});
