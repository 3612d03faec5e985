/** The page Messages on a running pipeline: found, opened, understood; by mouse, by keyboard, as viewer and on a phone. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { gate, schedule, xml } from '../kit/messages.ts';
import { barriers } from './axe.ts';
import { describeLive, settles } from './live-pages.ts';
import { tabTo } from './operating.ts';
import { screenshot } from './screenshot.ts';

const OPERATOR = 'operator-token-0123456789';
const VIEWER = 'viewer-token-0123456789';
const TOKENS = join(mkdtempSync(join(tmpdir(), 'msgx-console-')), 'tokens');
writeFileSync(TOKENS, `operator ${OPERATOR}\nviewer ${VIEWER}\n`);
const as = (token: string, options: BrowserContextOptions = {}): BrowserContextOptions => ({
  ...options,
  extraHTTPHeaders: { authorization: `Bearer ${token}` },
});

describeLive(
  'the page Messages',
  { settings: { http: { listen: '127.0.0.1:0', 'tokens-file': TOKENS } } },
  (on) => {
    beforeAll(async () => {
      const twice = gate('700001', 'A2');
      await on.pipeline.mailbox.insertAll([
        schedule('700001', '700002'), // 1
        gate('700001', 'A1'), // 2
        twice, // 3
        twice, // 4: its duplicate
        '<MSG>\n<META><SNDR>AODB</SNDR></META>\n  <FLOP>', // 5: breaks off
        // 6: a day that does not exist
        xml('FLOP', 'ESTM', '\n<FLOP><FLID>700001</FLID>\n  <ESTM>31FEB260900</ESTM></FLOP>'),
        gate('799999', 'A1'), // 7: no such flight
        schedule('700003', '700003'), // 8: names a flight twice
      ]);
      await on.pipeline.drained();
    });

    const shown = async (): Promise<string> =>
      (await on.page.getByTestId('messages').locator('a[data-message]').allInnerTexts()).join();
    const heading = () => on.page.getByRole('heading', { level: 1 });
    const main = () => on.page.getByRole('main').innerText();

    it('finds by each filter, keeps it in the address, and opens what was found by mouse', async () => {
      await on.open('#/messages', as(OPERATOR));
      await settles(shown).toBe('8,7,6,5,4,3,2,1');
      const filters = on.page.getByRole('search', { name: 'Filter messages' });
      await filters.getByRole('button', { name: 'Needs a person' }).click();
      await settles(shown).toBe('8,6,5');
      await filters.getByLabel('Error class').selectOption('PROTOCOL');
      await settles(shown).toBe('8');
      await filters.getByRole('button', { name: 'Clear' }).click();
      await filters.getByLabel('State', { exact: true }).selectOption({ label: 'SKIPPED – skipped' });
      await settles(shown).toBe('7,4');
      await filters.getByLabel('State', { exact: true }).selectOption({ label: 'every state' });
      await filters.getByLabel('Type', { exact: true }).fill('FLOP');
      await filters.getByLabel('Flight').fill('xx 0001');
      await settles(shown).toBe('3,2');
      await filters.getByLabel('Received from').fill('2099-01-01T00:00');
      await settles(main).toContain('No message fits.');
      await filters.getByLabel('Received from').fill('2001-01-01T00:00');
      await settles(shown).toBe('3,2');
      await on.page.reload();
      await settles(shown).toBe('3,2');
      await on.page.getByRole('link', { name: '3', exact: true }).click();
      await settles(() => heading().innerText()).toBe('Message 3');
      await settles(main).toContain('AODB|FLOP|GTDT|');
      expect(await on.page.getByTestId('touched').innerText()).toMatch(
        /^XX0001 FLID 700001 · version 3\s+Gates$/,
      );
      expect(await on.page.getByTestId('events').innerText()).toMatch(/KAFKA:msg\s+700001 version 3\s+SENT/);
      await settles(() => on.page.getByTestId('decoded').innerText()).toMatch(/Gates\s+A2/);
      await settles(() => on.page.getByTestId('mark').innerText()).toMatch(/State\s*marked/);
      expect(await main()).toMatch(/Duplicates\s*4/);
      // Back to the same list, at the same message.
      await on.page.getByRole('link', { name: 'All messages' }).click();
      await settles(shown).toBe('3,2');
      await settles(() => on.page.locator(':focus').innerText()).toBe('3');
      expect(on.faults).toEqual([]);
    });

    it('leads by keyboard alone to the place of a fault and to what can be done', async () => {
      await on.open('#/messages?attention=true', as(OPERATOR));
      await settles(shown).toBe('8,6,5');
      await tabTo(on.page, on.page.locator('a[data-message="8"]'));
      await on.page.keyboard.press('ArrowDown');
      await on.page.keyboard.press('Enter');
      await settles(() => heading().innerText()).toBe('Message 6');
      await settles(() => on.page.locator(':focus').innerText()).toBe('Message 6');
      const mark = on.page.getByTestId('text').locator('mark');
      await settles(() => mark.innerText()).toBe('<ESTM>31FEB260900</ESTM>');
      const told = await main();
      expect(told).toContain('bad-value:ESTM');
      expect(told).toContain('A value fits a known format and is impossible.');
      expect(told).toContain('line 3, column 3');
      await tabTo(on.page, on.page.getByRole('button', { name: 'Replay…' }));
      await on.page.keyboard.press('Enter');
      const dialog = on.page.getByRole('dialog');
      await settles(() => dialog.innerText()).toContain('MALFORMED under the profile in use');
      await on.page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(on.faults).toEqual([]);
    });

    it('marks where a text breaks off, and the flight of a refused package', async () => {
      await on.open('#/messages/5', as(OPERATOR));
      const marks = () => on.page.getByTestId('text').locator('mark').allInnerTexts();
      await settles(marks).toEqual([expect.stringMatching(/<FLOP>|the text ends here/)]);
      await on.open('#/messages/8', as(OPERATOR));
      await settles(marks).toEqual(['700003', '700003']);
      expect(on.faults).toEqual([]);
    });

    it('keeps the text from viewers, who see everything else', async () => {
      await on.open('#/messages/6', as(VIEWER));
      await settles(main).toContain('The text is for operators');
      expect(await on.page.getByTestId('text').count()).toBe(0);
      await settles(() => on.page.getByTestId('decoded').innerText()).toContain('bad-value:ESTM');
      expect(on.faults).toEqual([]);
    });

    it('says that the list is old while msgx does not answer, and that it is not when it does', async () => {
      await on.open('#/messages', as(OPERATOR));
      await settles(shown).toContain('8');
      const asks = '**/api/v1/messages?*';
      await on.page.route(asks, (route) => route.abort());
      await settles(main).toMatch(/Old: as of \d\d:\d\d:\d\d, msgx does not answer/);
      expect(await shown()).toContain('8');
      await on.page.unroute(asks);
      await settles(main).not.toContain('msgx does not answer');
    });

    it('has no barrier, in light and in dark', async () => {
      await on.open('#/messages', as(OPERATOR));
      await settles(shown).toContain('8');
      expect(await barriers(on.page)).toEqual([]);
      await screenshot(on.page, 'messages');
      await on.open('#/messages/6', as(OPERATOR));
      await on.page.getByTestId('text').locator('mark').waitFor();
      await settles(() => on.page.getByTestId('decoded').innerText()).toContain('bad-value');
      expect(await barriers(on.page)).toEqual([]);
      await screenshot(on.page, 'message');
    });

    it('speaks Chinese, and fits a phone', async () => {
      const phone = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true };
      await on.open('#/messages', as(OPERATOR, { ...phone, locale: 'zh-CN' }));
      await settles(shown).toContain('8');
      const width = (): Promise<number> => on.page.evaluate<number>('document.documentElement.scrollWidth');
      expect(await width()).toBe(360);
      await on.page.getByRole('link', { name: '6', exact: true }).tap();
      await settles(main).toContain('取值格式正确但不可能存在。');
      await on.page.getByTestId('text').waitFor();
      expect(await width()).toBe(360);
      expect(on.faults).toEqual([]);
    });
  },
);
