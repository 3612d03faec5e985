/**
 * A PostgreSQL of the system with its tools, pg_dump and pg_restore above all, which the embedded one lacks: started in a
 * folder of its own, for the dump of a release and for the tests of the runbook.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';

export interface PostgresServer {
  /** Of the database `postgres`, as superuser; another one by its name. */
  url(database?: string): string;
  /** Path of a tool, e.g. `pg_dump`. */
  tool(name: string): string;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** Folder of the newest server that is installed; null where there is none. */
export function serverBinaries(): string | null {
  if (!existsSync(DEBIAN)) return null;
  const folders = readdirSync(DEBIAN)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin'));
  return (
    folders.find((folder) => ['postgres', 'pg_dump'].every((tool) => existsSync(join(folder, tool)))) ?? null
  );
}

/** Starts one. Throws an Error where none is installed or it does not come up. */
export async function startServer(): Promise<PostgresServer> {
  const bin = serverBinaries();
  if (bin === null) throw new Error(`no PostgreSQL server in ${DEBIAN}: install postgresql`);
  const directory = await mkdtemp(join(tmpdir(), 'msgx-server-'));
  const owner = ownerOf(directory);
  const data = join(directory, 'data');
  const port = await freePort();
  const tool = (name: string) => join(bin, name);
  await execute(
    tool('initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    owner,
  );
  const settings = `-c port=${String(port)} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  const log = join(directory, 'server.log');
  await execute(tool('pg_ctl'), ['-D', data, '-l', log, '-w', '-o', settings, 'start'], owner);
  return {
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${String(port)}/${database}`,
    tool,
    stop: async () => {
      await execute(tool('pg_ctl'), ['-D', data, '-w', '-m', 'immediate', 'stop'], owner);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root: then it runs as the user of the system's own server. */
function ownerOf(directory: string): { readonly cwd: string; readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return { cwd: '/' };
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const owner = { uid: id('-u'), gid: id('-g') };
  chownSync(directory, owner.uid, owner.gid);
  return { cwd: '/', ...owner };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
