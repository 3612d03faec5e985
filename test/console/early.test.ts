/** How a page begins: what it shows is asked for before its code is there, and nothing is asked for twice. */
import { beforeAll, expect, it } from 'vitest';
import { gate, schedule } from '../kit/messages.ts';
import { describeLive, settles } from './live-pages.ts';

/** Address, what is there once it shows something, and what it asks for at once. */
const PAGES = [
  ['#/', '[data-testid=verdict]', []],
  ['#/messages?state=SUCCEEDED', 'a[data-message]', ['messages?limit=50&state=SUCCEEDED']],
  ['#/messages/2', '.message-parts', ['messages/2']],
  ['#/flights', 'tr[data-flid]', ['flights?limit=100']],
  ['#/flights/700001', 'li[data-version]', ['flights/700001', 'flights/700001/versions?limit=50']],
  ['#/health?span=day', '.plot canvas', ['series?span=day']],
] as const;

/** Pages read again every 5 s, which is not what is seen here; on a slow machine that may be while a page begins. */
const NOTHING_BY_ITSELF = `(() => {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...given) => (ms >= 5_000 ? 0 : setTimeout(run, ms, ...given));
})()`;

describeLive('the begin of a page', {}, (on) => {
  beforeAll(async () => {
    await on.pipeline.mailbox.insertAll([schedule('700001'), gate('700001', 'A1')]);
    await on.pipeline.drained();
  });

  it.each(PAGES)('%s asks once, before its code has come', async (at, shows, first) => {
    await on.open();
    // Away from it, so that a change of the hash alone is a load too.
    await on.page.goto('about:blank');
    await on.page.addInitScript(NOTHING_BY_ITSELF);
    const asked: string[] = [];
    on.page.on('request', (request) => {
      const [, path] = request.url().split('/api/v1/');
      if (path !== undefined) asked.push(path);
    });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await on.page.route('**/assets/main-*.js', async (route) => {
      await held;
      await route.continue();
    });
    await on.page.goto(`${on.running.url}/${at}`, { waitUntil: 'commit' });
    await settles(async () => Promise.resolve(asked.toSorted())).toEqual(
      ['session', 'status', ...first].toSorted(),
    );
    release();
    await on.page.locator(shows).first().waitFor();
    // The newest events are read once the stream is open, and are no news to a page that has just been read.
    await settles(async () => Promise.resolve(asked.some((path) => path.startsWith('events?')))).toBe(true);
    await on.page.waitForLoadState('networkidle');
    const twice = asked.filter((path, index) => asked.indexOf(path) !== index);
    // The flights are read as a whole once the stream is open, lest one that changes meanwhile be missed.
    expect(twice.filter((path) => path !== 'flights?limit=100')).toEqual([]);
    expect(on.faults).toEqual([]);
  });

  it("is served as React's production build, small enough to be read at once", async () => {
    await on.open();
    await on.page.getByTestId('verdict').waitFor();
    const bytes = await on.page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
        .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`,
    );
    // React's development build alone has 1 MB.
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(500_000);
  });
});
