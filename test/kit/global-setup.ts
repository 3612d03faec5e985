/**
 * Starts one embedded PostgreSQL for the whole run and prepares a migrated template, from which every test
 * file clones databases of its own. Where the server cannot start, tests that need it are skipped with the
 * reason, or fail under MSGX_TEST_REQUIRE=postgres.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/store/embedded.ts';
import { migrate } from '../../src/store/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the test server, or why there is none. */
    postgres: { url: string } | { missing: string };
  }
}

export const TEMPLATE = 'msgx_template';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-test-'));
  try {
    const server = await startEmbedded({
      directory,
      // Tests crash our own processes, never this server: its durability is not under test here.
      settings: {
        fsync: 'off',
        max_connections: '200',
        shared_buffers: '128MB',
        max_prepared_transactions: '10',
      },
    });
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`create database ${TEMPLATE}`);
    await client.end();
    await migrate(server.url.replace(/\/msgx$/, `/${TEMPLATE}`), 'msgx');
    project.provide('postgres', { url: server.url });
    return async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    };
  } catch (error) {
    project.provide('postgres', { missing: error instanceof Error ? error.message : String(error) });
    return async () => rm(directory, { recursive: true, force: true });
  }
}
