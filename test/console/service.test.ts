/**
 * The console on the real service: a simulated day flows while the page is open, and a pause set over HTTP is
 * seen. The page's own behaviour is tested against a fixture in now.test.ts; here the two sides must agree.
 */
import { describe, expect, it } from 'vitest';
import { createPipeline } from '../kit/service-pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { daySteps, playInto } from '../scenarios/simulated.ts';
import { launchChromium, chromiumMissing, chromiumRequired } from './chromium.ts';

const skipped = postgresMissing !== null || (chromiumMissing !== null && !chromiumRequired);

describe.skipIf(skipped)(
  `the console on the real service${chromiumMissing === null ? '' : ` (${chromiumMissing})`}`,
  () => {
    it('shows flights changing, the stations at work and a pause, and asks the upstream', async (test) => {
      const pipeline = await createPipeline({ settings: { airport: 'HGH' } });
      test.onTestFinished(() => pipeline.close());
      const { url } = await pipeline.start();
      const steps = daySteps({ count: 400, poison: 0 });
      await playInto(pipeline, steps.slice(0, 300));
      await pipeline.drained();

      const browser = await launchChromium();
      test.onTestFinished(() => browser.close());
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
      const faults: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(url);
      const verdict = () => page.getByTestId('verdict').innerText();
      const settles = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 15_000 });
      await settles(verdict).toContain('flowing');

      const [{ newest } = { newest: '' }] = await pipeline.rows<{ newest: string }>(
        'select max(event_id)::text as newest from msg_event',
      );
      await playInto(pipeline, steps.slice(300));
      await pipeline.drained();
      const changed = await pipeline.rows<{ flid: string; version: number }>(
        `select f.flid, f.version from flight_schd f where not f.deleted and f.flid in
         (select partition_key from msg_event where event_id > $1) order by f.scheduled_time limit 1`,
        [newest],
      );
      const flight = changed[0];
      if (flight === undefined) throw new Error('the day changed no flight');
      await page.getByRole('link', { name: 'Flights', exact: true }).click();
      await page.locator('tr[data-flid]').first().waitFor();
      const shown = page.locator(`tr[data-flid="${flight.flid}"]`);
      if ((await shown.count()) > 0) await settles(() => shown.innerText()).toContain(String(flight.version));
      await page.goBack();

      const paused = await fetch(`${url}/api/v1/stations/pump/pause`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'looking at the head' }),
      });
      expect(paused.status).toBe(200);
      await settles(verdict).toMatch(/Pump paused.*looking at the head/);
      const resumed = await fetch(`${url}/api/v1/stations/pump/resume`, {
        method: 'POST',
        body: JSON.stringify({ reason: 'seen' }),
      });
      expect(resumed.status).toBe(200);
      await settles(verdict).toContain('flowing');

      await page.getByRole('link', { name: 'Requests' }).click();
      await page.getByRole('button', { name: 'Ask the upstream' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('What').selectOption('ARPT');
      await dialog.getByLabel('Reason').fill('seen from the console');
      await dialog.getByRole('button', { name: 'Ask' }).click();
      await settles(() => dialog.getByRole('status').innerText()).toContain('Done: 1 of 1');
      await dialog.getByRole('button', { name: 'Close' }).click();
      const asked = page.locator('tr[data-request="1"]');
      await settles(() => asked.innerText()).toMatch(/waits for its answer[\s\S]*ID 1, SEQN 1/);
      expect(await pipeline.rows("select reason, who from op_audit where action = 'request'")).toEqual([
        { reason: 'seen from the console', who: 'http:operator' },
      ]);
      const reports = async () => (await pipeline.rows('select 1 from error_report')).length;
      expect(await reports()).toBe(0);
      await pipeline.mailbox.insert('<MSG><META>');
      await settles(reports).toBe(1);
      await settles(() => page.getByTestId('requests-summary').innerText()).toMatch(/0 queued, 1 sent/);
      expect(faults).toEqual([]);
    });
  },
);
