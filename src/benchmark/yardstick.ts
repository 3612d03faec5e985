/**
 * The yardstick of the benchmark: how many one-row updates a second one connection commits, prepared, with
 * fsync and synchronous_commit on. Everything else is told as a ratio to it, measured in the same run.
 */
import pg from 'pg';

const ROUND_MS = 1_000;

export class Yardstick {
  readonly #client: pg.Client;
  readonly #rounds: number[] = [];

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Connects and makes its table. Throws where commits of this server do not reach the disk. */
  static async open(url: string): Promise<Yardstick> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      const { rows } = await client.query<Record<string, string>>(`show ${setting}`);
      if (rows[0]?.[setting] !== 'on') {
        await client.end();
        throw new Error(`the benchmark needs ${setting} = on: without it commits cost nothing`);
      }
    }
    await client.query('create table if not exists yardstick (id integer primary key, n bigint not null)');
    await client.query('insert into yardstick values (1, 0) on conflict do nothing');
    return new Yardstick(client);
  }

  /** One round; called between the measurements, so that both see the same machine. */
  async measure(): Promise<void> {
    const update = { name: 'yardstick', text: 'update yardstick set n = n + 1 where id = $1', values: [1] };
    const started = performance.now();
    let commits = 0;
    while (performance.now() - started < ROUND_MS) {
      await this.#client.query(update);
      commits += 1;
    }
    this.#rounds.push((commits * 1_000) / (performance.now() - started));
  }

  /** Median of the rounds, commits per second. */
  get commitsPerSecond(): number {
    const sorted = [...this.#rounds].sort((left, right) => left - right);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  }

  /** Rounds so far. */
  get rounds(): readonly number[] {
    return this.#rounds;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
