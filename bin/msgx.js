#!/usr/bin/env node
// Starts msgx: from the sources in a checkout, from dist/ in an installed package. Older Node versions hand
// over to the Node that came with the package, so that `npx msgx` works whatever `node` is first in PATH.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const root = new URL('../', import.meta.url);
const sources = new URL('src/cli/main.ts', root);
const built = new URL('dist/cli/main.js', root);
const inCheckout = existsSync(sources) && !fileURLToPath(root).includes('/node_modules/');

if (major > 22 || (major === 22 && minor >= 22)) {
  await import(inCheckout ? sources.href : built.href);
} else {
  const bundled = fileURLToPath(new URL('node_modules/node/bin/node', root));
  if (!existsSync(bundled)) {
    console.error(`msgx needs Node 22.22 or newer (24 is best); this is ${process.version}.`);
    process.exit(2);
  }
  const child = spawn(bundled, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}
