/** An operator at the console: by mouse, or by keyboard alone. */
import type { Locator, Page } from 'playwright-core';
import { settles } from './live-pages.ts';

/** What an operator asks for in the dialog of an action. */
export interface Wanted {
  /** Name of the button that opens it; the first such button of the page where there are several. */
  readonly button: string;
  /** Values of fields by their label; a check box is `on`. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly reason: string;
  /** What the trial says, before anything is done. */
  readonly trial: RegExp;
  /** The button stands before what has the focus. */
  readonly back?: boolean;
  readonly confirm: string;
  /** What is told at the end. */
  readonly done?: RegExp;
}

export type Hands = 'mouse' | 'keyboard';

/** Does an action with the given hands, and sees that the dialog tells its trial and its end, and gives the focus back. */
export async function operate(page: Page, hands: Hands, wanted: Wanted): Promise<void> {
  const { button, fields = {}, reason, trial, confirm, done = /^Done/ } = wanted;
  const opener = page.getByRole('button', { name: button }).first();
  await opener.waitFor();
  const dialog = page.getByRole('dialog');
  const told = dialog.getByRole('status');
  const doIt = dialog.getByRole('button', { name: confirm, exact: true });
  const why = dialog.getByLabel('Reason');
  if (hands === 'mouse') await opener.click();
  else {
    await tabTo(page, opener, wanted.back === true ? 'Shift+Tab' : 'Tab');
    await page.keyboard.press('Enter');
  }
  await settles(() => isFocused(why)).toBe(true);
  for (const [label, value] of Object.entries(fields)) {
    const field = dialog.getByLabel(label, { exact: true });
    if (hands === 'mouse') await fillByMouse(field, value);
    else {
      await tabTo(page, field, 'Shift+Tab');
      await fillByKeys(page, field, value);
    }
  }
  if (hands === 'mouse') await why.fill(reason);
  else {
    await tabTo(page, why);
    await page.keyboard.type(reason);
  }
  await settles(() => told.innerText()).toMatch(trial);
  await settles(() => doIt.isEnabled()).toBe(true);
  if (hands === 'mouse') await doIt.click();
  else {
    await tabTo(page, doIt);
    await page.keyboard.press('Enter');
  }
  await settles(() => told.innerText()).toMatch(done);
  const close = dialog.getByRole('button', { name: 'Close' });
  await settles(() => isFocused(close)).toBe(true);
  if (hands === 'mouse') await close.click();
  else await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await settles(() => hasFocus(page)).toBe(true);
}

const isFocused = (field: Locator): Promise<boolean> =>
  field.evaluate((element: { ownerDocument: { activeElement: unknown } }) => {
    return element.ownerDocument.activeElement === element;
  });

/** Whether something has the focus: the opener, or the heading where the opener has gone. */
const hasFocus = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.activeElement !== document.body');

/** Presses a key until the focus is there, as somebody without a mouse does. */
export async function tabTo(page: Page, field: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await isFocused(field)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${String(field)}`);
}

async function fillByMouse(field: Locator, value: string): Promise<void> {
  const kind = await kindOf(field);
  if (kind === 'select') await field.selectOption({ label: value });
  else if (kind === 'checkbox') await field.click();
  else await field.fill(value);
}

async function fillByKeys(page: Page, field: Locator, value: string): Promise<void> {
  const kind = await kindOf(field);
  if (kind === 'checkbox') await page.keyboard.press('Space');
  else if (kind === 'select') await chooseByKeys(page, field, value);
  // A date takes its parts one after the other.
  else if (kind === 'date') await page.keyboard.type(value.split('-').reverse().join(''));
  else await page.keyboard.type(value);
}

async function chooseByKeys(page: Page, field: Locator, value: string): Promise<void> {
  await page.keyboard.press('Home');
  const chosen = () =>
    field.evaluate(
      (list: { selectedOptions: ArrayLike<{ textContent: string }> }) => list.selectedOptions[0]?.textContent,
    );
  for (let presses = 0; presses < 40; presses += 1) {
    if ((await chosen()) === value) return;
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`the list does not offer ${value}`);
}

const kindOf = (field: Locator): Promise<string> =>
  field.evaluate((element: { tagName: string; type?: string }) =>
    element.tagName === 'SELECT' ? 'select' : (element.type ?? ''),
  );
