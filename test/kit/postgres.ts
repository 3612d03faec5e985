/** Databases for tests: cloned from the migrated template, dropped when the test file ends. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { TEMPLATE } from './global-setup.ts';

const server = inject('postgres');
const required = (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('postgres');

/** Why PostgreSQL is missing, or null. Use as `describe.skipIf(postgresMissing !== null)`. */
export const postgresMissing: string | null = 'missing' in server ? server.missing : null;
if (postgresMissing !== null && required) throw new Error(`PostgreSQL is required: ${postgresMissing}`);

/** URL of the server's own database; throws where there is no server. */
export function serverUrl(): string {
  if ('missing' in server) throw new Error(server.missing);
  return server.url;
}

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  readonly database: Database;
  /** A plain client for the test's own look at the rows; int8 as text. */
  readonly client: pg.Client;
  /** Closes our connections and keeps the database, to be copied. */
  disconnect(): Promise<void>;
  /** Closes connections and drops the database; also done after the test file. */
  drop(): Promise<void>;
}

const open = new Set<TestDatabase>();

/**
 * Creates a database with the migrated schema `msgx` (`blank: true`: an empty one; `copyOf`: the name of another
 * database, to which nobody may be connected).
 */
export async function createTestDatabase(
  options: { blank?: boolean; copyOf?: string } = {},
): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  const template = options.copyOf ?? TEMPLATE;
  await admin(`create database ${name} ${options.blank === true ? '' : `template ${template}`}`);
  const url = serverUrl().replace(/\/msgx$/, `/${name}`);
  const client = new pg.Client({ connectionString: url, options: '-c search_path=msgx,public' });
  client.on('error', () => undefined);
  await client.connect();
  let connected = true;
  const disconnect = async () => {
    if (!connected) return;
    connected = false;
    await created.database.close();
    await client.end();
  };
  const created: TestDatabase = {
    name,
    url,
    database: new Database({ url, schema: 'msgx' }),
    client,
    disconnect,
    drop: async () => {
      if (!open.delete(created)) return;
      await disconnect();
      await admin(`drop database if exists ${name} with (force)`);
    },
  };
  open.add(created);
  return created;
}

async function admin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    // Cloning waits while another clone of the template runs.
    await client.query("select pg_advisory_lock(hashtext('msgx test template'))");
    await client.query(sql);
  } finally {
    await client.end();
  }
}

afterAll(async () => {
  for (const database of open) await database.drop();
});
