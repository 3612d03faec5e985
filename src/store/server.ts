/** What the database server says of itself. */
import { statement, type Queryable } from './statement.ts';

const VERSION = statement(
  'server.version',
  `select current_setting('server_version_num')::integer as version`,
);

/** The server's version as PostgreSQL numbers it, e.g. 160004. */
export async function serverVersion(db: Queryable): Promise<number> {
  return (await db.query<{ version: number }>(VERSION))[0]?.version ?? 0;
}

/** What we take of the server: room and connections. */
export interface ServerUse {
  /** The whole database, with whatever else lies in it. */
  readonly databaseBytes: bigint;
  /** Tables of our schema with their indexes and long values. */
  readonly schemaBytes: bigint;
  /** Sessions of the whole server, and ours among them. */
  readonly connections: number;
  readonly ownConnections: number;
  /** What it lets everybody but superusers have. */
  readonly connectionLimit: number;
}

const USE = statement(
  'server.use',
  // No table of ours. Catalogues: pg_class by pg_class_relname_nsp_index or whole, some hundred rows; pg_stat_database, a row
  // per database, which shows sessions of others to a role without privileges too, as pg_stat_activity does not.
  `select pg_database_size(current_database()) as "databaseBytes",
     (select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r') as "schemaBytes",
     (select sum(numbackends)::integer from pg_stat_database) as connections,
     (select count(*)::integer from pg_stat_activity
      where datname = current_database() and usename = current_user) as "ownConnections",
     current_setting('max_connections')::integer
       - current_setting('superuser_reserved_connections')::integer
       - coalesce(current_setting('reserved_connections', true)::integer, 0) as "connectionLimit"`,
);

/** Room and connections. A few ms: asked for by people, not by stations. */
export async function selectServerUse(db: Queryable): Promise<ServerUse> {
  const [row] = await db.query<ServerUse>(USE);
  if (row === undefined) throw new Error('a select without from gave no row');
  return row;
}

/** A table with its indexes and long values. */
export interface TableSize {
  readonly table: string;
  readonly bytes: bigint;
}

const LARGEST = statement(
  'server.largestTables',
  // Catalogue pg_class, as above.
  `select relname as "table", pg_total_relation_size(oid) as bytes from pg_class
   where relnamespace = current_schema()::regnamespace and relkind = 'r'
   order by bytes desc, relname limit $1`,
);

/** The largest tables of our schema, the largest first. */
export async function selectLargestTables(db: Queryable, limit: number): Promise<readonly TableSize[]> {
  return db.query<TableSize>(LARGEST, [limit]);
}
