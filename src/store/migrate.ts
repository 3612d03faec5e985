/**
 * Migrations: numbered SQL files, forward only, checksummed, under a waiting lock (contract, "Own
 * PostgreSQL"). After them the views are re-created where the field catalogue has changed.
 */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import pg from 'pg';
import { Outage, isConnectionCode, isOutageSqlState, messageOf } from '../runtime/outage.ts';
import type { Queryable } from './statement.ts';
import { statement } from './statement.ts';
import { catalogueHash, viewStatements } from './views.ts';

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);

/** The migrations that come with this version, in order. */
export async function migrations(): Promise<readonly Migration[]> {
  const files = (await readdir(FOLDER)).filter((file) => /^\d{4}_.+\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, FOLDER), 'utf8');
      return {
        version: Number(file.slice(0, 4)),
        name: file.replace(/\.sql$/, ''),
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      };
    }),
  );
}

/** What `migrate` did: the migrations applied now, and whether the views were re-created. */
export interface MigrateResult {
  readonly applied: readonly string[];
  readonly views: boolean;
}

export interface MigrateOptions {
  /** Statements run behind the migrations, e.g. the grants of the other roles, of which a new table has none. */
  readonly grants?: string;
}

/**
 * Brings the schema up to this version; waits where another migrate is running. Creates the schema itself
 * where it is missing. Throws Outage where the database cannot be reached and SchemaFault where an applied
 * migration was changed, the schema is newer than this program, or the role may not do it.
 */
export async function migrate(
  url: string,
  schema: string,
  options: MigrateOptions = {},
): Promise<MigrateResult> {
  const client = new pg.Client({ connectionString: url, application_name: 'msgx migrate', keepAlive: true });
  try {
    await client.connect();
    await client.query("select pg_advisory_lock(hashtext('msgx migrate'), hashtext($1))", [schema]);
    const existing = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (existing.rowCount === 0) await client.query(`create schema ${client.escapeIdentifier(schema)}`);
    await client.query("select set_config('search_path', $1, false)", [client.escapeIdentifier(schema)]);
    const { rows: there } = await client.query<{ present: boolean }>(SELECT_EXISTS.text);
    if (there[0]?.present !== true) await client.query(BOOKKEEPING);
    const { rows } = await client.query<{ version: number; checksum: string; name: string }>(
      'select version, name, checksum from schema_migration order by version',
    );
    const known = await migrations();
    compare(known, rows);
    const applied: string[] = [];
    for (const migration of known) {
      if (rows.some(({ version }) => version === migration.version)) continue;
      await client.query('begin');
      try {
        await client.query(migration.sql);
        await client.query('insert into schema_migration (version, name, checksum) values ($1, $2, $3)', [
          migration.version,
          migration.name,
          migration.checksum,
        ]);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
      applied.push(migration.name);
    }
    const views = await recreateViews(client, applied.length > 0);
    if (options.grants !== undefined) await grant(client, options.grants);
    return { applied, views };
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (isConnectionCode(error) || isOutageSqlState(code)) throw new Outage('database', error);
    if (code === REFUSED) {
      throw new SchemaFault(
        `${messageOf(error)}: run msgx migrate as the role that owns the schema ${schema}`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function grant(client: pg.Client, grants: string): Promise<void> {
  try {
    await client.query(grants);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || isOutageSqlState(error.code)) throw error;
    throw new SchemaFault(`the schema is migrated, the grants were refused: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** SQLSTATE insufficient_privilege. */
const REFUSED = '42501';

/** What was applied; made by the first migrate, which may be one that a former version ended in the middle of. */
const BOOKKEEPING = `
  create table if not exists schema_migration (
    version integer primary key, name text not null, checksum text not null,
    applied_at timestamptz not null default now());
  create table if not exists schema_catalogue (
    only_row boolean primary key default true check (only_row), hash text not null)`;

async function recreateViews(client: pg.Client, always: boolean): Promise<boolean> {
  const { rows } = await client.query<{ hash: string }>('select hash from schema_catalogue');
  if (!always && rows[0]?.hash === catalogueHash()) return false;
  await client.query('begin');
  try {
    for (const view of viewStatements()) await client.query(view);
    await client.query(
      'insert into schema_catalogue (hash) values ($1) on conflict (only_row) do update set hash = excluded.hash',
      [catalogueHash()],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return true;
}

/** A schema that this program cannot work on; the message says why and what to do. */
export class SchemaFault extends Error {
  override readonly name = 'SchemaFault';
}

function compare(
  known: readonly Migration[],
  applied: readonly { version: number; name: string; checksum: string }[],
) {
  for (const row of applied) {
    const migration = known.find(({ version }) => version === row.version);
    if (migration === undefined) {
      throw new SchemaFault(
        `the schema has migration ${row.name}, which this msgx does not know: install a newer msgx`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new SchemaFault(
        `migration ${row.name} was changed after it had been applied: restore its file as it was released`,
      );
    }
  }
}

const SELECT_APPLIED = statement(
  'schema.applied',
  `select version, name, checksum from schema_migration order by version`,
);
const SELECT_CATALOGUE = statement('schema.catalogue', `select hash from schema_catalogue`);
const SELECT_EXISTS = statement(
  'schema.exists',
  `select to_regclass('schema_migration') is not null and to_regclass('schema_catalogue') is not null as present,
     current_user::text as role,
     exists (select from pg_namespace where nspname = trim(both '"' from current_setting('search_path'))
       and not has_schema_privilege(oid, 'usage')) as closed,
     coalesce(has_table_privilege(to_regclass('schema_migration'), 'select')
       and has_table_privilege(to_regclass('schema_catalogue'), 'select'), true) as readable`,
);

interface Existing {
  readonly present: boolean;
  readonly role: string;
  readonly closed: boolean;
  readonly readable: boolean;
}

/** Checks that the schema is exactly this version. Throws SchemaFault with the way out where it is not. */
export async function checkSchema(database: Queryable): Promise<void> {
  const [existing] = await database.query<Existing>(SELECT_EXISTS);
  if (existing?.closed === true || existing?.readable === false) {
    throw new SchemaFault(`the role ${existing.role} may not read the schema: ${WAY_OUT}`);
  }
  if (existing?.present !== true) throw new SchemaFault('the schema is not there: run msgx migrate');
  const applied = await database.query<{ version: number; name: string; checksum: string }>(SELECT_APPLIED);
  const known = await migrations();
  compare(known, applied);
  const missing = known.filter(({ version }) => !applied.some((row) => row.version === version));
  if (missing.length > 0) {
    throw new SchemaFault(`the schema lacks ${missing.map(({ name }) => name).join(', ')}: run msgx migrate`);
  }
  const [catalogue] = await database.query<{ hash: string }>(SELECT_CATALOGUE);
  if (catalogue?.hash !== catalogueHash()) {
    throw new SchemaFault('the views do not show the current field catalogue: run msgx migrate');
  }
}

const SELECT_REFUSED = statement(
  'schema.refused',
  // The service reads every table: one that it may not read has come since its grants were given.
  `select current_user::text as role, array_agg(relname::text order by relname) as tables from pg_class
   where relnamespace = current_schema::regnamespace and relkind = 'r' and not has_table_privilege(oid, 'select')
   having count(*) > 0`,
);

/** Checks that the service's role was given its grants on every table. Throws SchemaFault with the way out where not. */
export async function checkGrants(database: Queryable): Promise<void> {
  const [refused] = await database.query<{ role: string; tables: string[] }>(SELECT_REFUSED);
  if (refused === undefined) return;
  throw new SchemaFault(`the role ${refused.role} may not read ${refused.tables.join(', ')}: ${WAY_OUT}`);
}

/** What mends missing grants. */
const WAY_OUT = 'run msgx migrate --grants deploy/postgres/grants.sql as the role that owns the schema';
