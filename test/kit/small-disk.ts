/** A PostgreSQL of its own on a small file system, which a test can fill. Mounting needs root. */
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbedded } from '../../src/store/embedded.ts';

const execute = promisify(execFile);
const required = (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('tmpfs');

async function mount(directory: string, megabytes: number): Promise<string | null> {
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${String(megabytes)}m`, 'tmpfs', directory]);
    return null;
  } catch (error) {
    return `a tmpfs cannot be mounted here: ${error instanceof Error ? (error.message.split('\n')[1] ?? error.message) : String(error)}`;
  }
}

async function findMissing(): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-mount-'));
  const missing = await mount(directory, 1);
  if (missing === null) await execute('umount', [directory]);
  await rm(directory, { recursive: true, force: true });
  return missing;
}

/** Why no file system can be mounted, or null. */
export const smallDiskMissing: string | null = await findMissing();
if (smallDiskMissing !== null && required) throw new Error(`tmpfs is required: ${smallDiskMissing}`);

export interface SmallDisk {
  readonly url: string;
  /** Takes all the space that is left, until `free`. */
  fill(): Promise<void>;
  free(): Promise<void>;
  dispose(): Promise<void>;
}

/** Mounts the file system and starts the server on it. */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-disk-'));
  const missing = await mount(directory, megabytes);
  if (missing !== null) throw new Error(missing);
  const server = await startEmbedded({
    directory,
    settings: { shared_buffers: '16MB', min_wal_size: '32MB' },
  });
  const ballast = join(directory, 'ballast');
  return {
    url: server.url,
    async fill() {
      const file = await open(ballast, 'w');
      try {
        for (let size = 1 << 20; size >= 4_096;) {
          const { bytesWritten } = await file.write(Buffer.alloc(size)).catch((error: unknown) => {
            if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
              return { bytesWritten: 0 };
            throw error;
          });
          if (bytesWritten < size) size >>= 1;
        }
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    async dispose() {
      await rm(ballast, { force: true });
      await server.stop();
      await execute('umount', [directory]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
