/** A backup of our own schema: one consistent snapshot, taken while the service runs, and put back later. */
import type pg from 'pg';

interface Table {
  readonly name: string;
  /** Columns that are not generated. */
  readonly columns: string;
}

/** Copies all tables of the schema into one beside it, as of one moment, with the sequences as they stand then. */
export async function takeBackup(client: pg.Client, schema = 'msgx'): Promise<void> {
  await client.query('begin isolation level repeatable read');
  await client.query('create schema backup');
  for (const { name, columns } of await tablesOf(client, schema))
    await client.query(`create table backup.${name} as select ${columns} from ${schema}.${name}`);
  await client.query(
    `create table backup.sequence_values as
     select sequencename as name, last_value from pg_sequences where schemaname = '${schema}'`,
  );
  await client.query('commit');
}

/** Puts the backup back. Nobody else may be at work. */
export async function restoreBackup(client: pg.Client, schema = 'msgx'): Promise<void> {
  const tables = await tablesOf(client, schema);
  await client.query('begin');
  // Neither triggers nor foreign keys: rows come back as they were.
  await client.query('set local session_replication_role = replica');
  await client.query(`truncate ${tables.map(({ name }) => `${schema}.${name}`).join(', ')}`);
  for (const { name, columns } of tables)
    await client.query(
      `insert into ${schema}.${name} (${columns}) overriding system value select ${columns} from backup.${name}`,
    );
  await client.query(
    `select setval(format('${schema}.%I', name)::regclass, coalesce(last_value, 1), last_value is not null)
     from backup.sequence_values`,
  );
  await client.query('commit');
}

async function tablesOf(client: pg.Client, schema: string): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `select c.table_name as name, string_agg(format('%I', c.column_name), ', ' order by c.ordinal_position) as columns
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = $1 and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
     group by 1`,
    [schema],
  );
  return rows;
}
