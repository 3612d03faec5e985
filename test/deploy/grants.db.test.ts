/** The grants of deploy/postgres/grants.sql: enough for every statement of ours, and none that no statement needs. */
import { readdirSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SchemaFault, checkGrants, checkSchema, migrate } from '../../src/store/migrate.ts';
import { Database } from '../../src/store/database.ts';
import { Outage } from '../../src/runtime/outage.ts';
import { statement, type Statement } from '../../src/store/statement.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createOwnRoles, type OwnRoles } from './own-roles.ts';

const named = vi.hoisted(() => new Map<string, string>());
vi.mock('../../src/store/statement.ts', () => ({
  statement: (name: string, text: string): Statement => {
    named.set(name, text);
    return { name, text };
  },
}));

const STORE = new URL('../../src/store/', import.meta.url);
const REFUSED = '42501';

interface Grant {
  readonly relation: string;
  readonly privilege: string;
}

describe.skipIf(postgresMissing !== null)('the grants of the service', () => {
  let roles: OwnRoles;
  let service: pg.Client;
  /** Statements that read or write tables, by the tables that they name. */
  let statements: readonly string[];

  beforeAll(async () => {
    roles = await createOwnRoles();
    await migrate(roles.url('owner'), 'msgx', { grants: roles.grants });
    service = await roles.session('service');
    for (const file of readdirSync(STORE)) {
      if (file.endsWith('.ts')) await import(new URL(file, STORE).href);
    }
    // What a cursor reads is said where it is declared.
    statements = [...named.values()].filter((text) => !/^(fetch|close) /.test(text));
  });
  afterAll(() => roles.drop());

  /** The SQLSTATE with which a statement is refused before it runs; null where it may run. */
  async function refusal(client: pg.Client, text: string): Promise<string | null> {
    await client.query('savepoint looking');
    try {
      await client.query(`explain (generic_plan) ${text}`);
      return null;
    } catch (error) {
      return (error as pg.DatabaseError).code ?? String(error);
    } finally {
      await client.query('rollback to savepoint looking');
    }
  }

  it('are enough for every statement', async () => {
    expect(statements.length).toBeGreaterThan(150);
    await service.query('begin');
    const refused: string[] = [];
    for (const text of statements) {
      const code = await refusal(service, text);
      if (code !== null) refused.push(`${code}: ${text}`);
    }
    await service.query('rollback');
    expect(refused).toEqual([]);
  });

  it('hold nothing that no statement needs', { timeout: 60_000 }, async () => {
    const { client } = roles.db;
    const { rows } = await client.query<Grant>(
      `select c.relname as relation, lower(a.privilege_type) as privilege
       from pg_class c, aclexplode(c.relacl) a
       where c.relnamespace = 'msgx'::regnamespace and c.relkind = 'r' and a.grantee = $1::regrole
       order by 1, 2`,
      [roles.name('service')],
    );
    expect(rows.length).toBeGreaterThan(60);
    const needless: Grant[] = [];
    await client.query('begin');
    for (const grant of rows) {
      await client.query('savepoint without');
      await client.query(`revoke ${grant.privilege} on ${grant.relation} from ${roles.name('service')}`);
      await client.query(`set local role ${roles.name('service')}`);
      const word = new RegExp(`\\b${grant.relation}\\b`);
      let needed = false;
      for (const text of statements) {
        needed = word.test(text) && (await refusal(client, text)) === REFUSED;
        if (needed) break;
      }
      if (!needed) needless.push(grant);
      await client.query('rollback to savepoint without');
    }
    await client.query('rollback');
    expect(needless).toEqual([]);
  });

  it('are missed in one line by a service whose schema has a table more', async () => {
    const database = new Database({ url: roles.url('service'), schema: 'msgx' });
    try {
      await checkSchema(database);
      await checkGrants(database);
      await roles.db.client.query(
        `create table msgx.later (id integer); alter table msgx.later owner to ${roles.name('owner')}`,
      );
      const fault = await checkGrants(database).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(SchemaFault);
      expect(String(fault)).toMatch(/^SchemaFault: the role msgx_service_\w+ may not read later: run msgx/);
      // Where a station meets it all the same, everything waits and nobody is charged.
      const selected = database.query(statement('test.later', 'select id from later'));
      await expect(selected).rejects.toThrow(Outage);
    } finally {
      await database.close();
      await roles.db.client.query('drop table msgx.later');
    }
  });
});
