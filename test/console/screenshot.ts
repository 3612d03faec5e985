/** Pictures of the console for the documentation, taken where the tests have the page as it should be seen. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Writes `docs/screenshots/NAME.png` where MSGX_SCREENSHOTS is set; else nothing. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if ((process.env['MSGX_SCREENSHOTS'] ?? '') === '') return;
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.screenshot({
    path: fileURLToPath(new URL(`../../docs/screenshots/${name}.png`, import.meta.url)),
  });
}
