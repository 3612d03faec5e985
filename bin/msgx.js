#!/usr/bin/env node
// Starts msgx: from the sources in a checkout, from dist/ in an installed package. Older Node versions hand
// over to the Node that came with the package, so that `npx msgx` works whatever `node` is first in PATH.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const root = new URL('../', import.meta.url);
const sources = new URL('src/cli/main.ts', root);
const built = new URL('dist/cli/main.js', root);
const inCheckout = existsSync(sources) && !fileURLToPath(root).includes('/node_modules/');

// A service lives long, and V8 left to itself lets its heap grow by what the machine has. Half a gigabyte is several
// times what the largest message needs.
const LIMITS = ['--max-old-space-size=512', '--max-semi-space-size=16'];
const lives = process.argv.slice(2).some((word) => word === 'run' || word === 'demo' || word === 'bench');
const limited = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((text) =>
  text.includes('max-old-space-size'),
);

if (major > 22 || (major === 22 && minor >= 22)) {
  if (lives && !limited && typeof process.execve === 'function' && process.platform !== 'win32') {
    // The same process with other options: signals and PID stay.
    process.removeAllListeners('warning');
    process.execve(process.execPath, [
      process.execPath,
      ...LIMITS,
      ...process.execArgv,
      ...process.argv.slice(1),
    ]);
  }
  modules.enableCompileCache?.();
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
