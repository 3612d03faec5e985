/**
 * A MariaDB server of the test file's own, in a private folder and on a free port, and mailboxes in it, a database
 * each. Without Debian's server binaries tests are skipped with the reason, or fail under MSGX_TEST_REQUIRE=mariadb.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import mysql, { type Connection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { afterAll } from 'vitest';
import { openMysqlMailbox } from '../../src/mailbox/mysql.ts';
import type { MailboxOptions } from '../../src/mailbox/options.ts';
import { MAILBOX_NAMES, type MailboxFixture } from './mailbox.ts';
import { until } from './until.ts';

const server = binary('mariadbd');
const installer = binary('mariadb-install-db');

/** Why MariaDB is missing, or null. Use as `describe.skipIf(mariadbMissing !== null)`. */
export const mariadbMissing: string | null =
  server === null || installer === null
    ? 'mariadbd or mariadb-install-db is not installed (Debian: mariadb-server)'
    : null;
if (mariadbMissing !== null && (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('mariadb')) {
  throw new Error(`MariaDB is required: ${mariadbMissing}`);
}

function binary(name: string): string | null {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    '/usr/bin',
    '/usr/local/sbin',
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

const ADMIN = { user: 'test_admin', password: 'secret' };

export interface MariadbServer {
  readonly port: number;
  /** URL of a database, by default as the administrator who may do everything. */
  url(database: string, user?: { readonly user: string; readonly password: string }): string;
  /** A session that ends with the test file; 64-bit integers as text. */
  session(database?: string): Promise<Connection>;
  /**
   * Stops the server, cleanly or as a power failure would, and starts it again on the same port and folder.
   *
   * @param downMs how long it is away at least
   */
  restart(how: 'SIGTERM' | 'SIGKILL', downMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server with settings such as `auto_increment_increment=2` in a folder of its own, which is removed when it is
 * stopped, or in the given one, which is kept.
 */
export async function startMariadb(settings: readonly string[] = [], kept?: string): Promise<MariadbServer> {
  if (server === null || installer === null) throw new Error(mariadbMissing ?? '');
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'msgx-mariadb-')));
  const [data, temporary] = [join(folder, 'data'), join(folder, 'temporary')];
  await mkdir(temporary, { recursive: true });
  const user = `--user=${userInfo().username}`;
  await promisify(execFile)(installer, [
    '--no-defaults',
    `--datadir=${data}`,
    // Servers delete what they take for their own remains in the folder of temporary files.
    `--tmpdir=${temporary}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
    user,
  ]);
  const initial = join(folder, 'initial.sql');
  await writeFile(
    initial,
    `create user if not exists '${ADMIN.user}'@'%' identified by '${ADMIN.password}';
grant all privileges on *.* to '${ADMIN.user}'@'%' with grant option;
`,
  );
  const port = await freePort();
  const log = join(folder, 'error.log');
  let running = launch(server, [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    `--port=${String(port)}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--log-error=${log}`,
    `--init-file=${initial}`,
    '--skip-name-resolve',
    // Its times must not pass for UTC by chance.
    '--default-time-zone=+08:00',
    '--max-allowed-packet=64M',
    // Small and quick: its own durability is not under test.
    '--innodb-buffer-pool-size=64M',
    '--innodb-log-file-size=32M',
    '--innodb-flush-log-at-trx-commit=2',
    // Its own statistics are transactions too, and would be seen as writers.
    '--innodb-stats-auto-recalc=0',
    user,
    ...settings.map((setting) => `--${setting}`),
  ]);
  const ready = async () => {
    await until(
      'MariaDB to answer',
      async () => {
        if (running.process.exitCode !== null) {
          throw new Error(`mariadbd ended: ${(await readFile(log, 'utf8')).slice(-2_000)}`);
        }
        try {
          const connection = await mysql.createConnection({ host: '127.0.0.1', port, ...ADMIN });
          await connection.end();
          return true;
        } catch {
          return null;
        }
      },
      { timeoutMs: 60_000 },
    );
  };
  const sessions: Connection[] = [];
  await ready();
  return {
    port,
    url: (database, { user: name, password } = ADMIN) =>
      `mysql://${name}:${password}@127.0.0.1:${String(port)}/${database}`,
    async session(database) {
      const connection = await mysql.createConnection({
        host: '127.0.0.1',
        port,
        ...ADMIN,
        ...(database === undefined ? {} : { database }),
        charset: 'utf8mb4',
        supportBigNumbers: true,
        bigNumberStrings: true,
        dateStrings: true,
        multipleStatements: true,
      });
      // The server is stopped under it.
      connection.on('error', () => undefined);
      sessions.push(connection);
      return connection;
    },
    async restart(how, downMs = 0) {
      await running.stop(how);
      await sleep(downMs);
      running = running.again();
      await ready();
    },
    async stop() {
      for (const session of sessions) session.destroy();
      await running.stop('SIGKILL');
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Running {
  readonly process: ChildProcess;
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  again(): Running;
}

function launch(command: string, parameters: readonly string[]): Running {
  const child = spawn(command, parameters, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return {
    process: child,
    async stop(signal) {
      process.off('exit', kill);
      child.kill(signal);
      await ended;
    },
    again: () => launch(command, parameters),
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

let shared: Promise<MariadbServer> | null = null;
const closing: (() => Promise<unknown>)[] = [];

/** The server of this test file, started when first asked for. */
export async function mariadb(): Promise<MariadbServer> {
  return (shared ??= startMariadb());
}

afterAll(async () => {
  for (const close of closing.splice(0)) await close().catch(() => undefined);
  await (await shared)?.stop();
});

export interface MariadbFixture extends MailboxFixture {
  readonly server: MariadbServer;
  readonly options: MailboxOptions;
  /** The owner's session, in the mailbox's database. */
  readonly owner: Connection;
  readonly database: string;
  /** A user with exactly the grants that msgx needs; gives the URL. */
  leastUser(): Promise<string>;
}

/** Creates an empty mailbox in a database of its own, as `msgx mailbox init` does. */
export async function createMariadbMailbox(on?: MariadbServer): Promise<MariadbFixture> {
  const started = on ?? (await mariadb());
  const database = `t_${randomBytes(6).toString('hex')}`;
  const admin = await started.session();
  await admin.query(`create database ${database}`);
  await admin.end();
  const options: MailboxOptions = { url: started.url(database), names: MAILBOX_NAMES, timeoutMs: 10_000 };
  const mailbox = await openMysqlMailbox(options);
  closing.push(() => mailbox.close());
  await mailbox.init();
  const owner = await started.session(database);
  const insert = 'insert into CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) values (?, ?)';
  const one = async <T>(sql: string, values: readonly unknown[]) => {
    const [rows] = await owner.query<RowDataPacket[]>(sql, [...values]);
    return rows[0] as T | undefined;
  };
  return {
    mailbox,
    server: started,
    options,
    owner,
    database,
    async insertAt(id, text, columns = {}) {
      const received = columns.received === undefined ? '2026-03-14T01:02:03.5Z' : columns.received;
      // Instants, which the server turns into times of its own zone.
      await owner.query(
        `insert into CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED, CMINMSGS_DATE_PROCESSED)
         values (?, ?, from_unixtime(?), from_unixtime(?))`,
        [id, text, secondsOf(received), secondsOf(columns.processed ?? null)],
      );
    },
    async remove(id) {
      await owner.query('delete from CMINMSGS where CMINMSGS_ID = ?', [id]);
    },
    async markOf(id) {
      const row = await one<{ mark: string | null }>(
        'select cast(CMINMSGS_DATE_PROCESSED as char) as mark from CMINMSGS where CMINMSGS_ID = ?',
        [id],
      );
      return row?.mark ?? null;
    },
    async markAge(id) {
      const row = await one<{ age: string }>(
        `select cast(timestampdiff(second, CMINMSGS_DATE_PROCESSED, current_timestamp) as char) as age
         from CMINMSGS where CMINMSGS_ID = ?`,
        [id],
      );
      return Number(row?.age);
    },
    async outboundRows() {
      const [rows] = await owner.query<RowDataPacket[]>(
        `select cast(COUTMSGS_ID as char) as id, COUTMSGS_CLOB_MSG as text, ROUTINGID as routing,
           cast(timestampdiff(second, COUTMSGS_DATE_INSERTED, current_timestamp(6)) as char) as aged
         from COUTMSGS order by COUTMSGS_ID`,
      );
      return rows.map((row) => ({
        id: BigInt(row['id'] as string),
        text: row['text'] as string | null,
        routing: row['routing'] as string | null,
        aged: Number(row['aged']),
      }));
    },
    async begin() {
      const session = await started.session(database);
      await session.beginTransaction();
      return {
        insertAt: async (id, text) => {
          await session.query(insert, [id, text]);
        },
        commit: async () => {
          await session.commit();
          await session.end();
        },
        rollback: async () => {
          await session.rollback();
          await session.end();
        },
      };
    },
    async blockTable() {
      const session = await started.session(database);
      await session.query('lock tables CMINMSGS write');
      return () => session.end();
    },
    async reopen(changed) {
      const other = await openMysqlMailbox({ ...options, ...changed });
      closing.push(() => other.close());
      return other;
    },
    async leastUser() {
      const user = `u_${randomBytes(6).toString('hex')}`;
      await owner.query(`create user '${user}'@'%' identified by 'secret';
        grant select, insert, update (CMINMSGS_DATE_PROCESSED) on ${database}.CMINMSGS to '${user}'@'%';
        grant select, insert on ${database}.COUTMSGS to '${user}'@'%'`);
      return started.url(database, { user, password: 'secret' });
    },
  };
}

/** Inserts a message as the upstream would and gives the ID it was given. */
export async function upstreamInsert(session: Connection, text: string): Promise<bigint> {
  const [result] = await session.query<ResultSetHeader>(
    'insert into CMINMSGS (CMINMSGS_CLOB_MSG) values (?)',
    [text],
  );
  return BigInt(result.insertId);
}

/** Seconds since 1970 as decimal text, exact to the millisecond. */
function secondsOf(instant: string | null): string | null {
  return instant === null ? null : (Date.parse(instant) / 1_000).toFixed(3);
}
