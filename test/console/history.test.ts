/**
 * The pages on a long history: when something can be read on them, and how long msgx takes for a filter. In the gate a
 * short one, that the way is right; `MSGX_TEST_HISTORY=100000` measures it.
 */
import { beforeAll, expect, it } from 'vitest';
import { seedHistory } from '../kit/history.ts';
import { describeLive } from './live-pages.ts';

const MESSAGES = Number(process.env['MSGX_TEST_HISTORY'] ?? 2_000);
const FLIGHTS = MESSAGES / 20;
const MEASURED = process.env['MSGX_TEST_HISTORY'] !== undefined;

/** Runs in the page before anything of it: tells when something is there to be read, ms since the navigation began. */
const SEEN = `globalThis.seen = new Promise((resolve) => {
  const watch = new MutationObserver(() => {
    if (document.querySelector(SELECTOR) === null) return;
    watch.disconnect();
    requestAnimationFrame(() => resolve(performance.now()));
  });
  watch.observe(document, { childList: true, subtree: true });
})`;

describeLive('the console on a long history', {}, (on) => {
  beforeAll(async () => {
    await seedHistory(on.pipeline.client, { messages: MESSAGES, flights: FLIGHTS, days: 3 }, 0);
  });

  it.each([
    ['Now', '', '[data-testid=verdict]'],
    ['Messages', '#/messages', 'a[data-message]'],
    ['Flights', '#/flights', 'tr[data-flid]'],
    ['a flight', '#/flights/700007', 'li[data-version]'],
  ])('shows %s within a second', async (_, at, first) => {
    const times: number[] = [];
    for (let load = 0; load < (MEASURED ? 3 : 1); load += 1) {
      await on.open();
      // Away from it, so that a change of the hash alone is a load too.
      await on.page.goto('about:blank');
      await on.page.addInitScript(SEEN.replace('SELECTOR', JSON.stringify(first)));
      await on.page.goto(`${on.running.url}/${at}`);
      await on.page.locator(first).first().waitFor();
      times.push(Math.round(await on.page.evaluate<number>('seen')));
    }
    if (MEASURED) console.log(`${at === '' ? '#/' : at}: ${times.join(', ')} ms`);
    // The best of three, and only where somebody measures: in the gate two browsers and two pipelines share the machine,
    // and early.test.ts sees that no request waits for another.
    if (MEASURED) expect(Math.min(...times)).toBeLessThan(1_000);
    expect(on.faults).toEqual([]);
  });

  it.each([
    'messages',
    'messages?state=DEAD',
    'messages?class=MALFORMED&type=FLOP',
    'messages?type=LDM',
    'messages?state=SKIPPED&styp=GTDT',
    'messages?attention=true',
    'messages?flight=XX0007',
    'messages?from=2026-03-01T12:00:00Z&to=2026-03-01T13:00:00Z',
    'messages/2007',
    'search/flights?q=XX0',
    'flights?day=2026-03-02&limit=500',
    'flights/700007',
    'flights/700007/versions',
  ])('answers %s within 300 ms', async (path) => {
    const times: number[] = [];
    for (let ask = 0; ask < 3; ask += 1) {
      const since = performance.now();
      const response = await fetch(`${on.running.url}/api/v1/${path}`);
      await response.text();
      expect([200, 404]).toContain(response.status);
      times.push(Math.round(performance.now() - since));
    }
    if (MEASURED) console.log(`${path}: ${times.join(', ')} ms`);
    expect(Math.min(...times)).toBeLessThan(300);
  });
});
