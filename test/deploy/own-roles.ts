/** The roles of deploy/postgres in a database of a test's own, under names of its own: roles belong to the whole server. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { createTestDatabase, serverUrl, type TestDatabase } from '../kit/postgres.ts';

const FOLDER = new URL('../../deploy/postgres/', import.meta.url);
const ROLES = ['owner', 'service', 'reader'] as const;
export type OwnRole = (typeof ROLES)[number];

export interface OwnRoles {
  readonly db: TestDatabase;
  /** Name of a role in this test. */
  name(role: OwnRole): string;
  /** URL of the database as a role. */
  url(role: OwnRole): string;
  /** grants.sql with the names of this test. */
  readonly grants: string;
  /** A session as a role, with the search path of msgx. */
  session(role: OwnRole): Promise<pg.Client>;
  /** Drops database and roles. */
  drop(): Promise<void>;
}

/** Runs roles.sql in an empty database as its administrator, with what a DBA fills in; nothing is migrated yet. */
export async function createOwnRoles(): Promise<OwnRoles> {
  const db = await createTestDatabase({ blank: true });
  const suffix = randomBytes(4).toString('hex');
  const name = (role: OwnRole) => `msgx_${role}_${suffix}`;
  const filled = async (file: string) =>
    (await readFile(new URL(file, FOLDER), 'utf8'))
      .replaceAll(/\bmsgx_(?:owner|service|reader)\b/g, (role) => `${role}_${suffix}`)
      .replaceAll('on database msgx ', `on database ${db.name} `)
      .replaceAll('-PASSWORD', `-${suffix}`);
  await db.client.query(await filled('roles.sql'));
  const url = (role: OwnRole) => {
    const parsed = new URL(db.url);
    parsed.username = name(role);
    parsed.password = `${role.toUpperCase()}-${suffix}`;
    return parsed.toString();
  };
  const sessions: pg.Client[] = [];
  return {
    db,
    name,
    url,
    grants: await filled('grants.sql'),
    session: async (role) => {
      const client = new pg.Client({ connectionString: url(role), options: '-c search_path=msgx' });
      await client.connect();
      sessions.push(client);
      return client;
    },
    drop: async () => {
      await Promise.allSettled(sessions.map((client) => client.end()));
      await db.drop();
      const admin = new pg.Client({ connectionString: serverUrl() });
      await admin.connect();
      for (const role of ROLES) await admin.query(`drop role ${name(role)}`);
      await admin.end();
    },
  };
}
