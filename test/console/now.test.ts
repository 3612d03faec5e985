/**
 * The page Now in a real browser: what an operator reads and sees change. Needs Chromium ($CHROMIUM or
 * /usr/bin/chromium); without, the tests are skipped, unless MSGX_TEST_REQUIRE asks for it.
 */
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { calmStatus, troubledStatus } from './fixture-status.ts';
import { describePage, settles } from './pages.ts';
import { screenshot } from './screenshot.ts';

describePage('the page Now', (on) => {
  const verdict = (): Promise<string> => on.page.getByTestId('verdict').innerText();
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    await on.open(options);
    await on.page.getByTestId('station-requests').waitFor();
  }

  it('says that all flows, and follows the stream to what is worst', async () => {
    await open();
    expect(await verdict()).toContain('All flowing');
    expect(await verdict()).toContain('42 messages a minute');
    const since = Date.now();
    on.fixture.setStatus((now) => troubledStatus(now, since));
    await settles(verdict).toMatch(
      /^Head of line 18201 FLOP\/GTDT has failed 2 times: unknown-format:ESTM · next try in \d+ s$/,
    );
    const others = await on.page.getByRole('list', { name: 'Also' }).innerText();
    expect(others).toContain('3 dead messages need a person');
    expect(others).toMatch(/Inbox waits at hole 18235.*released in \d+ s/);
    await screenshot(on.page, 'now');
    expect(await on.page.title()).toContain('Head of line 18201');
    on.fixture.setStatus(calmStatus);
    await settles(verdict).toContain('All flowing');
    expect(on.faults).toEqual([]);
  });

  it('shows each station with state, rate and what waits, in words', async () => {
    const since = Date.now();
    on.fixture.setStatus((now) => troubledStatus(now, since));
    await open();
    const text = (name: string): Promise<string> => on.page.getByTestId(`station-${name}`).innerText();
    expect(await text('inbox')).toMatch(/running[\s\S]*44\/min[\s\S]*27 behind[\s\S]*18234 watermark/);
    expect(await text('pump')).toContain('34 waiting');
    expect(await text('delivery')).toContain('6 to send');
    expect(await text('backfill')).toContain('6 owed');
    expect(await text('requests')).toMatch(/paused[\s\S]*upstream asked for quiet until 04:00/);
    expect(on.faults).toEqual([]);
  });

  it('speaks Chinese when asked, and remembers', async () => {
    await open();
    await on.page.getByRole('button', { name: 'switch the language to Chinese' }).click();
    expect(await verdict()).toContain('一切畅通');
    expect(await on.page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await on.page.reload();
    await settles(verdict).toContain('一切畅通');
    expect(on.faults).toEqual([]);
  });

  it('takes Chinese from the browser', async () => {
    await open({ locale: 'zh-CN' });
    expect(await verdict()).toContain('一切畅通');
  });

  it('lists the event when a message changes a flight, and leads to it', async () => {
    await open();
    on.fixture.changeFlight('700004', { gates: [{ seq: 1, code: 'X99' }] });
    const first = on.page.getByTestId('events').locator('li').first();
    await settles(() => first.innerText()).toContain('Gates');
    await first.getByRole('link').click();
    await settles(() => on.page.getByRole('main').innerText()).toMatch(/FLID 700004[\s\S]*X99/);
    expect(on.faults).toEqual([]);
  });

  it('says when the stream is lost, and connects again by itself', async () => {
    await open();
    on.fixture.cut(true);
    await settles(verdict).toContain('No connection to msgx');
    on.fixture.cut(false);
    await settles(verdict).toContain('All flowing');
  });

  it('fits a phone without scrolling sideways', async () => {
    const since = Date.now();
    on.fixture.setStatus((now) => troubledStatus(now, since));
    await open({ viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true });
    expect(await on.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
    expect(on.faults).toEqual([]);
  });
});
