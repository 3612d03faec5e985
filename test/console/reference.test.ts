/** Reference data on the page: looked up, read on, opened with its history; and names beside a flight's codes. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumMissing, chromiumRequired, launchChromium } from './chromium.ts';
import { startFixture, type Fixture } from './fixture.ts';

const settles = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 15_000 });

describe.skipIf(chromiumMissing !== null && !chromiumRequired)(
  `reference data on the page${chromiumMissing === null ? '' : ` (${chromiumMissing})`}`,
  () => {
    let browser: Browser;
    let fixture: Fixture;
    let page: Page;
    let faults: string[];

    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(async () => {
      await browser.close();
    });
    beforeEach(async () => {
      fixture = await startFixture();
      faults = [];
    });
    afterEach(async () => {
      await page.context().close();
      await fixture.close();
    });

    async function open(locale: string): Promise<void> {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale });
      page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(fixture.url);
      await page.locator('tr[data-flid]').first().waitFor();
    }
    const rows = () => page.getByTestId('reference-rows').locator('li');

    it('is found by text, read page by page, and opened with what it had been', async () => {
      await open('en-GB');
      await page.getByText('Reference data').click();
      await settles(() => rows().count()).toBe(100);
      expect(await page.getByLabel('Type of reference data').innerText()).toContain('STTS (149, 1 inactive)');
      await page.getByRole('button', { name: 'More' }).click();
      await settles(() => rows().count()).toBe(150);
      expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0);
      expect(await rows().last().innerText()).toContain('inactive');
      await page.getByRole('button', { name: 'Inactive too' }).click();
      await page.getByRole('button', { name: 'More' }).click();
      await settles(() => rows().count()).toBe(149);
      await page.getByLabel('Search reference data').fill('登机');
      await settles(async () => (await rows().allInnerTexts()).join('|')).toMatch(/^BRD\/1\s+登机$/);
      await page.getByRole('button', { name: 'BRD/1' }).click();
      const detail = page.getByRole('dialog');
      await settles(() => detail.innerText()).toMatch(/BRD\/1 STTS[\s\S]*valid[\s\S]*named by message 7/);
      const history = page.getByTestId('reference-history');
      expect(await history.innerText()).toMatch(
        /until message 7[\s\S]*inactive[\s\S]*until message 5[\s\S]*上客/,
      );
      // Marked is what the next message changed, not what stayed.
      expect((await history.locator('.is-changed').allInnerTexts()).join()).toMatch(/^CDES\s+上客$/);
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
      expect(await page.locator('button:focus').innerText()).toBe('BRD/1');
      expect(faults).toEqual([]);
    });

    it('speaks Chinese', async () => {
      await open('zh-CN');
      await page.getByText('基础数据').click();
      await settles(() => rows().count()).toBe(100);
      await page.getByRole('button', { name: 'BRD/1' }).click();
      await settles(() => page.getByRole('dialog').innerText()).toMatch(/有效[\s\S]*至消息 7[\s\S]*已失效/);
      expect(faults).toEqual([]);
    });

    it('names the codes of a flight where it knows a name', async () => {
      await open('en-GB');
      await page.locator('tr[data-flid]').first().click();
      await settles(() => page.getByRole('dialog').innerText()).toMatch(/CSX\s*长沙/);
      expect(faults).toEqual([]);
    });
  },
);
