/** Signing in with a token, what a viewer is told, and signing out. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeToken } from '../../src/http/tokens.ts';
import { barriers } from './axe.ts';
import { describeLive, settles } from './live-pages.ts';

const OPERATOR = makeToken('operator', 'night-desk');
const VIEWER = makeToken('viewer', 'tower');
const SENDER = makeToken('sender', 'gateway');
const TOKENS = join(mkdtempSync(join(tmpdir(), 'msgx-console-')), 'tokens');
writeFileSync(TOKENS, [OPERATOR, VIEWER, SENDER].map(({ line }) => line).join('\n'));

describeLive(
  'signing in to the console',
  { settings: { http: { listen: '127.0.0.1:0', 'tokens-file': TOKENS } } },
  (on) => {
    const alert = () => on.page.getByRole('alert').innerText();
    const signed = () => on.page.getByTestId('signed-in').innerText();
    const enter = async (token: string): Promise<void> => {
      await on.page.getByLabel('Token').fill(token);
      await on.page.keyboard.press('Enter');
    };

    it('asks for a token, says what is wrong with it, and acts under its name until one leaves', async () => {
      await on.open('#/backfill');
      await on.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await barriers(on.page)).toEqual([]);
      await enter('no such token');
      await settles(alert).toBe('a valid bearer token is needed');
      await enter(SENDER.token);
      await settles(alert).toBe('The role sender is not enough for the console.');
      await enter(OPERATOR.token);
      await settles(signed).toBe('night-desk operator');
      await on.page.getByRole('button', { name: 'Pause Backfill…' }).click();
      const dialog = on.page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('at night');
      await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
      await settles(() => dialog.getByRole('status').innerText()).toMatch(/^Done/);
      expect(await on.audits(1)).toMatchObject([{ who: 'http:night-desk', action: 'pause' }]);
      await on.page.reload();
      await settles(signed).toBe('night-desk operator');
      await on.page.getByRole('button', { name: 'Sign out' }).click();
      await on.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await on.page.reload();
      await on.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(on.faults).toEqual([]);
    });

    it('tells a viewer which role an action needs, and asks nothing', async () => {
      await on.open('#/backfill');
      await enter(VIEWER.token);
      await settles(signed).toBe('tower viewer');
      const before = await on.audits(100);
      await on.page.getByRole('button', { name: /^(Pause|Resume) Backfill…$/ }).click();
      const dialog = on.page.getByRole('dialog');
      expect(await dialog.getByRole('status').innerText()).toBe(
        'This needs the role operator. You are signed in as tower with the role viewer.',
      );
      expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Close']);
      await on.page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await on.audits(100)).toEqual(before);
      expect(on.faults).toEqual([]);
    });
  },
);
