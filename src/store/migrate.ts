/**
 * Migrations: numbered SQL files, forward only, checksummed, under a waiting lock (contract, "Own
 * PostgreSQL"). After them the views are re-created where the field catalogue has changed.
 */
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import pg from 'pg';
import { Outage, isConnectionCode, isOutageSqlState } from '../runtime/outage.ts';
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

/**
 * Brings the schema up to this version; waits where another migrate is running. Creates the schema itself
 * where it is missing. Throws Outage where the database cannot be reached and SchemaFault where an applied
 * migration was changed or the schema is newer than this program.
 */
export async function migrate(url: string, schema: string): Promise<MigrateResult> {
  const client = new pg.Client({ connectionString: url, application_name: 'msgx migrate', keepAlive: true });
  try {
    await client.connect();
    await client.query("select pg_advisory_lock(hashtext('msgx migrate'), hashtext($1))", [schema]);
    const existing = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (existing.rowCount === 0) await client.query(`create schema ${client.escapeIdentifier(schema)}`);
    await client.query("select set_config('search_path', $1, false)", [client.escapeIdentifier(schema)]);
    await client.query(`create table if not exists schema_migration (
      version integer primary key, name text not null, checksum text not null,
      applied_at timestamptz not null default now())`);
    await client.query(`create table if not exists schema_catalogue (
      only_row boolean primary key default true check (only_row), hash text not null)`);
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
    return { applied, views: await recreateViews(client, applied.length > 0) };
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (isConnectionCode(error) || isOutageSqlState(code)) throw new Outage('database', error);
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

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
  `select to_regclass('schema_migration') is not null and to_regclass('schema_catalogue') is not null as present`,
);

/** Checks that the schema is exactly this version. Throws SchemaFault with the way out where it is not. */
export async function checkSchema(database: Queryable): Promise<void> {
  const [exists] = await database.query<{ present: boolean }>(SELECT_EXISTS);
  if (exists?.present !== true) throw new SchemaFault('the schema is not there: run msgx migrate');
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
