/**
 * The console in a real browser: what an operator reads, presses and sees change. Needs Chromium
 * ($CHROMIUM or /usr/bin/chromium); without, the tests are skipped, unless MSGX_TEST_REQUIRE asks for it.
 */
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { airportTime } from './fixture-day.ts';
import { calmStatus, troubledStatus } from './fixture-status.ts';
import { describePage, settles } from './pages.ts';

describePage('the page Now', (on) => {
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    await on.open(options);
    await on.page.locator('tr[data-flid]').first().waitFor();
  }
  const verdict = (): Promise<string> => on.page.getByTestId('verdict').innerText();
  const count = (): Promise<string> => on.page.getByTestId('flight-count').innerText();
  /** Position of the flight whose button has the focus. */
  const focusedRow = (): Promise<string | null> =>
    on.page.locator('button[data-row]:focus').getAttribute('data-row');
  /** FLID of a row in sight. */
  const rowInSight = async (position: number): Promise<string> =>
    (await on.page.locator('tr[data-flid]').nth(position).getAttribute('data-flid')) ?? '';

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

  it('changes a row and lists the event when a message changes a flight', async () => {
    await open();
    const flid = await rowInSight(3);
    const row = on.page.locator(`tr[data-flid="${flid}"]`);
    const before = Number(await row.getAttribute('data-version'));
    on.fixture.changeFlight(flid, {
      estimatedTime: airportTime(Date.now()),
      gates: [{ seq: 1, code: 'X99' }],
    });
    await settles(() => row.innerText()).toContain('X99');
    expect(Number(await row.getAttribute('data-version'))).toBe(before + 1);
    expect(await row.getAttribute('class')).toContain('flash');
    expect(await row.locator('.col-gates').getAttribute('class')).toContain('is-changed');
    expect(await row.locator('.col-route').getAttribute('class')).not.toContain('is-changed');
    await settles(() => on.page.getByTestId('events').locator('li').first().innerText()).toContain(
      'Estimated time, Gates',
    );
    expect(on.faults).toEqual([]);
  });

  it('renders only the rows in sight and filters all of them', async () => {
    await open();
    expect(await count()).toBe('1,200 flights');
    expect(await on.page.locator('tr[data-flid]').count()).toBeLessThan(80);
    expect(await on.page.getByRole('table', { name: 'Flights' }).getAttribute('aria-rowcount')).toBe('1201');
    await on.page.getByRole('button', { name: 'Arrivals' }).click();
    await settles(count).toBe('600 of 1,200 flights');
    await on.page.getByRole('searchbox').fill('frankfurt nowhere');
    await settles(count).toBe('0 of 1,200 flights');
    await on.page.getByRole('searchbox').fill('b-5001');
    await settles(count).toBe('1 of 1,200 flights');
    expect(await rowInSight(0)).toBe('700002');
    expect(on.faults).toEqual([]);
  });

  it('opens a flight by keyboard, shows its fields by name, and gives the focus back', async () => {
    await open();
    await on.page.getByRole('searchbox').fill('b-500');
    await settles(count).toBe('10 of 1,200 flights');
    await on.page.locator('button[data-row="0"]').focus();
    await on.page.keyboard.press('ArrowDown');
    await on.page.keyboard.press('End');
    await on.page.keyboard.press('ArrowUp');
    await settles(focusedRow).toBe('8');
    await on.page.keyboard.press('Enter');
    const detail = on.page.getByRole('dialog');
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
    await on.page.keyboard.press('Escape');
    await detail.waitFor({ state: 'detached' });
    expect(await focusedRow()).toBe('8');
    expect(on.faults).toEqual([]);
  });

  it('speaks Chinese when asked, and remembers', async () => {
    await open();
    await on.page.getByRole('button', { name: 'Switch the language to Chinese' }).click();
    expect(await verdict()).toContain('一切畅通');
    expect(await on.page.locator('html').getAttribute('lang')).toBe('zh-CN');
    expect(await on.page.getByRole('columnheader', { name: '计划时间' }).count()).toBe(1);
    await on.page.reload();
    await on.page.locator('tr[data-flid]').first().waitFor();
    expect(await verdict()).toContain('一切畅通');
    expect(on.faults).toEqual([]);
  });

  it('takes Chinese from the browser', async () => {
    await open({ locale: 'zh-CN' });
    expect(await verdict()).toContain('一切畅通');
  });

  it('says when the stream is lost, connects again by itself and reads what it missed', async () => {
    await open();
    const flid = await rowInSight(3);
    on.fixture.cut(true);
    await settles(verdict).toContain('No connection to msgx');
    on.fixture.changeFlight(flid, { gates: [{ seq: 1, code: 'MISSED' }] });
    on.fixture.cut(false);
    await settles(verdict).toContain('All flowing');
    await settles(() => on.page.locator(`tr[data-flid="${flid}"]`).innerText()).toContain('MISSED');
  });

  it('fits a phone without scrolling sideways', async () => {
    const since = Date.now();
    on.fixture.setStatus((now) => troubledStatus(now, since));
    await open({ viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true });
    const width = (): Promise<number> => on.page.evaluate<number>('document.documentElement.scrollWidth');
    expect(await width()).toBe(360);
    await on.page.locator('tr[data-flid]').nth(2).tap();
    await on.page.getByRole('dialog').waitFor();
    expect(await width()).toBe(360);
    expect(on.faults).toEqual([]);
  });
});
