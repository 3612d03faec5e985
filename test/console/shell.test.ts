/** The frame around the pages: addresses, navigation, focus and what is told on every page. */
import { expect, it } from 'vitest';
import { hrefTo, parseRoute } from '../../src/console/model/route.ts';
import { calmStatus, troubledStatus } from './fixture-status.ts';
import { describePage, settles } from './pages.ts';

it('reads the addresses that it writes, and any other text without failing', () => {
  const query = { q: '登机 & a=b', state: 'DEAD' };
  expect(parseRoute(hrefTo('flights', ['A/B%', '号'], query))).toEqual({
    ...{ page: 'flights', rest: ['A/B%', '号'], query },
  });
  expect(hrefTo('messages', [], { state: '', type: undefined })).toBe('#/messages');
  expect(parseRoute('')).toEqual({ page: '', rest: [], query: {} });
  expect(parseRoute('#/flights/%E0%A4%A?x')).toEqual({
    page: 'flights',
    rest: ['%E0%A4%A'],
    query: { x: '' },
  });
});

describePage('the shell', (on) => {
  const heading = () => on.page.getByRole('heading', { level: 1 });
  const current = () => on.page.getByRole('navigation').locator('[aria-current=page]').innerText();
  const focusedName = () => on.page.locator(':focus').innerText();

  it('goes from page to page by keyboard, tells where it is, and back', async () => {
    await on.open();
    expect(await current()).toBe('Now');
    await on.page.keyboard.press('Tab');
    expect(await focusedName()).toBe('Skip to the content');
    await on.page.keyboard.press('Enter');
    expect(await focusedName()).toBe('Now');
    expect(on.page.url()).toBe(on.fixture.url);
    const link = on.page.getByRole('navigation').getByRole('link', { name: 'Requests' });
    await link.focus();
    await on.page.keyboard.press('Enter');
    await settles(() => heading().innerText()).toBe('Requests');
    await settles(focusedName).toBe('Requests');
    expect(await current()).toBe('Requests');
    expect(on.page.url()).toContain('#/requests');
    await settles(() => on.page.title()).toBe('Requests · CSX msgx');
    await on.page.goBack();
    await settles(() => heading().innerText()).toBe('Now');
    await on.page.goForward();
    await settles(() => heading().innerText()).toBe('Requests');
    await on.page.reload();
    await settles(() => heading().innerText()).toBe('Requests');
    expect(on.faults).toEqual([]);
  });

  it('says on every page that nothing gets through, and leads to Now', async () => {
    await on.open({}, '#/reference');
    const strip = on.page.getByRole('main').getByRole('status').getByRole('link');
    const since = Date.now();
    on.fixture.setStatus((now) => troubledStatus(now, since));
    await settles(() => strip.innerText()).toContain('Head of line 18201');
    await strip.click();
    await settles(() => heading().innerText()).toBe('Now');
    await on.page.goBack();
    on.fixture.setStatus(calmStatus);
    await strip.waitFor({ state: 'detached' });
    expect(on.faults).toEqual([]);
  });

  it('shows Now where an address names no page', async () => {
    await on.open({}, '#/nowhere/7');
    await settles(() => heading().innerText()).toBe('Now');
    expect(on.faults).toEqual([]);
  });
});
