/**
 * One writer at a time in a directory: a lock file that its holder touches. A holder that has died on this host
 * is replaced at once; one that is silent (stopped, or on another host) after STALE_MS, measured by our own
 * monotonic timer from when its last touch was first seen, so that no two clocks are compared.
 * A holder asks `held` directly before it writes: one that was stopped and replaced finds out there.
 */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { hasCode } from './errno.ts';

const TOUCH_MS = 500;
const STALE_MS = 3_000;

interface Holder {
  readonly host: string;
  readonly pid: number;
  /** Start of the process in kernel ticks, where the system tells: PIDs are reused. */
  readonly started: string | null;
}

/** Another process holds the lock. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

export class DirectoryLock {
  readonly #path: string;
  #own: { readonly handle: FileHandle; readonly inode: bigint; readonly timer: NodeJS.Timeout } | null = null;
  #seen: { readonly touch: string; readonly since: number } | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the lock; nothing where it is held already. Throws DirectoryInUse, or what the file system says. */
  async acquire(): Promise<void> {
    if (this.#own !== null) return;
    const content = JSON.stringify(await ourselves());
    const handle = (await this.#create(content)) ?? (await this.#replace(content));
    const { ino: inode } = await handle.stat({ bigint: true });
    const timer = setInterval(() => {
      // Writing the same content moves the file's time; a failed touch only makes us look silent.
      handle.write(content, 0).catch(() => undefined);
    }, TOUCH_MS);
    timer.unref();
    this.#own = { handle, inode, timer };
    if (!(await this.held())) {
      await this.release();
      throw new DirectoryInUse(`${this.#path}: another process was faster`);
    }
  }

  /** Whether the lock is still ours. */
  async held(): Promise<boolean> {
    if (this.#own === null) return false;
    const found = await stat(this.#path, { bigint: true }).catch(() => null);
    return found?.ino === this.#own.inode;
  }

  /** Whether `acquire` would succeed now; takes nothing. */
  async available(): Promise<boolean> {
    if (await this.held()) return true;
    try {
      await this.#refuseLive();
      return true;
    } catch {
      return false;
    }
  }

  /** Gives the lock back, if it is still ours. */
  async release(): Promise<void> {
    const own = this.#own;
    if (own === null) return;
    clearInterval(own.timer);
    if (await this.held()) await rm(this.#path, { force: true });
    this.#own = null;
    await own.handle.close();
  }

  /** Throws DirectoryInUse where the lock has a holder that may live. */
  async #refuseLive(): Promise<void> {
    const found = await stat(this.#path, { bigint: true }).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    });
    if (found === null) return;
    const holder = await readHolder(this.#path);
    if (holder !== null && (await hasDied(holder))) return;
    const touch = `${String(found.ino)} ${String(found.mtimeNs)}`;
    if (this.#seen?.touch !== touch) this.#seen = { touch, since: performance.now() };
    if (performance.now() - this.#seen.since >= STALE_MS) return;
    const who = holder === null ? 'another process' : `process ${String(holder.pid)} on ${holder.host}`;
    throw new DirectoryInUse(`${this.#path} is held by ${who}`);
  }

  /** Null where there is a lock already. */
  async #create(content: string): Promise<FileHandle | null> {
    try {
      const handle = await open(this.#path, 'wx');
      return await write(handle, content, this.#path);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return null;
      throw error;
    }
  }

  async #replace(content: string): Promise<FileHandle> {
    await this.#refuseLive();
    const temporary = `${this.#path}.${randomBytes(6).toString('hex')}`;
    const handle = await write(await open(temporary, 'wx'), content, temporary);
    try {
      await rename(temporary, this.#path);
      return handle;
    } catch (error) {
      await handle.close();
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

/** Fills a lock file that was just created; removes it where that fails, so that no empty one stays behind. */
async function write(handle: FileHandle, content: string, path: string): Promise<FileHandle> {
  try {
    await handle.write(content, 0);
    return handle;
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

async function ourselves(): Promise<Holder> {
  return { host: hostname(), pid: process.pid, started: await startOf(process.pid) };
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { host, pid, started } = value as Record<string, unknown>;
    if (typeof host !== 'string' || typeof pid !== 'number') return null;
    return { host, pid, started: typeof started === 'string' ? started : null };
  } catch {
    return null;
  }
}

/** Whether a holder certainly lives no more. */
async function hasDied({ host, pid, started }: Holder): Promise<boolean> {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
  const now = await startOf(pid);
  return started !== null && now !== null && now !== started;
}

/** Start time of a process, the 22nd field of its stat file; null where the system has none. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const text = await readFile(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is a name in parentheses that may hold spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
