/** Debian's Chromium for the browser tests: $CHROMIUM, or /usr/bin/chromium. */
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const EXECUTABLE = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why there is no browser, or null. */
export const chromiumMissing: string | null = existsSync(EXECUTABLE) ? null : `no Chromium at ${EXECUTABLE}`;
/** Whether a missing browser is a failure. */
export const chromiumRequired: boolean = (process.env['MSGX_TEST_REQUIRE'] ?? '')
  .split(/[\s,]+/)
  .includes('chromium');

/** Starts it; nothing it does by itself reaches for a network. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
    ],
  });
}
