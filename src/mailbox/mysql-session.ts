/**
 * Connections to a mailbox in MySQL or MariaDB: few, reused, each call with a deadline. Our own pool, since the
 * driver's lets a call wait for a free connection without end.
 */
import { Outage } from '../runtime/outage.ts';
import { MysqlConnection, type Statements } from './mysql-connection.ts';
import type { MysqlTarget } from './mysql-url.ts';

/** Most connections, as promised to the mailbox's owner (decisions.md); an open insert has its own. */
const CONNECTIONS = 3;

export class MysqlSession {
  readonly #target: MysqlTarget;
  readonly #timeoutMs: number;
  readonly #idle: MysqlConnection[] = [];
  readonly #busy = new Set<MysqlConnection>();
  /** Those who wait for a place, first come first served. */
  readonly #waiting: (() => void)[] = [];
  /** Connections, those being opened included. */
  #places = 0;
  #closed = false;

  constructor(target: MysqlTarget, timeoutMs: number) {
    this.#target = target;
    this.#timeoutMs = timeoutMs;
  }

  /** Works on one connection, autocommit. Throws Outage where the mailbox is not available. */
  async use<T>(work: (on: Statements) => Promise<T>): Promise<T> {
    await this.#enter();
    let connection: MysqlConnection | null = null;
    try {
      connection = this.#reuse() ?? (await this.#open(true));
      this.#busy.add(connection);
      return await work(connection);
    } finally {
      this.#leave(connection);
    }
  }

  /** A connection of its own, outside the three; whoever asks for it ends it. */
  async connect(): Promise<MysqlConnection> {
    return this.#open(false);
  }

  /** Ends idle connections politely and those in use at once. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const connection of this.#busy) connection.destroy();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()));
  }

  async #open(endsWhenIdle: boolean): Promise<MysqlConnection> {
    return MysqlConnection.open(this.#target, this.#timeoutMs, { endsWhenIdle });
  }

  #reuse(): MysqlConnection | null {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.usable) return idle;
      idle.destroy();
    }
    return null;
  }

  /** Takes a place; waits for one no longer than the deadline. */
  async #enter(): Promise<void> {
    if (this.#closed) throw closed();
    if (this.#places < CONNECTIONS) {
      this.#places += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const wake = () => {
        clearTimeout(timer);
        if (this.#closed) reject(closed());
        else resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        reject(new Outage('mailbox', new Error(`no free connection within ${String(this.#timeoutMs)} ms`)));
      }, this.#timeoutMs);
      this.#waiting.push(wake);
    });
  }

  /** Gives the place to the next who waits, and keeps the connection where it is still good. */
  #leave(connection: MysqlConnection | null): void {
    if (connection !== null) {
      this.#busy.delete(connection);
      if (connection.usable && !this.#closed) this.#idle.push(connection);
      else connection.destroy();
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#places -= 1;
    else next();
  }
}

/** Several statements on one connection as one transaction; rolled back where the work throws. */
export async function inTransaction<T>(on: Statements, work: () => Promise<T>): Promise<T> {
  await on.write('start transaction');
  try {
    const result = await work();
    await on.write('commit');
    return result;
  } catch (error) {
    // An Outage has ended the connection, and the server rolls back what it did.
    if (!(error instanceof Outage)) await on.write('rollback');
    throw error;
  }
}

function closed(): Error {
  return new Error('the mailbox was closed');
}
