/**
 * One connection to a MySQL or MariaDB, with deadlines on both sides. Whatever the server's defaults and its
 * init_connect, its session commits by itself, reads what is committed now, and speaks utf8mb4; it keeps the
 * server's time zone, because marks are written by its clock and in its zone.
 */
import { connect, type Socket } from 'node:net';
import { createConnection, type Connection, type QueryError } from 'mysql2';
import { Outage } from '../runtime/outage.ts';
import { translateMysqlError } from './mysql-errors.ts';
import type { MysqlTarget } from './mysql-url.ts';

/** The client's deadline lies this much above the server's: it only matters on a half-open connection. */
const GRACE_MS = 500;
/** How long a goodbye may take. */
const FAREWELL_MS = 1_000;
/** The server ends a session this long idle, s: one whose client is cut off keeps no transaction open. */
const IDLE_S = 60;

/** As the driver gives an integer: BIGINT and DECIMAL as text, smaller ones as numbers. */
export type Integer = string | number;

/** Result of a statement that writes. */
export interface Written {
  /** Rows that its condition matched. */
  readonly rows: number;
  /** The ID that AUTO_INCREMENT gave; 0 for none. */
  readonly id: bigint;
}

/** Statements on one connection. Both throw Outage where the mailbox is not available or the deadline passed. */
export interface Statements {
  /** Integers come as {@link Integer}, times as text. */
  select<T>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  write(sql: string, values?: readonly unknown[]): Promise<Written>;
}

export class MysqlConnection implements Statements {
  readonly #timeoutMs: number;
  readonly #socket: Socket;
  readonly #driver: Connection;
  /** Ends the statement under way when the connection is destroyed; the driver would leave it waiting. */
  #interrupt: ((reason: Outage) => void) | null = null;
  #usable = true;

  private constructor(target: MysqlTarget, timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    // A socket of our own, to be destroyed: the driver only says goodbye, which has no end on a dead connection.
    this.#socket = connect({
      host: target.host,
      port: target.port,
      keepAlive: true,
      keepAliveInitialDelay: 10_000,
      noDelay: true,
    });
    this.#driver = createConnection({
      stream: this.#socket,
      host: target.host,
      user: target.user,
      password: target.password,
      database: target.database,
      ...(target.tls === null ? {} : { ssl: { ...target.tls } }),
      charset: 'utf8mb4',
      connectTimeout: 0,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
      stringifyObjects: true,
      flags: ['-LOCAL_FILES'],
      connectAttributes: { program_name: 'msgx mailbox' },
    });
    const spoil = () => {
      this.#usable = false;
    };
    this.#driver.on('error', spoil);
    this.#driver.on('end', spoil);
    this.#socket.on('close', spoil);
  }

  /** Connects and sets the session up. Throws Outage where there is no mailbox. */
  static async open(
    target: MysqlTarget,
    timeoutMs: number,
    options: { readonly endsWhenIdle: boolean },
  ): Promise<MysqlConnection> {
    const connection = new MysqlConnection(target, timeoutMs);
    try {
      await connection.#withDeadline((done) => connection.#driver.connect((error) => done(error)));
      await connection.#setUp(options.endsWhenIdle);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  }

  /** Whether it may be used again: no statement ran into its deadline, the other side is still there. */
  get usable(): boolean {
    return this.#usable;
  }

  async select<T>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.#query(sql, values)) as T[];
  }

  async write(sql: string, values: readonly unknown[] = []): Promise<Written> {
    const { affectedRows, insertId } = (await this.#query(sql, values)) as {
      affectedRows: Integer;
      insertId: Integer;
    };
    return { rows: Number(affectedRows), id: BigInt(insertId) };
  }

  /** Says goodbye; a statement must not be under way. Never throws. */
  async end(): Promise<void> {
    if (this.#usable) {
      this.#usable = false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, FAREWELL_MS);
        this.#driver.end(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    this.destroy();
  }

  /** Ends it at once. */
  destroy(): void {
    this.#usable = false;
    this.#driver.destroy();
    this.#socket.destroy();
    this.#interrupt?.(new Outage('mailbox', new Error('the connection was closed')));
  }

  async #query(sql: string, values: readonly unknown[]): Promise<unknown> {
    return this.#withDeadline<unknown>((done) =>
      this.#driver.query({ sql, values: [...values] }, (error: QueryError | null, result: unknown) =>
        done(error, result),
      ),
    );
  }

  /** Runs one exchange; after the deadline its answer may still come, so the connection is destroyed. */
  async #withDeadline<T>(exchange: (done: (error: unknown, result?: T) => void) => unknown): Promise<T> {
    if (this.#socket.destroyed) throw new Outage('mailbox', new Error('the connection is closed'));
    try {
      return await new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Outage('mailbox', new Error(`no answer within ${String(this.#timeoutMs)} ms`)));
        }, this.#timeoutMs + GRACE_MS);
        const settle = (error: unknown, result?: T) => {
          clearTimeout(timer);
          if (error === null || error === undefined) resolve(result as T);
          else reject(toError(error));
        };
        this.#interrupt = settle;
        exchange(settle);
      });
    } catch (error) {
      const translated = translateMysqlError(error);
      this.#interrupt = null;
      if (translated instanceof Outage) this.destroy();
      throw translated;
    } finally {
      this.#interrupt = null;
    }
  }

  async #setUp(endsWhenIdle: boolean): Promise<void> {
    const [server] = await this.select<{ version: string }>('select version() as version');
    // init_connect may have set another charset, in which the server would then read and write texts.
    await this.write('set names utf8mb4');
    // The newest commits in every statement, and no lock on gaps: a mark must not hinder an insert beside it.
    await this.write('set session transaction isolation level read committed');
    const seconds = Math.max(1, Math.ceil(this.#timeoutMs / 1_000));
    const settings: [name: string, value: string][] = [
      ['autocommit', '1'],
      // Refuses what the column cannot hold instead of changing it; and the driver's escapes are understood.
      ['sql_mode', "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"],
      ['sql_safe_updates', '0'],
      ['sql_big_selects', '1'],
      ['lock_wait_timeout', String(seconds)],
      ['innodb_lock_wait_timeout', String(seconds)],
      // MariaDB ends any statement at its deadline, MySQL only reads; writes there end by their locks' deadlines.
      isMariaDb(server?.version)
        ? ['max_statement_time', String(this.#timeoutMs / 1_000)]
        : ['max_execution_time', String(this.#timeoutMs)],
    ];
    if (endsWhenIdle) settings.push(['wait_timeout', String(Math.max(IDLE_S, 2 * seconds))]);
    await this.write(`set ${settings.map(([name, value]) => `@@session.${name} = ${value}`).join(', ')}`);
  }
}

/** Whether a server's version text is MariaDB's. */
export function isMariaDb(version: string | undefined): boolean {
  return /mariadb/i.test(version ?? '');
}

/** The driver's error without the statement, which carries whole messages and would end in logs. */
function toError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if ('sql' in error) delete error.sql;
  return error;
}
