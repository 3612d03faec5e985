/**
 * Writes test/releases/VERSION: a database in the middle of a simulated day as this version leaves it, with its mailbox
 * and its journal. Later versions restore it, migrate it and go on (test/releases). Run by `npm run release:dump`, once
 * per release; needs PostgreSQL's server and pg_dump.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { stringify } from 'yaml';
import { VERSION } from '../src/service/version.ts';
import { startServer } from './postgres-server.ts';

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const MSGX = join(ROOT, 'bin/msgx.js');
const DAY = '2026-03-14';
/** Most bytes of one release in the repository. */
const MOST = 200_000;

const server = await startServer();
const directory = await mkdtemp(join(tmpdir(), 'msgx-release-'));
try {
  const admin = new pg.Client({ connectionString: server.url() });
  await admin.connect();
  await admin.query('create database msgx');
  await admin.end();
  const url = server.url('msgx');
  await writeFile(
    join(directory, 'msgx.yaml'),
    stringify({
      msgx: {
        ...{ airport: 'HGH', database: { url }, mailbox: { url }, http: { listen: '127.0.0.1:0' } },
        delivery: { journal: { dir: 'journal' } },
        pipeline: {
          'max-commit-delay': '1s',
          retry: { 'capability-backoff': ['10ms', '10ms', '10ms', '10ms'] },
        },
        requests: { 'on-start': ['tomorrow'] },
      },
    }),
  );
  const msgx = (...args: string[]) => execute(process.execPath, [MSGX, ...args], { cwd: directory });
  const simulate = (count: number, seed: string, ...shares: string[]) =>
    msgx('simulate', '--count', String(count), '--seed', seed, '--day', DAY, ...shares);
  await msgx('migrate');
  await msgx('mailbox', 'init');
  await simulate(150, 'release', '--late', '0.01', '--unsupported', '0.01');
  await runUntilDone(url);
  await msgx('pause', 'requests', '--reason', 'dump of a release');
  await msgx('verify');
  // Left for the version that restores it.
  await simulate(20, 'afterwards', '--poison', '0', '--holes', '0');

  const target = join(ROOT, 'test/releases', VERSION);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const { stdout: sql } = await execute(
    server.tool('pg_dump'),
    ['--inserts', '--rows-per-insert=50', '--no-owner', '--no-privileges', url],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const files: readonly (readonly [string, string])[] = [
    ['database.sql.gz', sql],
    ['msg.jsonl.gz', await readFile(join(directory, 'journal/msg.jsonl'), 'utf8')],
    ['schd.jsonl.gz', await readFile(join(directory, 'journal/schd.jsonl'), 'utf8')],
  ];
  let bytes = 0;
  for (const [name, text] of files) {
    const packed = gzipSync(text, { level: 9 });
    bytes += packed.length;
    await writeFile(join(target, name), packed);
  }
  console.log(`test/releases/${VERSION}: ${String(bytes)} bytes`);
  if (bytes > MOST) throw new Error(`more than ${String(MOST)} bytes: simulate fewer messages`);
} finally {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}

/** Runs the service until everything in the mailbox is processed, told and marked. */
async function runUntilDone(url: string): Promise<void> {
  const child = spawn(process.execPath, [MSGX, 'run'], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let left = 'unknown'; left !== '0';) {
      if (child.exitCode !== null) throw new Error('msgx run has ended');
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { rows } = await client.query<{ left: string }>(
        `select ((select count(*) from public.cminmsgs where cminmsgs_date_processed is null)
          + (select count(*) from msgx.proc_state where state in ('PENDING', 'FAILED') or
              (backfill_at is null and backfill_abandoned_at is null))
          + (select count(*) from msgx.msg_event where state = 'PENDING')
          + (select count(*) from msgx.req_track where state = 'PENDING'))::text as left`,
      );
      left = rows[0]?.left ?? 'unknown';
    }
  } finally {
    await client.end();
    child.kill('SIGTERM');
  }
  if ((await ended) !== 0) throw new Error('msgx run did not end well');
}
