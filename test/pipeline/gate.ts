/** Stands between an instance and everything it calls, so that something may happen in the middle of its rounds. */
import { Outage } from '../../src/runtime/outage.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import type { Sink } from '../../src/delivery/port.ts';
import type { Database } from '../../src/store/database.ts';
import type { OpenTransaction, Session } from '../../src/store/transaction.ts';
import type { Meanwhile } from './commands.ts';

export class Gate {
  /** Dead: nothing comes through any more. */
  dead = false;
  readonly #database: Database;
  #plan: Meanwhile | null = null;
  #act: (what: 'takeover' | 'commit') => Promise<void> = async () => undefined;
  #passed = 0;

  /** Puts itself before everything that goes to the database from now on. */
  constructor(database: Database) {
    this.#database = database;
    const query = database.query.bind(database);
    const session = database.session.bind(database);
    const commits = database.commits.bind(database);
    database.query = (statement, values) => this.#through('database', () => query(statement, values));
    database.session = (work) => this.#through('database', () => session((real) => work(this.#behind(real))));
    // Probes only ask: nothing happens in the middle of them.
    database.commits = async () => !this.dead && (await commits());
  }

  /** What is to happen in the next round, and who sees to it. */
  plan(meanwhile: Meanwhile | null, act: (what: 'takeover' | 'commit') => Promise<void>): void {
    this.#plan = meanwhile;
    this.#act = act;
    this.#passed = 0;
  }

  /** Whether what was planned has happened. */
  get done(): boolean {
    return this.#plan === null;
  }

  /** The process dies: its connections with it, whatever was underway on them. */
  kill(): void {
    this.dead = true;
    this.#database.dropConnections();
  }

  mailbox(mailbox: Mailbox): Mailbox {
    return this.#guarded('mailbox', mailbox);
  }

  sink(sink: Sink): Sink {
    return this.#guarded('delivery', sink);
  }

  #guarded<T extends object>(dependency: 'mailbox' | 'delivery', target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...values: unknown[]) => Promise<unknown>;
        if (name === 'probe') return async () => !this.dead && (await call());
        return (...values: unknown[]) => this.#through(dependency, () => call(...values));
      },
    });
  }

  async #through<T>(dependency: Outage['dependency'], call: () => Promise<T>): Promise<T> {
    await this.#pass(dependency);
    const result = await call();
    await this.#pass(dependency);
    return result;
  }

  #behind(real: Session): Session {
    return {
      query: (statement, values) => real.query(statement, values),
      begin: (options): OpenTransaction => {
        const tx = real.begin(options);
        return {
          ...tx,
          commit: () => {
            // What follows goes out on the same connection: nothing may be waited for before the commit.
            if (this.#isDue('crash') || this.#isDue('cut')) return this.#pass('database');
            return tx.commit().then(() => this.#pass('database'));
          },
        };
      },
    };
  }

  #isDue(what: Meanwhile['what']): boolean {
    return this.dead || (this.#plan?.what === what && this.#passed + 1 >= this.#plan.at);
  }

  async #pass(dependency: Outage['dependency']): Promise<void> {
    if (this.dead) throw new Outage(dependency, new Error('the process is dead'));
    this.#passed += 1;
    const plan = this.#plan;
    if (plan === null || this.#passed < plan.at) return;
    this.#plan = null;
    switch (plan.what) {
      case 'crash':
        this.kill();
        throw new Outage(dependency, new Error('the process dies'));
      case 'cut':
        this.#database.dropConnections();
        throw new Outage(dependency, new Error('the connection breaks'));
      case 'takeover':
      case 'commit':
        await this.#act(plan.what);
    }
  }
}
