/**
 * The journal: events as JSON Lines on disk, `msg.jsonl` and `schd.jsonl` (contract, "Delivery"). A batch is
 * one write and one fsync per file, and counts as a whole or not at all. The files belong to one process at a
 * time; they may be rotated by renaming. Nothing is opened before the first batch, so that a standby holds nothing.
 */
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Outage } from '../../runtime/outage.ts';
import type { SendOutcome, Sink, SinkRecord, Stream } from '../port.ts';
import { DirectoryInUse, DirectoryLock } from './directory-lock.ts';
import { isSystemError } from './errno.ts';
import { JournalFile, openFile, type OpenFile } from './journal-file.ts';

export interface JournalOptions {
  /** `delivery.journal.dir`; created where missing. */
  readonly directory: string;
  /** Name of each stream's topic, as it stands in the lines. */
  readonly topics: Readonly<Record<Stream, string>>;
  /** Deadline of one batch, ms. */
  readonly timeoutMs: number;
  /** Longest line; a longer one is refused. Default 64 MiB. */
  readonly maxRecordBytes?: number;
  readonly openFile?: OpenFile;
}

const STREAMS = ['msg', 'schd'] as const satisfies readonly Stream[];
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

type Files = Readonly<Record<Stream, JournalFile>>;

/** Name of a stream's file. */
export function journalFileName(stream: Stream): string {
  return `${stream}.jsonl`;
}

export class JournalSink implements Sink {
  readonly kind = 'journal';
  readonly #options: JournalOptions;
  readonly #directory: string;
  readonly #lock: DirectoryLock;
  #files: Files | null = null;
  #closed = false;
  /** Ends with the last operation begun, also one whose deadline has passed: nothing overtakes a hanging disk. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#directory = resolve(options.directory);
    this.#lock = new DirectoryLock(join(this.#directory, 'writer.lock'));
  }

  async send(records: readonly SinkRecord[]): Promise<SendOutcome> {
    if (records.length === 0) return { outcome: 'accepted' };
    const lines: Record<Stream, string[]> = { msg: [], schd: [] };
    for (const record of records) {
      const line = this.#line(record);
      const fault = this.#fault(record, line);
      if (fault !== null) return { outcome: 'refused', reason: fault };
      lines[record.stream].push(line);
    }
    return this.#inTurn(async () => {
      await this.#append(lines);
      return { outcome: 'accepted' };
    });
  }

  async probe(): Promise<boolean> {
    try {
      return await this.#inTurn(async () => {
        await this.#makeDirectory();
        await this.#tryWrite(join(this.#directory, `.probe-${String(process.pid)}`));
        return this.#lock.available();
      });
    } catch (error) {
      if (error instanceof Outage) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const closing = this.#inTurn(async () => this.#release());
    this.#closed = true;
    await closing.catch((error: unknown) => {
      if (!(error instanceof Outage)) throw error;
    });
  }

  async #tryWrite(path: string): Promise<void> {
    const file = await JournalFile.open(path, this.#options.openFile ?? openFile);
    try {
      await file.append(Buffer.from('probe\n'));
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  }

  #line({ stream, key, headers, value }: SinkRecord): string {
    // JSON has line breaks only between its tokens, where a blank does as well.
    const text = value === null ? 'null' : value.replaceAll(/[\r\n]+/g, ' ');
    const topic = JSON.stringify(this.#options.topics[stream]);
    return `{"topic":${topic},"key":${JSON.stringify(key)},"headers":${JSON.stringify(headers)},"value":${text}}\n`;
  }

  #fault({ key, value }: SinkRecord, line: string): string | null {
    if (key === '') return 'the key is empty';
    if (value === '') return 'the value is empty: a tombstone is null';
    const limit = this.#options.maxRecordBytes ?? MAX_RECORD_BYTES;
    const bytes = Buffer.byteLength(line);
    return bytes > limit ? `the record has ${String(bytes)} bytes, more than ${String(limit)}` : null;
  }

  async #append(lines: Readonly<Record<Stream, readonly string[]>>): Promise<void> {
    const files = await this.#ready();
    const parts = STREAMS.filter((stream) => lines[stream].length > 0).map((stream) => ({
      file: files[stream],
      bytes: Buffer.from(lines[stream].join('')),
    }));
    await this.#checkLock();
    try {
      for (const { file, bytes } of parts) await file.append(bytes);
    } catch (error) {
      // At once where the disk lets us; otherwise the next batch begins with it.
      if (await this.#lock.held()) for (const { file } of parts) await file.restore().catch(() => undefined);
      throw error;
    }
    for (const { file, bytes } of parts) file.commit(bytes.length);
  }

  /** The files, locked, whole and where their names say; opens them where that is not so. */
  async #ready(): Promise<Files> {
    if (this.#files !== null) {
      // Before anything is cut off: the files of another holder are not ours to mend.
      await this.#checkLock();
      const { msg, schd } = this.#files;
      await msg.restore();
      await schd.restore();
      if ((await msg.isIntact()) && (await schd.isIntact())) return this.#files;
      await this.#closeFiles();
    }
    await this.#makeDirectory();
    await this.#lock.acquire();
    const opener = this.#options.openFile ?? openFile;
    const msg = await JournalFile.open(join(this.#directory, journalFileName('msg')), opener);
    try {
      const schd = await JournalFile.open(join(this.#directory, journalFileName('schd')), opener);
      this.#files = { msg, schd };
      await syncDirectory(this.#directory);
      return this.#files;
    } catch (error) {
      if (this.#files === null) await msg.close();
      throw error;
    }
  }

  /** A holder that slept too long has been replaced: it lets go of everything. */
  async #checkLock(): Promise<void> {
    if (await this.#lock.held()) return;
    await this.#release();
    throw new DirectoryInUse(`${this.#directory}: another process has taken the journal over`);
  }

  async #makeDirectory(): Promise<void> {
    const first = await mkdir(this.#directory, { recursive: true });
    if (first === undefined) return;
    // A new directory is durable when the one above it is.
    for (let path = this.#directory; path.startsWith(first); path = dirname(path)) {
      await syncDirectory(dirname(path));
    }
  }

  async #release(): Promise<void> {
    await this.#closeFiles();
    await this.#lock.release();
  }

  async #closeFiles(): Promise<void> {
    const files = this.#files;
    this.#files = null;
    if (files !== null) await Promise.all([files.msg.close(), files.schd.close()]);
  }

  /** Runs after what was begun before, within the deadline; what the system refuses becomes an Outage. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Outage('delivery', new Error('the journal is closed'));
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_resolve, reject) => {
      const { timeoutMs } = this.#options;
      const late = new Outage('delivery', new Error(`no answer within ${String(timeoutMs)} ms`));
      timer = setTimeout(() => reject(late), timeoutMs);
    });
    try {
      return await Promise.race([turn, deadline]);
    } catch (error) {
      if (error instanceof DirectoryInUse || isSystemError(error)) throw new Outage('delivery', error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
