/** A poller on a real mailbox and a real database, with a clock moved by hand. */
import { SILENT, type Log } from '../../src/runtime/log.ts';
import { createMetrics, type Metrics } from '../../src/runtime/metrics.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { InboxPoller, type InboxOptions, type InboxProgress } from '../../src/inbox/poller.ts';
import { LateScan, type LateScanOptions } from '../../src/inbox/late-scan.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { createTestMailbox, type PostgresFixture } from '../kit/mailbox.ts';
import { createTestDatabase, type TestDatabase } from '../kit/postgres.ts';

export const START = Date.parse('2026-03-14T08:00:00Z');

export const OPTIONS: InboxOptions = {
  claimBatch: 500,
  batchBytes: 16 * 1024 * 1024,
  maxMessageBytes: 1_000,
  maxCommitDelayMs: 30_000,
  maxHoleHoldMs: 900_000,
  holeRelease: 'elapsed',
  pollIntervalMs: 500,
  shadow: false,
};

export interface InboxFixture {
  readonly db: TestDatabase;
  readonly box: PostgresFixture;
  readonly clock: ManualClock;
  readonly metrics: Metrics;
  /** What the pollers told after each commit. */
  readonly progress: InboxProgress[];
  poller(
    options?: Partial<InboxOptions>,
    changed?: { mailbox?: Mailbox; clock?: Clock; logger?: Log },
  ): InboxPoller;
  scan(options?: Partial<LateScanOptions>): LateScan;
  /** W as stored. */
  watermark(): Promise<bigint>;
  /** Enqueued IDs, ascending. */
  enqueued(): Promise<bigint[]>;
  /** Holes as `from-to` with their state, ascending. */
  holes(): Promise<string[]>;
  query<T extends object>(sql: string): Promise<T[]>;
}

export async function createInbox(): Promise<InboxFixture> {
  const db = await createTestDatabase();
  const box = await createTestMailbox(db.url);
  const clock = new ManualClock(START);
  const metrics = createMetrics();
  const progress: InboxProgress[] = [];
  const common = { database: db.database, fence: () => null, metrics };
  const query = async <T extends object>(sql: string) => (await db.client.query<T>(sql)).rows;
  return {
    db,
    box,
    clock,
    metrics,
    progress,
    query,
    poller: (options = {}, changed = {}) =>
      new InboxPoller({
        ...common,
        mailbox: changed.mailbox ?? box.mailbox,
        clock: changed.clock ?? clock,
        logger: changed.logger ?? SILENT,
        options: { ...OPTIONS, ...options },
        onProgress: (made) => progress.push(made),
      }),
    scan: (options = {}) =>
      new LateScan({
        ...common,
        mailbox: box.mailbox,
        clock,
        logger: SILENT,
        options: { ...OPTIONS, intervalMs: 60_000, window: 10_000, retentionMs: 72 * 3_600_000, ...options },
      }),
    watermark: async () =>
      BigInt((await query<{ watermark: string }>('select watermark from inbox_cursor'))[0]!.watermark),
    enqueued: async () =>
      (await query<{ id: string }>('select msg_id as id from proc_state order by msg_id')).map(({ id }) =>
        BigInt(id),
      ),
    holes: async () =>
      (
        await query<{ text: string }>(
          `select from_id || '-' || to_id || ' ' || case when past then 'past' when found_at is not null then 'found'
             when released_at is not null then 'released' else 'open' end as text
           from inbox_hole order by from_id`,
        )
      ).map(({ text }) => text),
  };
}

/** Rounds until there is nothing more to do at once. */
export async function drain(station: {
  round(): Promise<{ readonly next: 'now' | 'wait' }>;
}): Promise<number> {
  for (let rounds = 1; ; rounds++) {
    if ((await station.round()).next === 'wait') return rounds;
    if (rounds > 10_000) throw new Error('the station never rests');
  }
}

/** A mailbox with some methods replaced. */
export function withMethods(mailbox: Mailbox, methods: Partial<Mailbox>): Mailbox {
  return new Proxy(mailbox, {
    get(target, name) {
      const value: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof value === 'function' ? (value as (...values: unknown[]) => unknown).bind(target) : value;
    },
  });
}
