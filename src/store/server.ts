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
