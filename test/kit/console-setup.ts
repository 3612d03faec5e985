/**
 * Builds the console once for the whole run, where there is a browser to test it: always anew, because a page
 * left from an older build would be the one that is tested, and once, because several files use it. In a process of its
 * own, because it has to be the build that users get, and the test runner's NODE_ENV is another.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromiumMissing } from '../console/chromium.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export default async function setup(): Promise<void> {
  if (chromiumMissing !== null) return;
  const vite = `${ROOT}node_modules/vite/bin/vite.js`;
  await promisify(execFile)(process.execPath, [vite, 'build', 'src/console', '--logLevel', 'error'], {
    cwd: ROOT,
  });
}
