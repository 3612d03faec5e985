/** The list of flights in a real browser: a day as it changes, filtered, searched, and one of them opened. */
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import type { FlightRow } from '../../src/console/api/types.ts';
import { textAt } from '../../src/console/model/flight-fields.ts';
import { barriers } from './axe.ts';
import { airportTime } from './fixture-day.ts';
import { describePage, settles } from './pages.ts';

const scheduled = ({ flight }: FlightRow): string => textAt(flight, 'scheduledTime');

describePage('the page Flights', (on) => {
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    await on.open(options, '#/flights');
    // The whole day is there, and the list has gone to the present.
    await settles(count).toBe('1,200 flights');
    await on.page.locator('tr[data-flid]').first().waitFor();
  }
  const heading = () => on.page.getByRole('heading', { level: 1 });
  const main = () => on.page.getByRole('main').innerText();
  const count = (): Promise<string> => on.page.getByTestId('flight-count').innerText();
  /** Position of the flight whose link has the focus. */
  const focusedRow = (): Promise<string | null> =>
    on.page.locator('a[data-row]:focus').getAttribute('data-row');
  /** FLID of a row in sight. */
  const rowInSight = async (position: number): Promise<string> =>
    (await on.page.locator('tr[data-flid]').nth(position).getAttribute('data-flid')) ?? '';

  it('changes a row when a message changes a flight', async () => {
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
    expect(on.faults).toEqual([]);
  });

  it('renders only the rows in sight and filters all of them', async () => {
    await open();
    await settles(count).toBe('1,200 flights');
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

  it('shows the first flights of a long day while the others are still read', async () => {
    await open();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await on.page.route('**/api/v1/flights?*after=*', async (route) => {
      await held;
      await route.continue();
    });
    await on.page.reload();
    await on.page.locator('tr[data-flid]').first().waitFor();
    expect(await count()).toBe('Loading…');
    release();
    await settles(count).toBe('1,200 flights');
    expect(on.faults).toEqual([]);
  });

  it('opens today at the present, which is not among the first flights of a long day', async () => {
    await open();
    await settles(count).toBe('1,200 flights');
    const now = airportTime(Date.now());
    const flights = [...on.fixture.flights.values()].toSorted((left, right) =>
      scheduled(left) < scheduled(right) ? -1 : 1,
    );
    const next = flights.find((row) => scheduled(row) >= now) ?? flights.at(-1);
    await on.page.locator(`tr[data-flid="${next?.flid ?? ''}"]`).waitFor();
    expect(on.faults).toEqual([]);
  });

  it('opens a flight by keyboard, shows its fields by name, and gives the focus back', async () => {
    await open();
    await on.page.getByRole('searchbox').fill('b-500');
    await settles(count).toBe('10 of 1,200 flights');
    await on.page.locator('a[data-row="0"]').focus();
    await on.page.keyboard.press('ArrowDown');
    await on.page.keyboard.press('End');
    await on.page.keyboard.press('ArrowUp');
    await settles(focusedRow).toBe('8');
    await on.page.keyboard.press('Enter');
    await settles(() => heading().innerText()).toBe('YY1296');
    await settles(main).toContain('FLID 700009');
    for (const label of [
      'Scheduled time',
      'Registration',
      'Check-in counters',
      'Route',
      'Gates',
      'Planned from',
    ]) {
      expect(await main()).toContain(label);
    }
    expect(await main()).not.toContain('Runway');
    await on.page.keyboard.press('Escape');
    await settles(focusedRow).toBe('8');
    expect(await count()).toBe('10 of 1,200 flights');
    expect(on.faults).toEqual([]);
  });

  it('searches all days by mouse and by keyboard', async () => {
    await open();
    await on.page.getByRole('searchbox').fill('yy12');
    await on.page.keyboard.press('Enter');
    const found = on.page.getByTestId('found');
    await settles(() => found.locator('tbody tr').count()).toBeGreaterThan(0);
    expect(on.page.url()).toContain('find=yy12');
    await found.getByRole('link').first().click();
    await settles(() => heading().innerText()).toMatch(/^YY12/);
    await on.page.goBack();
    await found.waitFor();
    await on.page.getByRole('button', { name: 'Close the search' }).click();
    await found.waitFor({ state: 'detached' });
    await on.page.getByRole('searchbox').fill('nowhere 1');
    await on.page.getByRole('button', { name: 'Search all days' }).click();
    await settles(main).toContain('No flight of any day has this number or FLID.');
    expect(on.faults).toEqual([]);
  });

  it('reads what it missed when the stream was lost', async () => {
    await open();
    const flid = await rowInSight(3);
    on.fixture.cut(true);
    const strip = on.page.getByRole('link', { name: 'No connection to msgx' });
    await strip.waitFor();
    on.fixture.changeFlight(flid, { gates: [{ seq: 1, code: 'MISSED' }] });
    on.fixture.cut(false);
    await strip.waitFor({ state: 'detached' });
    await settles(() => on.page.locator(`tr[data-flid="${flid}"]`).innerText()).toContain('MISSED');
  });

  it('has no barrier, in light and in dark', async () => {
    await open();
    await on.page.getByRole('searchbox').fill('yy12');
    await on.page.keyboard.press('Enter');
    await on.page.getByTestId('found').waitFor();
    expect(await barriers(on.page)).toEqual([]);
  });

  it('fits a phone without scrolling sideways', async () => {
    await open({ viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true });
    const width = (): Promise<number> => on.page.evaluate<number>('document.documentElement.scrollWidth');
    expect(await width()).toBe(360);
    await on.page.locator('tr[data-flid]').nth(2).tap();
    await on.page.getByTestId('timeline').waitFor();
    expect(await width()).toBe(360);
    expect(on.faults).toEqual([]);
  });

  it('names the codes of a flight where it knows a name', async () => {
    await open();
    await on.page.locator('tr[data-flid]').first().click();
    await settles(main).toMatch(/CSX\s*长沙/);
    expect(on.faults).toEqual([]);
  });
});
