/** A pipeline's mailbox as its owner sees it: over sessions of the test's own, in PostgreSQL or MariaDB. */
import { randomBytes } from 'node:crypto';
import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import type { MariadbServer } from './mariadb.ts';
import { createTestDatabase } from './postgres.ts';

export interface MailboxSide {
  readonly url: string;
  /** Inserts a row with an ID of the test's choice. */
  insertAt(id: bigint, text: string | null): Promise<void>;
  /** Rows with IDs above one and up to another. */
  count(range?: { readonly above?: bigint; readonly upTo?: bigint }): Promise<number>;
  /** All inbound rows in the order of their IDs. */
  rows(): Promise<readonly { readonly id: string; readonly marked: boolean }[]>;
  /** The same with their texts and when they were marked, ms since 1970. */
  contents(): Promise<
    readonly { readonly id: bigint; readonly text: string | null; readonly markedAt: number | null }[]
  >;
  /** The marks that are set, as text, by ID. */
  marks(): Promise<ReadonlyMap<string, string>>;
  /** Deletes inbound rows, as their owner may. */
  remove(ids: readonly bigint[]): Promise<void>;
  /** Number of outbound rows. */
  outbound(): Promise<number>;
  /** All outbound rows in the order of their IDs. */
  outboundRows(): Promise<readonly { readonly id: string; readonly text: string }[]>;
  /** Inserts an outbound row as a former sender would have. */
  insertOutbound(text: string): Promise<void>;
  close(): Promise<void>;
}

const HIGHEST = 2n ** 63n - 1n;
/** Unquoted and in upper case: PostgreSQL folds it to its own spelling, MariaDB takes it as it stands. */
const SQL = {
  insert: 'insert into CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) values ($1, $2)',
  count: 'select count(*) as "rows" from CMINMSGS where CMINMSGS_ID > $1 and CMINMSGS_ID <= $2',
  rows: `select CMINMSGS_ID as id, case when CMINMSGS_DATE_PROCESSED is null then 0 else 1 end as marked
    from CMINMSGS order by CMINMSGS_ID`,
  marks: `select CMINMSGS_ID as id, cast(CMINMSGS_DATE_PROCESSED as char(40)) as mark from CMINMSGS
    where CMINMSGS_DATE_PROCESSED is not null order by CMINMSGS_ID`,
  remove: 'delete from CMINMSGS where CMINMSGS_ID = $1',
  outbound: 'select count(*) as "rows" from COUTMSGS',
  outboundRows: 'select COUTMSGS_ID as id, COUTMSGS_CLOB_MSG as text from COUTMSGS order by COUTMSGS_ID',
  insertOutbound: 'insert into COUTMSGS (COUTMSGS_CLOB_MSG) values ($1)',
};
const contents = (epoch: string) =>
  `select CMINMSGS_ID as id, CMINMSGS_CLOB_MSG as body, ${epoch} as marked from CMINMSGS order by CMINMSGS_ID`;
const CONTENTS = {
  postgres: contents('extract(epoch from CMINMSGS_DATE_PROCESSED)'),
  mariadb: contents('unix_timestamp(CMINMSGS_DATE_PROCESSED)'),
};

/** In PostgreSQL; without a URL in a new, empty database. */
export async function postgresSide(url?: string): Promise<MailboxSide> {
  const own = url ?? (await createTestDatabase({ blank: true })).url;
  const client = new pg.Client({ connectionString: own, options: '-c search_path=public' });
  // A database is dropped under sessions that a failing test left open.
  client.on('error', () => undefined);
  await client.connect();
  return side(
    own,
    async (sql, values) => (await client.query<Record<string, unknown>>(sql, [...values])).rows,
    CONTENTS.postgres,
    () => client.end(),
  );
}

/** In MariaDB, in a new database; msgx gets a user with exactly the grants that it needs. */
export async function mariadbSide(server: MariadbServer, url?: string): Promise<MailboxSide> {
  if (url !== undefined) return mariadbSession(server, url);
  const database = `t_${randomBytes(6).toString('hex')}`;
  const user = `u_${randomBytes(6).toString('hex')}`;
  const session = await server.session();
  await session.query(`create database ${database};
    create user '${user}'@'%' identified by 'secret'`);
  await session.end();
  return mariadbSession(server, server.url(database, { user, password: 'secret' }));
}

/** Grants that a mailbox's owner gives to msgx; the tables have to exist. */
export async function grantLeast(server: MariadbServer, url: string): Promise<void> {
  const { username, pathname } = new URL(url);
  const database = pathname.slice(1);
  const session = await server.session();
  await session.query(
    `grant select, insert, update (CMINMSGS_DATE_PROCESSED) on ${database}.CMINMSGS to '${username}'@'%';
     grant select, insert on ${database}.COUTMSGS to '${username}'@'%'`,
  );
  await session.end();
}

async function mariadbSession(server: MariadbServer, url: string): Promise<MailboxSide> {
  const session = await server.session(new URL(url).pathname.slice(1));
  return side(
    url,
    async (sql, values) => {
      const text = sql.replaceAll(/\$\d/g, '?').replaceAll('"', '`');
      const [rows] = await session.query<RowDataPacket[] | ResultSetHeader>(text, values.map(textOf));
      return Array.isArray(rows) ? rows : [];
    },
    CONTENTS.mariadb,
    () => session.end(),
  );
}

function textOf(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function side(
  url: string,
  query: (sql: string, values: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>,
  contentsSql: string,
  close: () => Promise<void>,
): MailboxSide {
  const count = async (sql: string, values: readonly unknown[]) =>
    Number((await query(sql, values))[0]?.['rows']);
  return {
    url,
    insertAt: async (id, text) => {
      await query(SQL.insert, [id, text]);
    },
    count: ({ above = -1n, upTo = HIGHEST } = {}) => count(SQL.count, [above, upTo]),
    rows: async () =>
      (await query(SQL.rows, [])).map(({ id, marked }) => ({
        id: id as string,
        marked: Number(marked) === 1,
      })),
    contents: async () =>
      (await query(contentsSql, [])).map(({ id, body, marked }) => ({
        id: BigInt(id as string),
        text: body as string | null,
        markedAt: marked === null ? null : Number(marked) * 1_000,
      })),
    marks: async () =>
      new Map((await query(SQL.marks, [])).map(({ id, mark }) => [id as string, (mark as string).trim()])),
    remove: async (ids) => {
      for (const id of ids) await query(SQL.remove, [id]);
    },
    outbound: () => count(SQL.outbound, []),
    outboundRows: async () =>
      (await query(SQL.outboundRows, [])).map(({ id, text }) => ({ id: String(id), text: text as string })),
    insertOutbound: async (text) => {
      await query(SQL.insertOutbound, [text]);
    },
    close,
  };
}
