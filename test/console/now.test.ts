/**
 * The console in a real browser: what an operator reads, presses and sees change. Needs Chromium
 * ($CHROMIUM or /usr/bin/chromium); without, the tests are skipped, unless MSGX_TEST_REQUIRE asks for it.
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumMissing, chromiumRequired, launchChromium } from './chromium.ts';
import { airportTime } from './fixture-day.ts';
import { calmStatus, troubledStatus } from './fixture-status.ts';
import { startFixture, type Fixture } from './fixture.ts';

/** Asks again until it fits: the page answers in its own time, on a busy machine within seconds. */
const settles = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 15_000 });

describe.skipIf(chromiumMissing !== null && !chromiumRequired)(
  `the page Now${chromiumMissing === null ? '' : ` (${chromiumMissing})`}`,
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

    async function open(options: BrowserContextOptions = {}): Promise<void> {
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        locale: 'en-GB',
        ...options,
      });
      page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('request', (request) => {
        if (!request.url().startsWith(fixture.url)) faults.push(`asks another host: ${request.url()}`);
      });
      await page.goto(fixture.url);
      await page.locator('tr[data-flid]').first().waitFor();
    }
    const verdict = (): Promise<string> => page.getByTestId('verdict').innerText();
    const count = (): Promise<string> => page.getByTestId('flight-count').innerText();
    /** Position of the flight whose button has the focus. */
    const focusedRow = (): Promise<string | null> =>
      page.locator('button[data-row]:focus').getAttribute('data-row');
    /** FLID of a row in sight. */
    const rowInSight = async (position: number): Promise<string> =>
      (await page.locator('tr[data-flid]').nth(position).getAttribute('data-flid')) ?? '';

    it('says that all flows, and follows the stream to what is worst', async () => {
      await open();
      expect(await verdict()).toContain('All flowing');
      expect(await verdict()).toContain('42 messages a minute');
      const since = Date.now();
      fixture.setStatus((now) => troubledStatus(now, since));
      await settles(verdict).toMatch(
        /^Head of line 18201 FLOP\/GTDT has failed 2 times: unknown-format:ESTM · next try in \d+ s$/,
      );
      const others = await page.getByRole('list', { name: 'Also' }).innerText();
      expect(others).toContain('3 dead messages need a person');
      expect(others).toMatch(/Inbox waits at hole 18235.*released in \d+ s/);
      expect(await page.title()).toContain('Head of line 18201');
      fixture.setStatus(calmStatus);
      await settles(verdict).toContain('All flowing');
      expect(faults).toEqual([]);
    });

    it('shows each station with state, rate and what waits, in words', async () => {
      const since = Date.now();
      fixture.setStatus((now) => troubledStatus(now, since));
      await open();
      const text = (name: string): Promise<string> => page.getByTestId(`station-${name}`).innerText();
      expect(await text('inbox')).toMatch(/running[\s\S]*44\/min[\s\S]*27 behind[\s\S]*18234 watermark/);
      expect(await text('pump')).toContain('34 waiting');
      expect(await text('delivery')).toContain('6 to send');
      expect(await text('backfill')).toContain('6 owed');
      expect(await text('requests')).toMatch(/paused[\s\S]*upstream asked for quiet until 04:00/);
      expect(faults).toEqual([]);
    });

    it('changes a row and lists the event when a message changes a flight', async () => {
      await open();
      const flid = await rowInSight(3);
      const row = page.locator(`tr[data-flid="${flid}"]`);
      const before = Number(await row.getAttribute('data-version'));
      fixture.changeFlight(flid, {
        estimatedTime: airportTime(Date.now()),
        gates: [{ seq: 1, code: 'X99' }],
      });
      await settles(() => row.innerText()).toContain('X99');
      expect(Number(await row.getAttribute('data-version'))).toBe(before + 1);
      expect(await row.getAttribute('class')).toContain('flash');
      expect(await row.locator('.col-gates').getAttribute('class')).toContain('is-changed');
      expect(await row.locator('.col-route').getAttribute('class')).not.toContain('is-changed');
      await settles(() => page.getByTestId('events').locator('li').first().innerText()).toContain(
        'Estimated time, Gates',
      );
      expect(faults).toEqual([]);
    });

    it('renders only the rows in sight and filters all of them', async () => {
      await open();
      expect(await count()).toBe('1,200 flights');
      expect(await page.locator('tr[data-flid]').count()).toBeLessThan(80);
      expect(await page.getByRole('table', { name: 'Flights' }).getAttribute('aria-rowcount')).toBe('1201');
      await page.getByRole('button', { name: 'Arrivals' }).click();
      await settles(count).toBe('600 of 1,200 flights');
      await page.getByRole('searchbox').fill('frankfurt nowhere');
      await settles(count).toBe('0 of 1,200 flights');
      await page.getByRole('searchbox').fill('b-5001');
      await settles(count).toBe('1 of 1,200 flights');
      expect(await rowInSight(0)).toBe('700002');
      expect(faults).toEqual([]);
    });

    it('opens a flight by keyboard, shows its fields by name, and gives the focus back', async () => {
      await open();
      await page.getByRole('searchbox').fill('b-500');
      await settles(count).toBe('10 of 1,200 flights');
      await page.locator('button[data-row="0"]').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowUp');
      await settles(focusedRow).toBe('8');
      await page.keyboard.press('Enter');
      const detail = page.getByRole('dialog');
      await detail.waitFor();
      const text = await detail.innerText();
      expect(text).toContain('FLID 700009');
      for (const label of [
        'Scheduled time',
        'Registration',
        'Check-in counters',
        'Route',
        'Gates',
        'Planned from',
      ]) {
        expect(text).toContain(label);
      }
      expect(text).not.toContain('Runway');
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
      expect(await focusedRow()).toBe('8');
      expect(faults).toEqual([]);
    });

    it('speaks Chinese when asked, and remembers', async () => {
      await open();
      await page.getByRole('button', { name: 'Switch the language to Chinese' }).click();
      expect(await verdict()).toContain('一切畅通');
      expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
      expect(await page.getByRole('columnheader', { name: '计划时间' }).count()).toBe(1);
      await page.reload();
      await page.locator('tr[data-flid]').first().waitFor();
      expect(await verdict()).toContain('一切畅通');
      expect(faults).toEqual([]);
    });

    it('takes Chinese from the browser', async () => {
      await open({ locale: 'zh-CN' });
      expect(await verdict()).toContain('一切畅通');
    });

    it('says when the stream is lost, connects again by itself and reads what it missed', async () => {
      await open();
      const flid = await rowInSight(3);
      fixture.cut(true);
      await settles(verdict).toContain('No connection to msgx');
      fixture.changeFlight(flid, { gates: [{ seq: 1, code: 'MISSED' }] });
      fixture.cut(false);
      await settles(verdict).toContain('All flowing');
      await settles(() => page.locator(`tr[data-flid="${flid}"]`).innerText()).toContain('MISSED');
    });

    it('fits a phone without scrolling sideways', async () => {
      const since = Date.now();
      fixture.setStatus((now) => troubledStatus(now, since));
      await open({ viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true });
      const width = (): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
      expect(await width()).toBe(360);
      await page.locator('tr[data-flid]').nth(2).tap();
      await page.getByRole('dialog').waitFor();
      expect(await width()).toBe(360);
      expect(faults).toEqual([]);
    });
  },
);
