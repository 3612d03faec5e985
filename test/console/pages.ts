/** Pages of the console in a real browser: for each test a fixture and a page of its own. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { chromiumMissing, chromiumRequired, launchChromium } from './chromium.ts';
import { startFixture, type Fixture } from './fixture.ts';

/** Asks again until it fits: the page answers in its own time, on a busy machine within seconds. */
export const settles = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 15_000 });

/** What a test has: its fixture, its page once it is open, and what the page complains of. */
export interface ConsolePage {
  readonly fixture: Fixture;
  readonly page: Page;
  /** Errors and warnings of the page, and requests to other hosts. */
  readonly faults: string[];
  /** Opens the console. `at`: the address of a page, `#/…`; without one it is Now. */
  open(options?: BrowserContextOptions, at?: string): Promise<void>;
}

/** Tests in a browser; skipped with the reason where there is none, unless it is required. */
export function describePage(name: string, tests: (on: ConsolePage) => void): void {
  const title = `${name}${chromiumMissing === null ? '' : ` (${chromiumMissing})`}`;
  describe.skipIf(chromiumMissing !== null && !chromiumRequired)(title, () => {
    let browser: Browser;
    let fixture: Fixture;
    let page: Page | null = null;
    let faults: string[] = [];
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
      await page?.context().close();
      page = null;
      await fixture.close();
    });
    tests({
      get fixture() {
        return fixture;
      },
      get page() {
        if (page === null) throw new Error('the page is not open');
        return page;
      },
      get faults() {
        return faults;
      },
      open: async (options = {}, at = '') => {
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
        await page.goto(fixture.url + at);
      },
    });
  });
}
