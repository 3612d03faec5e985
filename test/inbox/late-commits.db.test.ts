/** Real concurrent transactions against a running poller: nothing lost, nothing out of order. */
import pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { AnchoredClock } from '../../src/runtime/clock.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createInbox, type InboxFixture } from './kit.ts';

/** Deterministic pseudo-random numbers in [0, 1) (mulberry32), so that a failure can be run again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Written {
  readonly committed: bigint[];
  readonly rolledBack: bigint[];
}

/** A writer that holds, rolls back, and inserts several rows per transaction. */
async function write(
  inbox: InboxFixture,
  seed: number,
  transactions: number,
  longest: number,
): Promise<Written> {
  const chance = random(seed);
  const client = new pg.Client({
    connectionString: inbox.box.options.url,
    options: '-c search_path=mailbox',
  });
  await client.connect();
  const written: Written = { committed: [], rolledBack: [] };
  for (let n = 0; n < transactions; n++) {
    await client.query('begin');
    const ids: bigint[] = [];
    for (let rows = 1 + Math.floor(chance() * 3); rows > 0; rows--) {
      const { rows: inserted } = await client.query<{ id: string }>(
        `insert into cminmsgs (cminmsgs_clob_msg) values ('x') returning cminmsgs_id as id`,
      );
      ids.push(BigInt(inserted[0]!.id));
    }
    const fate = chance();
    if (fate < 0.5) await pause(chance() * 20);
    if (fate < 0.06) await pause(longest);
    const rollback = chance() < 0.25;
    await client.query(rollback ? 'rollback' : 'commit');
    (rollback ? written.rolledBack : written.committed).push(...ids);
  }
  await client.end();
  return written;
}

const sorted = (ids: Iterable<bigint>) => [...ids].sort((a, b) => (a < b ? -1 : 1));

describe.skipIf(postgresMissing !== null)('late commits', () => {
  it.each([
    // Writers live several times longer than max-commit-delay.
    ['elapsed', 60, 300],
    ['proved', 60_000, 300],
  ] as const)(
    '%s: every committed row is enqueued, in order, and only rolled-back IDs are released',
    async (holeRelease, maxCommitDelayMs, longest) => {
      const inbox = await createInbox();
      const poller = inbox.poller(
        { holeRelease, maxCommitDelayMs, maxHoleHoldMs: 60_000, claimBatch: 7, pollIntervalMs: 10 },
        { clock: new AnchoredClock(Date.now()) },
      );
      const seen = new Set<bigint>();
      let highest = 0n;
      let disorder: string | null = null;
      const poll = async () => {
        const round = await poller.round();
        for (const id of await inbox.enqueued()) {
          if (seen.has(id)) continue;
          if (id < highest) disorder ??= `${String(id)} after ${String(highest)}`;
          seen.add(id);
          highest = id;
        }
        return round;
      };
      const writing = { now: true };
      const writers = Promise.all([1, 2, 3, 4, 5, 6].map((seed) => write(inbox, seed, 25, longest))).finally(
        () => {
          writing.now = false;
        },
      );
      while (writing.now) if ((await poll()).next === 'wait') await pause(2);
      const results = await writers;
      const committed = sorted(results.flatMap((result) => result.committed));
      await expect
        .poll(
          async () => {
            await poll();
            return inbox.watermark();
          },
          { timeout: 10_000, interval: 5 },
        )
        .toBe(committed.at(-1));

      expect(disorder).toBeNull();
      expect(await inbox.enqueued()).toEqual(committed);
      const { rows } = await inbox.db.client.query<{ id: string }>(
        `select generate_series(from_id, to_id) as id from inbox_hole where released_at is not null order by 1`,
      );
      const missing = sorted(results.flatMap((result) => result.rolledBack)).filter(
        (id) => id < committed.at(-1)!,
      );
      expect(rows.map(({ id }) => BigInt(id))).toEqual(missing);
      expect(missing.length).toBeGreaterThan(10);
    },
  );
});
