/**
 * One append-only file of JSON Lines. What has been committed ends with a newline and is on disk; everything
 * behind it is cut off: a torn tail when the file is opened, a partial write before the next batch.
 */
import { failpoint } from '#failpoint';
import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { hasCode } from './errno.ts';

/** How files are opened; tests put a failing disk here. */
export type OpenFile = (path: string, flags: number) => Promise<FileHandle>;

export const openFile: OpenFile = (path, flags) => open(path, flags, 0o640);

/** How much of the end is read when looking for damage; more than a crash can leave behind, usually. */
const WINDOW_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export class JournalFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #inode: bigint;
  /** Length of what is committed. */
  #size: number;
  /** Whether there may be something behind it. */
  #suspect = false;

  private constructor(path: string, handle: FileHandle, inode: bigint, size: number) {
    this.path = path;
    this.#handle = handle;
    this.#inode = inode;
    this.#size = size;
  }

  /** Opens or creates the file and cuts off a torn tail. Throws what the file system says. */
  static async open(path: string, opener: OpenFile): Promise<JournalFile> {
    // Appending, never at a position: a writer that was replaced while it slept could otherwise overwrite.
    const handle = await opener(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    try {
      const { ino, size } = await handle.stat({ bigint: true });
      const sound = await soundLength(handle, Number(size));
      if (sound < Number(size)) {
        await handle.truncate(sound);
        await handle.sync();
      }
      return new JournalFile(path, handle, ino, sound);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Whether the path still names this file at its committed length: not rotated, deleted or written by others. */
  async isIntact(): Promise<boolean> {
    try {
      const found = await stat(this.path, { bigint: true });
      return found.ino === this.#inode && Number(found.size) === this.#size;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** Cuts off what a failed batch has left behind. */
  async restore(): Promise<void> {
    if (!this.#suspect) return;
    await this.#handle.truncate(this.#size);
    await this.#handle.datasync();
    this.#suspect = false;
  }

  /** Appends and waits for the disk; not committed until `commit`. */
  async append(bytes: Buffer): Promise<void> {
    this.#suspect = true;
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#handle.write(bytes, done, bytes.length - done);
      done += bytesWritten;
    }
    failpoint('journal.written');
    await this.#handle.datasync();
    failpoint('journal.synced');
  }

  /** Declares appended bytes as part of the file. */
  commit(bytes: number): void {
    this.#size += bytes;
    this.#suspect = false;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/**
 * Length up to the last line that is whole. A crash of the host can also leave blocks of NUL bytes, which no
 * JSON text contains: everything from the line of the first of them is torn too.
 */
async function soundLength(handle: FileHandle, size: number): Promise<number> {
  let end = size;
  while (end > 0) {
    const from = Math.max(0, end - WINDOW_BYTES);
    const window = Buffer.alloc(end - from);
    const { bytesRead } = await handle.read(window, 0, window.length, from);
    const bytes = window.subarray(0, bytesRead);
    const nul = bytes.indexOf(0);
    const newline = bytes.lastIndexOf(NEWLINE, nul === -1 ? undefined : nul);
    if (newline !== -1 && nul !== 0) return from + newline + 1;
    end = from;
  }
  return 0;
}
