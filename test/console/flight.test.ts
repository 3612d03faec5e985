/** One flight on a running pipeline: its picture, its fields with who set them, its versions, its messages. */
import { beforeAll, expect, it } from 'vitest';
import { gate, schedule, xml } from '../kit/messages.ts';
import { barriers } from './axe.ts';
import { describeLive, settles } from './live-pages.ts';
import { operate, tabTo } from './operating.ts';
import { screenshot } from './screenshot.ts';

const said = (styp: string, payload: string): string =>
  xml('FLOP', styp, `<FLOP><FLID>700001</FLID>${payload}</FLOP>`);

describeLive('a flight in the console', {}, (on) => {
  beforeAll(async () => {
    await on.pipeline.mailbox.insertAll([
      schedule('700001', '700002', '700003'), // 1
      said(
        'PSDT',
        '<PSDT PSNO="1"><PSST>204</PSST><STST>14MAR260700</STST><STET>14MAR260830</STET></PSDT>' +
          '<GTDT GTNO="1"><GATE>G12</GATE><PGOT>14MAR260720</PGOT><PGCT>14MAR260800</PGCT><GOTM>14MAR260722</GOTM></GTDT>' +
          '<CKDT CKNO="1"><CHKC>A07</CHKC><PCOT>14MAR260605</PCOT><PCCT>14MAR260725</PCCT></CKDT>',
      ), // 2
      said('ESTM', '<ESTM>14MAR260820</ESTM><BOTM>14MAR260735</BOTM>'), // 3
      said('GTDT', '<GTDT GTNO="1"><GATE>G14</GATE><PGOT>14MAR260720</PGOT><PGCT>14MAR260800</PGCT></GTDT>'), // 4
      said('ACTM', '<ACTM>14MAR260831</ACTM>'), // 5
      // Another one, as it stands when it has left.
      xml(
        'FLOP',
        'PSDT',
        '<FLOP><FLID>700003</FLID><ESTM>14MAR260825</ESTM><ACTM>14MAR260829</ACTM><BOTM>14MAR260735</BOTM><FINT>14MAR260800</FINT>' +
          '<PSDT PSNO="1"><PSST>204</PSST><STST>14MAR260700</STST><STET>14MAR260815</STET></PSDT>' +
          '<CHOT CSNO="1"><CHST>204</CHST><CHID>ON</CHID><CHTM>14MAR260709</CHTM></CHOT>' +
          '<CHOT CSNO="2"><CHST>204</CHST><CHID>OFF</CHID><CHTM>14MAR260818</CHTM></CHOT>' +
          '<PSHT PSHN="1"><PSTM>14MAR260819</PSTM><PUST>204</PUST></PSHT>' +
          '<GTDT GTNO="1"><GATE>G12</GATE><PGOT>14MAR260720</PGOT><PGCT>14MAR260800</PGCT><GOTM>14MAR260733</GOTM><GCTM>14MAR260809</GCTM></GTDT>' +
          '<CKDT CKNO="1"><CHKC>A07</CHKC><PCOT>14MAR260605</PCOT><PCCT>14MAR260725</PCCT><COTM>14MAR260602</COTM><CCTM>14MAR260727</CCTM></CKDT>' +
          '<CKDT CKNO="2"><CHKC>A08</CHKC><PCOT>14MAR260605</PCOT><PCCT>14MAR260725</PCCT><COTM>14MAR260620</COTM></CKDT></FLOP>',
      ), // 6
    ]);
    await on.pipeline.drained();
  });

  const heading = () => on.page.getByRole('heading', { level: 1 });
  const main = () => on.page.getByRole('main').innerText();
  const field = (path: string) => on.page.locator(`tr[data-field="${path}"]`).innerText();
  const version = (number: number) => on.page.locator(`li[data-version="${String(number)}"]`);

  it('draws its times and its use of stand, gate and counter, and tells them in words', async () => {
    await on.open('#/flights/700001');
    await settles(() => heading().innerText()).toBe('XX0001');
    const picture = on.page.getByTestId('timeline');
    expect((await picture.locator('.lane > text:first-child').allTextContents()).join()).toBe(
      'Scheduled time,Estimated time,Actual time,Other times,Stand 204,Gate G14,Check-in A07',
    );
    expect(await picture.locator('.clock').allTextContents()).toEqual(['08:05', '08:20', '08:31']);
    const left = async (what: string): Promise<number> =>
      (await picture.locator(what).boundingBox())?.x ?? Number.NaN;
    // Six hours and five minutes come before seven, and the check-in before the stand.
    expect(await left('.of-checkins .planned')).toBeLessThan(await left('.of-stands .planned'));
    expect(await left('.of-scheduledTime .moment')).toBeLessThan(await left('.of-actualTime .moment'));
    const words = await on.page.locator('.timeline .unseen').textContent();
    expect(words).toContain('Stand 204: planned 07:00 – 08:30');
    expect(words).toContain('Other times: Boarding 07:35');
    expect(on.faults).toEqual([]);
  });

  it('draws what really was over what was planned, and where no end is known', async () => {
    await on.open('#/flights/700003');
    const picture = on.page.getByTestId('timeline');
    await picture.waitFor();
    const words = await on.page.locator('.timeline .unseen').textContent();
    expect(words).toContain('Stand 204: planned 07:00 – 08:15, actual 07:09 – 08:18, Push-back 08:19');
    expect(words).toContain('Check-in A08: planned 06:05 – 07:25, actual 06:20 – …');
    expect(await picture.locator('.of-checkins .actual.is-open').count()).toBe(1);
    await version(2).waitFor();
    await screenshot(on.page, 'flight');
  });

  it('names for each field the message that set it, and leads there', async () => {
    await on.open('#/flights/700001');
    await settles(() => field('scheduledTime')).toMatch(/^Scheduled time\s+08:05\s+1\s+\d\d:/);
    expect(await field('estimatedTime')).toMatch(/^Estimated time\s+08:20\s+3\s/);
    expect(await on.page.locator('[data-collection=gates]').innerText()).toMatch(
      /G14[\s\S]*Set by message 4 /,
    );
    await on.page.locator('tr[data-field="estimatedTime"]').getByRole('link').click();
    await settles(() => heading().innerText()).toBe('Message 3');
    expect(on.faults).toEqual([]);
  });

  it('tells versions with their differences and what became of their events', async () => {
    await on.open('#/flights/700001');
    await settles(() => version(4).innerText()).toMatch(
      /version 4\s+SENT[\s\S]*message 4 · KAFKA:msg \d+ · sent /,
    );
    const gates = version(4).locator('[data-path=gates]');
    expect(await gates.locator('del').innerText()).toMatch(/^G12, Planned from 03-14 07:20/);
    expect(await gates.locator('ins').innerText()).toMatch(/^G14, /);
    expect(await version(5).innerText()).toMatch(/Actual time\s+2026-03-14 08:31/);
    expect(await on.page.getByTestId('flight-messages').innerText()).toMatch(
      /^5 FLOP\/ACTM [^\n]+ version 5\s+Actual time/,
    );
    expect(on.faults).toEqual([]);
  });

  it('goes by keyboard alone from the list to a flight and on to its message, and sends its state again', async () => {
    await on.open('#/flights');
    await on.page.locator('tr[data-flid="700001"]').waitFor();
    await tabTo(on.page, on.page.locator('a[data-row="0"]'));
    await on.page.keyboard.press('Enter');
    await settles(() => heading().innerText()).toBe('XX0001');
    await settles(() => on.page.locator(':focus').innerText()).toBe('XX0001');
    await operate(on.page, 'keyboard', {
      ...{
        button: 'Send states again…',
        reason: 'a consumer lost it',
        trial: /1 flight/,
        confirm: 'Send the states',
      },
    });
    expect(await on.audits(1)).toMatchObject([{ action: 'republish', reason: 'a consumer lost it' }]);
    const last = on.page.getByTestId('flight-facts').getByRole('link');
    await tabTo(on.page, last);
    await on.page.keyboard.press('Enter');
    await settles(() => heading().innerText()).toBe('Message 5');
    expect(on.faults).toEqual([]);
  });

  it('shows at once what a message changes while somebody looks', async () => {
    await on.open('#/flights/700002');
    await settles(() => heading().innerText()).toBe('XX0002');
    await on.pipeline.mailbox.insert(gate('700002', 'Z9'));
    await settles(main).toContain('Gate Z9');
    await settles(() => version(2).innerText()).toContain('Z9');
    expect(on.faults).toEqual([]);
  });

  it('says that there is no such flight', async () => {
    await on.open('#/flights/4711');
    await settles(main).toContain('no flight 4711');
  });

  it('has no barrier, in light and in dark', async () => {
    await on.open('#/flights/700001');
    await version(4).waitFor();
    expect(await barriers(on.page)).toEqual([]);
  });

  it('speaks Chinese, and fits a phone', async () => {
    const phone = { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true };
    await on.open('#/flights/700001', { ...phone, locale: 'zh-CN' });
    await version(4).waitFor();
    expect(await on.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
    const lanes = await on.page.getByTestId('timeline').locator('.lane > text:first-child').allTextContents();
    expect(lanes.slice(-3).join()).toBe('机位 204,登机口 G14,值机 A07');
    expect(on.faults).toEqual([]);
  });
});
