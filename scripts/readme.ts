/**
 * Does what README.md says, block by block, in a fresh clone of what is committed: `npm run readme`. Servers that its reader
 * has are stood in for by an embedded PostgreSQL; `…` is a password. Needs port 8080.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { configFromObject } from '../src/config/load.ts';
import { mailboxNames } from '../src/config/mailbox-names.ts';
import { openMailbox } from '../src/mailbox/open.ts';
import { dialectOf } from '../src/service/resources.ts';
import { startEmbedded } from '../src/store/embedded.ts';
import { blocksOf, type Block } from './readme-blocks.ts';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const PASSWORD = 'secret';
const START_MS = 300_000;

const directory = await mkdtemp(join(tmpdir(), 'msgx-readme-'));
const clone = join(directory, 'msgexchange');
if ((await answer('http://127.0.0.1:8080/')) !== null) throw new Error('port 8080 is taken');
await execute('git', ['clone', '-q', '--no-local', ROOT, clone]);
const server = await startEmbedded({ directory: join(directory, 'server') });
const owned = server.url.replace(/\/msgx$/, '/aodb');
try {
  await prepareMailbox();
  for (const block of blocksOf(await readFile(join(clone, 'README.md'), 'utf8'))) {
    const [first = ''] = block.code.trim().split('\n');
    const started = performance.now();
    await follow(block);
    console.log(
      `${block.plan.kind.padEnd(5)} ${((performance.now() - started) / 1000).toFixed(1)} s  ${first}`,
    );
  }
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

async function follow({ code, plan }: Block): Promise<void> {
  switch (plan.kind) {
    case 'run':
      await shell(code, 0);
      return;
    case 'fails':
      await shell(code, 1);
      return;
    case 'until':
      await shell(code, plan.url);
      return;
    case 'file':
      await writeFile(join(clone, plan.name), mine(code));
      // What its comments say is there.
      await writeFile(
        join(clone, 'mailbox.url'),
        mine('postgres://msgx_mailbox:…@mailbox.example:5432/aodb\n'),
      );
      return;
    case 'owner':
      await asOwner(code.replaceAll('…', PASSWORD));
      return;
    case 'skip':
  }
}

/** The addresses of the README as they are here. */
function mine(text: string): string {
  const { host } = new URL(server.url);
  return text
    .replace(/postgres:\/\/msgx:…@db\.example:5432\/msgx/, server.url)
    .replace(/mailbox\.example:5432/, host)
    .replaceAll('…', PASSWORD);
}

/** Runs a block as typed. @param wanted its exit code, or the address that answers 200 before Ctrl-C */
async function shell(code: string, wanted: number | string): Promise<void> {
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|MSGX_|NODE)/.test(name));
  const child = spawn('bash', ['-ec', code], {
    cwd: clone,
    env: { ...Object.fromEntries(own), PATH: path.join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const failed = (what: string) => new Error(`${what}\n${code}\n${output.slice(-4_000)}`);
  const url = typeof wanted === 'string' ? wanted : null;
  if (url !== null) {
    const deadline = performance.now() + START_MS;
    while ((await answer(url)) !== 200) {
      if (child.exitCode !== null) throw failed('it has ended');
      if (performance.now() > deadline) throw failed(`${url} did not answer`);
      await sleep(200);
    }
    // The keyboard reaches everything that runs in the terminal.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  }
  const exit = await ended;
  if (url === null && exit !== wanted) throw failed(`exit code ${String(exit)}`);
  if (url !== null && (await answer(url)) !== null) throw failed('it still answers');
}

async function answer(url: string): Promise<number | null> {
  return fetch(url).then(
    ({ status }) => status,
    () => null,
  );
}

/** The mailbox that the reader's airport has. */
async function prepareMailbox(): Promise<void> {
  const result = configFromObject({ airport: 'CTU', database: { url: server.url }, mailbox: { url: owned } });
  if (!result.ok) throw new Error(result.faults.join('\n'));
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('create database aodb');
  await client.end();
  const dialect = await dialectOf(result.config);
  const names = mailboxNames(dialect.mailbox, result.config.mailbox.tables);
  const mailbox = await openMailbox({ url: owned, names, timeoutMs: 10_000 });
  await mailbox.init();
  await mailbox.close();
}

async function asOwner(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: owned });
  await client.connect();
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
