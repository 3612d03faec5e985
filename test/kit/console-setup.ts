/**
 * Builds the console once for the whole run, where there is a browser to test it: always anew, because a page
 * left from an older build would be the one that is tested, and once, because several files use it.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { chromiumMissing } from '../console/chromium.ts';

export default async function setup(): Promise<void> {
  if (chromiumMissing !== null) return;
  await build({
    configFile: fileURLToPath(new URL('../../src/console/vite.config.ts', import.meta.url)),
    logLevel: 'error',
  });
}
