/**
 * The drill of docs/runbook.md in the console: each case is played on a running pipeline, page Now shows it in the words of
 * the runbook, an operator does there what the runbook says, and what it says is shown afterwards.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeIn, tableUnder } from '../deploy/runbook.ts';
import {
  CASES,
  DAY,
  drillMissing,
  drillOn,
  drillParts,
  pattern,
  runbook,
  type Case,
  type Drill,
  type Played,
} from '../scenarios/drill.ts';
import { expectClean } from '../scenarios/checks.ts';
import type { TcpProxy } from '../kit/tcp-proxy.ts';
import { describeLive, settles } from './live-pages.ts';
import { operate } from './operating.ts';

const ROWS = tableUnder(runbook, 'In the console');

it('the runbook has each case of the drill in the console', () => {
  expect(ROWS.map(([name]) => name)).toEqual(CASES);
});

let proxy: TcpProxy | undefined;
const closes: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closes) await close();
});
const parts = async () => {
  const { options, ...rest } = await drillParts((close) => void closes.push(close));
  proxy = rest.proxy;
  return options;
};

describeLive('the drill in the console', { parts, partsMissing: drillMissing }, (on) => {
  let drill: Drill;
  const main = async () => (await on.page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ');
  const finding = (text: RegExp) => on.page.locator('.verdict').getByText(text);
  const go = (at: string) => on.page.goto(`${on.running.url}/${at}`);

  beforeAll(async () => {
    if (proxy === undefined) throw new Error('the brokers have no proxy');
    drill = drillOn(on.pipeline, proxy, async (change) => {
      const [word, wanted] =
        change === 'pause' ? (['Pause', 'paused'] as const) : (['Resume', 'running'] as const);
      await operate(on.page, 'mouse', {
        ...{
          button: `${word} Backfill…`,
          confirm: word,
          reason: 'drill',
          trial: /Nothing has been done yet/,
        },
      });
      await settles(() => on.page.getByTestId('station-backfill').innerText()).toContain(wanted);
    });
    await drill.begin();
  });

  /** How many rows the table at an address has with a text. */
  const times = async (at: string, text: string): Promise<number> => {
    await go(at);
    await on.page.locator(`main :is(table, .nothing)`).first().waitFor();
    const rows = await on.page.locator('main tbody tr').allInnerTexts();
    return rows.filter((row) => pattern(text).test(row.replaceAll(/\s+/g, ' '))).length;
  };

  /** What an operator does in each case, with the names of the buttons in the runbook. */
  const act: Record<Case, (names: readonly string[], played: Played) => Promise<void>> = {
    'poison at the head': async ([button = '', confirm = ''], { id }) =>
      operate(on.page, 'mouse', {
        ...{ button, confirm, reason: 'agreed with the AODB' },
        trial: new RegExp(`would skip message ${String(id)}`),
      }),
    'dead schedule': async ([button = '', confirm = '']) => ask(button, confirm, 'the schedule was refused'),
    'Kafka down': async () => undefined,
    hole: async () => undefined,
    'abandoned mark': async ([show = '', address = '', button = '', confirm = ''], { id }) => {
      const others = on.page.getByRole('list', { name: 'Also' }).getByRole('listitem');
      await others.filter({ hasText: 'given up' }).getByRole('link', { name: show }).click();
      await settles(async () => new URL(on.page.url()).hash).toBe(address);
      await on.page.getByLabel(`Choose message ${String(id)}`).click();
      await operate(on.page, 'mouse', {
        ...{ button, confirm, reason: 'the owner deleted the row' },
        ...{ trial: /1 of 1 would be changed/, done: /^Done: 1 of 1/ },
      });
    },
    'upstream silent': async ([address = '', button = '', confirm = '']) => {
      await go(address);
      await ask(button, confirm, 'the upstream was silent');
    },
  };
  const ask = async (button: string, confirm: string, reason: string) =>
    operate(on.page, 'mouse', {
      ...{ button, confirm, reason, fields: { 'First day': DAY } },
      ...{ trial: /1 of 1 would be changed/, done: /^Done: 1 of 1/ },
    });

  it('is shown, done and seen to be over, case by case', { timeout: 120_000 }, async () => {
    await on.open();
    for (const [index, name] of CASES.entries()) {
      const [, shown = '', action = '', afterwards = ''] = ROWS[index] ?? [];
      // Where an address comes first, what follows stands there, once more for each case that says the same.
      const [first = '', text = ''] = codeIn(afterwards);
      const elsewhere = first.startsWith('#/') ? { at: first, text } : null;
      const same = ROWS.slice(0, index + 1).filter((row) => codeIn(row[3] ?? '')[1] === text).length;
      await go('#/now');
      const played = await drill.play(name);
      for (const code of codeIn(shown)) await settles(main).toMatch(pattern(code));
      const [said = ''] = codeIn(shown);
      await act[name](codeIn(action), played);
      await played.mend?.();

      await go('#/now');
      if (afterwards.includes('has gone')) {
        await settles(() => finding(pattern(said)).count()).toBe(0);
      } else if (name === 'dead schedule') {
        await settles(() => finding(pattern(said)).count()).toBe(1);
      }
      if (elsewhere === null)
        for (const code of codeIn(afterwards)) await settles(main).toMatch(pattern(code));
      else await settles(() => times(elsewhere.at, elsewhere.text)).toBe(same);
    }
    await drill.end();
    await expectClean(on.pipeline);
    expect(on.faults).toEqual([]);
  });
});
