/** A disk that can be told to fail or to hang in the middle of a write; everything else is the real one. */
import type { FileHandle } from 'node:fs/promises';
import { openFile, type OpenFile } from '../../../src/delivery/sinks/journal-file.ts';

export type DiskMode = 'sound' | 'full' | 'full and stuck' | 'no fsync' | 'hanging';

export class FaultyDisk {
  #mode: DiskMode = 'sound';
  #resume: (() => void)[] = [];
  syncs = 0;

  get mode(): DiskMode {
    return this.#mode;
  }

  set mode(mode: DiskMode) {
    this.#mode = mode;
    if (mode === 'hanging') return;
    for (const resume of this.#resume.splice(0)) resume();
  }

  readonly open: OpenFile = async (path, flags) => this.#wrap(await openFile(path, flags));

  #wrap(handle: FileHandle): FileHandle {
    const write = async (buffer: Buffer, offset: number, length: number) => {
      if (this.#mode === 'hanging') await new Promise<void>((resolve) => this.#resume.push(resolve));
      if (this.#mode === 'full' || this.#mode === 'full and stuck') {
        // The first half goes to the disk, then there is no room.
        await handle.write(buffer, offset, Math.ceil(length / 2));
        throw systemError('ENOSPC');
      }
      return handle.write(buffer, offset, length);
    };
    const datasync = async () => {
      this.syncs += 1;
      if (this.#mode === 'no fsync') throw systemError('EIO');
      return handle.datasync();
    };
    const truncate = async (length: number) => {
      if (this.#mode === 'full and stuck') throw systemError('EIO');
      return handle.truncate(length);
    };
    return new Proxy(handle, {
      get: (target, property) => {
        if (property === 'write') return write;
        if (property === 'datasync') return datasync;
        if (property === 'truncate') return truncate;
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno: -1 });
}
