/** The console on a running pipeline in a real browser: one pipeline for a file, a page of its own for each test. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { postgresMissing } from '../kit/postgres.ts';
import {
  createPipeline,
  type PipelineOptions,
  type Running,
  type Settings,
  type TestPipeline,
} from '../kit/service-pipeline.ts';
import { chromiumMissing, chromiumRequired, launchChromium } from './chromium.ts';

/** Asks again until it fits: the page answers in its own time, on a busy machine within seconds. */
export const settles = <Value>(read: () => Promise<Value>) => expect.poll(read, { timeout: 15_000 });

/** What the audit keeps of an action. */
export interface Audited {
  readonly who: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string;
}

export interface LivePages {
  readonly pipeline: TestPipeline;
  readonly running: Running;
  readonly page: Page;
  /** Errors of the page; refusals of msgx, which the browser tells too, left out. */
  readonly faults: string[];
  /** Opens the console. `at`: the address of a page, `#/…`. */
  open(at?: string, options?: BrowserContextOptions): Promise<void>;
  /** The audit's newest entries, newest first. */
  audits(count: number): Promise<readonly Audited[]>;
}

export interface LiveOptions {
  readonly settings?: Settings;
  /** What the pipeline is made of, beside a mailbox and a journal of its own. */
  readonly parts?: () => Promise<PipelineOptions>;
  /** Why these parts are missing, or null. */
  readonly partsMissing?: string | null;
}

/** Tests on a pipeline that has just been started; skipped with the reason where something is missing. */
export function describeLive(
  name: string,
  { settings = {}, parts = async () => ({}), partsMissing = null }: LiveOptions,
  tests: (on: LivePages) => void,
): void {
  const missing = [postgresMissing, partsMissing, chromiumRequired ? null : chromiumMissing].find(
    (why) => why !== null,
  );
  describe.skipIf(missing !== undefined)(`${name}${missing === undefined ? '' : ` (${missing})`}`, () => {
    let pipeline: TestPipeline;
    let running: Running;
    let browser: Browser;
    let page: Page | null = null;
    let faults: string[] = [];
    beforeAll(async () => {
      pipeline = await createPipeline({ settings, ...(await parts()) });
      running = await pipeline.start();
      browser = await launchChromium();
    });
    afterEach(async () => {
      await page?.context().close();
      page = null;
    });
    afterAll(async () => {
      await browser.close();
      await pipeline.close();
    });
    tests({
      get pipeline() {
        return pipeline;
      },
      get running() {
        return running;
      },
      get page() {
        if (page === null) throw new Error('the page is not open');
        return page;
      },
      get faults() {
        return faults;
      },
      open: async (at = '', options = {}) => {
        await page?.context().close();
        faults = [];
        const context = await browser.newContext({
          ...{ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' },
          ...options,
        });
        page = await context.newPage();
        page.on('console', (message) => {
          const refusal = / status of (401|403|409) /.test(message.text());
          if (message.type() === 'error' && !refusal) faults.push(message.text());
        });
        page.on('pageerror', (error) => faults.push(error.message));
        await page.goto(`${running.url}/${at}`);
      },
      audits: (count) =>
        pipeline.rows<Audited & Record<string, unknown>>(
          'select who, action, target, reason from op_audit order by audit_id desc limit $1',
          [count],
        ),
    });
  });
}
