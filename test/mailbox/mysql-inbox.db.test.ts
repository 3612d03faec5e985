/** The inbox on a mailbox in MariaDB: what this engine does to IDs, and real concurrent transactions. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LateScan } from '../../src/inbox/late-scan.ts';
import type { InboxOptions } from '../../src/inbox/poller.ts';
import { AnchoredClock } from '../../src/runtime/clock.ts';
import { SILENT, type Log } from '../../src/runtime/log.ts';
import { createInbox, drain, OPTIONS, type InboxFixture } from '../inbox/kit.ts';
import {
  createMariadbMailbox,
  mariadbMissing,
  startMariadb,
  upstreamInsert,
  type MariadbFixture,
} from '../kit/mariadb.ts';
import { postgresMissing } from '../kit/postgres.ts';

interface Fixture {
  readonly inbox: InboxFixture;
  readonly box: MariadbFixture;
  readonly poller: (
    options?: Partial<InboxOptions>,
    changed?: { mailboxUrl?: string; logger?: Log },
  ) => Promise<Poller>;
}
type Poller = ReturnType<InboxFixture['poller']>;

async function create(on?: Parameters<typeof createMariadbMailbox>[0]): Promise<Fixture> {
  const [inbox, box] = await Promise.all([createInbox(), createMariadbMailbox(on)]);
  return {
    inbox,
    box,
    poller: async (options = {}, { mailboxUrl, logger } = {}) =>
      inbox.poller(options, {
        mailbox: mailboxUrl === undefined ? box.mailbox : await box.reopen({ url: mailboxUrl }),
        ...(logger === undefined ? {} : { logger }),
      }),
  };
}

/** Deterministic pseudo-random numbers in [0, 1), so that a failure can be run again. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const sorted = (ids: Iterable<bigint>) => [...ids].sort((a, b) => (a < b ? -1 : 1));

/** A writer that holds, rolls back, and inserts several rows per transaction. */
async function write(box: MariadbFixture, seed: number, longest: number) {
  const chance = random(seed);
  const session = await box.server.session(box.database);
  const written = { committed: [] as bigint[], rolledBack: [] as bigint[] };
  for (let n = 0; n < 15; n++) {
    await session.beginTransaction();
    const ids: bigint[] = [];
    for (let rows = 1 + Math.floor(chance() * 3); rows > 0; rows--)
      ids.push(await upstreamInsert(session, 'x'));
    const fate = chance();
    if (fate < 0.5) await pause(chance() * 20);
    // Longer than max-commit-delay, and than the 100 ms for which the server does not renew its list.
    if (fate < 0.1) await pause(longest);
    const rollback = chance() < 0.25;
    await (rollback ? session.rollback() : session.commit());
    (rollback ? written.rolledBack : written.committed).push(...ids);
  }
  await session.end();
  return written;
}

describe.skipIf(mariadbMissing !== null || postgresMissing !== null)('inbox on a mailbox in MariaDB', () => {
  it.each([
    ['elapsed', 60],
    ['proved', 60_000],
  ] as const)(
    'late commits, %s: every committed row is enqueued, in order, and only rolled-back IDs are released',
    async (holeRelease, maxCommitDelayMs) => {
      const { inbox, box } = await create();
      const poller = inbox.poller(
        { holeRelease, maxCommitDelayMs, maxHoleHoldMs: 60_000, claimBatch: 7, pollIntervalMs: 10 },
        { mailbox: box.mailbox, clock: new AnchoredClock(Date.now()) },
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
      const writers = Promise.all([1, 2, 3, 4, 5].map((seed) => write(box, seed, 400))).finally(() => {
        writing.now = false;
      });
      while (writing.now) if ((await poll()).next === 'wait') await pause(2);
      const results = await writers;
      const committed = sorted(results.flatMap((result) => result.committed));
      await expect
        .poll(
          async () => {
            await poll();
            return inbox.watermark();
          },
          { timeout: 20_000, interval: 5 },
        )
        .toBe(committed.at(-1));
      expect(disorder).toBeNull();
      expect(await inbox.enqueued()).toEqual(committed);
      const released = await inbox.query<{ id: string }>(
        'select generate_series(from_id, to_id) as id from inbox_hole where released_at is not null order by 1',
      );
      const missing = sorted(results.flatMap((result) => result.rolledBack)).filter(
        (id) => id < committed.at(-1)!,
      );
      expect(released.map(({ id }) => BigInt(id))).toEqual(missing);
      expect(missing.length).toBeGreaterThan(5);
    },
  );

  it('IDs by twos ripen together: one wait for all of them', async () => {
    const { inbox, box, poller } = await create();
    await box.owner.query('set session auto_increment_increment = 2');
    for (let n = 0; n < 30; n++) await upstreamInsert(box.owner, `text ${String(n)}`);
    const inboxPoller = await poller();
    await drain(inboxPoller);
    expect(await inbox.watermark()).toBe(1n);
    inbox.clock.advance(OPTIONS.maxCommitDelayMs + 1);
    await drain(inboxPoller);
    expect(await inbox.watermark()).toBe(59n);
    expect(await inbox.enqueued()).toEqual(Array.from({ length: 30 }, (_, n) => BigInt(2 * n + 1)));
  });

  it('without PROCESS holes go by the clock, and that is said once', async () => {
    const { inbox, box, poller } = await create();
    const said: string[] = [];
    const logger: Log = { ...SILENT, warn: (_: object, text: string) => said.push(text) };
    const inboxPoller = await poller({}, { mailboxUrl: await box.leastUser(), logger });
    const held = [await box.mailbox.openInsert('held')];
    await box.mailbox.insert('a');
    held.push(await box.mailbox.openInsert('held'));
    await box.mailbox.insert('b');
    await drain(inboxPoller);
    expect(await inbox.watermark()).toBe(0n);
    inbox.clock.advance(OPTIONS.maxCommitDelayMs + 1);
    await drain(inboxPoller);
    expect(await inbox.watermark()).toBe(4n);
    expect(said.filter((text) => text.includes('released by the clock alone'))).toHaveLength(1);
    for (const open of held) await open.rollback();
  });

  it('with PROCESS a hole is held while its writer lives', async () => {
    const { inbox, box, poller } = await create();
    const inboxPoller = await poller();
    const held = await box.mailbox.openInsert('held');
    await box.mailbox.insert('a');
    await drain(inboxPoller);
    inbox.clock.advance(OPTIONS.maxCommitDelayMs + 1);
    await drain(inboxPoller);
    expect(await inbox.watermark()).toBe(0n);
    await held.commit();
    inbox.clock.advance(1_000);
    await drain(inboxPoller);
    expect(await inbox.enqueued()).toEqual([1n, 2n]);
  });

  it('an ID that is given again after a restart, in a hole already released, is found by the late scan', async () => {
    const server = await startMariadb();
    try {
      const { inbox, box, poller } = await create(server);
      const inboxPoller = await poller();
      await box.mailbox.insertAll(['one', 'two']);
      await (await box.mailbox.openInsert('three')).rollback();
      await box.mailbox.insert('four');
      await drain(inboxPoller);
      inbox.clock.advance(OPTIONS.maxCommitDelayMs + 1);
      await drain(inboxPoller);
      expect(await inbox.watermark()).toBe(4n);
      expect(await inbox.holes()).toEqual(['3-3 released']);
      // The owner purges what is done. This engine (MariaDB from 10.2.4) remembers its counter over a restart …
      await box.remove(4n);
      await server.restart('SIGTERM');
      expect(await box.mailbox.insert('five')).toBe(5n);
      await drain(inboxPoller);
      expect(await inbox.watermark()).toBe(5n);
      // … older ones count on from the highest row, which is what this statement makes the server do.
      const owner = await server.session(box.database);
      await owner.query('delete from CMINMSGS where CMINMSGS_ID > 2');
      await owner.query('alter table CMINMSGS auto_increment = 1');
      await server.restart('SIGKILL');
      expect(await upstreamInsert(await server.session(box.database), 'given again')).toBe(3n);
      const scan = new LateScan({
        database: inbox.db.database,
        mailbox: box.mailbox,
        clock: inbox.clock,
        fence: () => null,
        logger: SILENT,
        metrics: inbox.metrics,
        options: { ...OPTIONS, intervalMs: 60_000, window: 10_000, retentionMs: 72 * 3_600_000 },
      });
      await drain(scan);
      expect(await inbox.enqueued()).toEqual([1n, 2n, 3n, 4n, 5n]);
      expect(await inbox.holes()).toEqual(['3-3 found']);
      expect(await inbox.query('select late from proc_state where msg_id = 3')).toEqual([{ late: true }]);
    } finally {
      await server.stop();
    }
  });
});
