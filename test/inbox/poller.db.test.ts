import { describe, expect, it } from 'vitest';
import { enqueueDirect } from '../../src/store/enqueue.ts';
import { readCursor } from '../../src/store/inbox-cursor.ts';
import { hashText, selectTexts } from '../../src/store/raw-message.ts';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { InboxPoller } from '../../src/inbox/poller.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createInbox, drain, OPTIONS, START, withMethods, type InboxFixture } from './kit.ts';

const fill = async (inbox: InboxFixture, ids: readonly number[]) => {
  for (const id of ids) await inbox.box.insertAt(BigInt(id), `text ${String(id)}`);
};
const upTo = (last: number, except: readonly number[] = []) =>
  Array.from({ length: last }, (_, n) => n + 1).filter((id) => !except.includes(id));

describe.skipIf(postgresMissing !== null)('intake', () => {
  it('enqueues rows with text, hash, receipt and mark; NULL, empty and over-long texts keep no body', async () => {
    const inbox = await createInbox();
    const { box, db } = inbox;
    await box.insertAt(1n, '延误'.repeat(100));
    await box.insertAt(2n, null, { received: null });
    await box.insertAt(3n, '', { processed: '2026-01-01T00:00:00Z' });
    await box.insertAt(4n, 'x'.repeat(1_000));
    await box.insertAt(5n, '机'.repeat(333) + 'xx');
    expect(await inbox.poller({ shadow: true }).round()).toEqual({ next: 'wait', until: null });
    const rows = await inbox.query(
      `select msg_id::integer as id, state, received_at, enqueued_at, marked_at_intake as marked, late, shadow
       from proc_state order by msg_id`,
    );
    const plain = {
      state: 'PENDING',
      late: false,
      shadow: true,
      marked: false,
      enqueued_at: new Date(START),
    };
    const received = new Date('2026-03-14T01:02:03.5Z');
    expect(rows).toEqual([
      { ...plain, id: 1, received_at: received },
      { ...plain, id: 2, received_at: null },
      { ...plain, id: 3, received_at: received, marked: true },
      { ...plain, id: 4, received_at: received },
      { ...plain, id: 5, received_at: received },
    ]);
    const texts = await selectTexts(db.database, [1n, 2n, 3n, 4n, 5n]);
    expect(texts).toEqual(
      new Map([
        [1n, { text: '延误'.repeat(100), bytes: 600 }],
        [4n, { text: 'x'.repeat(1_000), bytes: 1_000 }],
        [5n, { text: null, bytes: 1_001 }],
      ]),
    );
    const [raw] = await inbox.query<{ sha256: Buffer }>('select sha256 from raw_message where msg_id = 1');
    expect(raw?.sha256.equals(hashText('延误'.repeat(100)))).toBe(true);
    expect(inbox.progress).toEqual([{ enqueued: 5, released: 0n, watermark: 5n }]);
  });

  it('never reads a text it does not need', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2, 4]);
    await inbox.box.insertAt(3n, 'x'.repeat(1_001));
    const read: bigint[] = [];
    const mailbox = withMethods(inbox.box.mailbox, {
      texts: async (ids) => {
        read.push(...ids);
        return inbox.box.mailbox.texts(ids);
      },
    });
    await enqueueDirect(inbox.db.database, null, { id: 2n, text: 'text 2', now: START });
    await drain(inbox.poller({}, { mailbox }));
    expect(read).toEqual([1n, 4n]);
    expect(await inbox.enqueued()).toEqual([1n, 2n, 3n, 4n]);
  });

  it('bounds a batch by rows and by bytes, and takes at least one row', async () => {
    const inbox = await createInbox();
    for (let id = 1n; id <= 7n; id++) await inbox.box.insertAt(id, 'x'.repeat(id === 4n ? 900 : 300));
    const rounds = async (options: Parameters<InboxFixture['poller']>[0]) => {
      await inbox.query('truncate proc_state, raw_message');
      await inbox.query('update inbox_cursor set watermark = 0');
      inbox.progress.length = 0;
      await drain(inbox.poller(options));
      expect(await inbox.enqueued()).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n]);
      return inbox.progress.map(({ watermark }) => Number(watermark));
    };
    expect(await rounds({ batchBytes: 600 })).toEqual([2, 3, 4, 6, 7]);
    expect(await rounds({ batchBytes: 1 })).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await rounds({ claimBatch: 3 })).toEqual([3, 6, 7]);
  });

  it('takes a row of the compat entry above W as it is, and W passes it in its turn', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2, 3]);
    await inbox.box.insertAt(5n, 'direct');
    await enqueueDirect(inbox.db.database, null, { id: 5n, text: 'direct', now: START - 5_000 });
    await enqueueDirect(inbox.db.database, null, { id: 5n, text: 'direct', now: START });
    const poller = inbox.poller();
    await drain(poller);
    expect(await inbox.watermark()).toBe(3n);
    expect(await inbox.enqueued()).toEqual([1n, 2n, 3n, 5n]);
    await fill(inbox, [4]);
    await drain(poller);
    expect(await inbox.watermark()).toBe(5n);
    const [row] = await inbox.query<{ enqueued_at: Date }>(
      'select enqueued_at from proc_state where msg_id = 5',
    );
    expect(row?.enqueued_at).toEqual(new Date(START - 5_000));
    expect((await selectTexts(inbox.db.database, [5n])).get(5n)?.text).toBe('direct');
  });

  it('does not enqueue again what was archived', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2]);
    await drain(inbox.poller());
    await inbox.query(
      `with gone as (delete from proc_state where msg_id = 1 returning *)
       insert into proc_state_hst select *, now() from gone`,
    );
    await inbox.query('update inbox_cursor set watermark = 0');
    await drain(inbox.poller());
    await enqueueDirect(inbox.db.database, null, { id: 1n, text: 'text 1', now: START });
    expect(await inbox.enqueued()).toEqual([2n]);
    expect(await inbox.watermark()).toBe(2n);
  });

  it('carries IDs beyond 2^53', async () => {
    const inbox = await createInbox();
    const base = 9_007_199_254_740_993n;
    await inbox.query(`update inbox_cursor set watermark = ${String(base - 1n)}`);
    for (const id of [base, base + 1n, base + 3n]) await inbox.box.insertAt(id, 'x');
    await drain(inbox.poller());
    expect(await inbox.enqueued()).toEqual([base, base + 1n]);
    inbox.clock.advance(30_000);
    await drain(inbox.poller());
    expect(await inbox.enqueued()).toEqual([base, base + 1n, base + 3n]);
    expect(await inbox.holes()).toEqual([`${String(base + 2n)}-${String(base + 2n)} released`]);
  });
});

describe.skipIf(postgresMissing !== null)('holes', () => {
  it('stop W; it passes them after max-commit-delay, no row before, several in one round', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2, 5, 6, 9]);
    const poller = inbox.poller();
    expect(await poller.round()).toEqual({ next: 'wait', until: START + 30_000 });
    expect(await inbox.watermark()).toBe(2n);
    expect(await inbox.holes()).toEqual(['3-4 open', '7-8 open']);
    expect((await readCursor(inbox.db.database)).holeSince).toBe(START);
    inbox.clock.advance(29_999);
    await drain(poller);
    expect(await inbox.enqueued()).toEqual([1n, 2n]);
    inbox.clock.advance(1);
    await drain(poller);
    expect(inbox.progress.at(-1)).toEqual({ enqueued: 3, released: 4n, watermark: 9n });
    expect(await inbox.holes()).toEqual(['3-4 released', '7-8 released']);
    expect((await readCursor(inbox.db.database)).holeSince).toBeNull();
    expect((await inbox.metrics.permanentHoles.get()).values[0]?.value).toBe(4);
  });

  it('age from their own first sight: a second one does not inherit the wait of the first', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 4]);
    const poller = inbox.poller();
    await drain(poller);
    inbox.clock.advance(20_000);
    await fill(inbox, [2, 6]);
    await drain(poller);
    expect(await inbox.watermark()).toBe(2n);
    expect(await inbox.holes()).toEqual(['3-3 open', '5-5 open']);
    expect((await readCursor(inbox.db.database)).holeSince).toBe(START);
    inbox.clock.advance(10_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(4n);
    expect((await readCursor(inbox.db.database)).holeSince).toBe(START + 20_000);
    inbox.clock.advance(19_999);
    await drain(poller);
    expect(await inbox.watermark()).toBe(4n);
    inbox.clock.advance(1);
    await drain(poller);
    expect(await inbox.watermark()).toBe(6n);
  });

  it('keep their age over a restart', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 3]);
    await drain(inbox.poller());
    inbox.clock.advance(29_000);
    await drain(inbox.poller());
    expect((await readCursor(inbox.db.database)).holeSince).toBe(START);
    inbox.clock.advance(1_000);
    await drain(inbox.poller());
    expect(await inbox.watermark()).toBe(3n);
  });

  it('filled in time are no holes: the late row is enqueued in its place', async () => {
    const inbox = await createInbox();
    const held = await inbox.box.begin();
    await held.insertAt(2n, 'late');
    await fill(inbox, [1, 3]);
    const poller = inbox.poller();
    await drain(poller);
    await held.commit();
    await drain(poller);
    expect(await inbox.enqueued()).toEqual([1n, 2n, 3n]);
    expect(await inbox.holes()).toEqual([]);
    expect((await readCursor(inbox.db.database)).holeSince).toBeNull();
  });

  it('are held while a writer of their first sight lives, up to max-hole-hold', async () => {
    const inbox = await createInbox();
    const held = await inbox.box.begin();
    await held.insertAt(2n, 'slow');
    await fill(inbox, [1, 3]);
    const poller = inbox.poller();
    await drain(poller);
    inbox.clock.advance(600_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(1n);
    await held.commit();
    await drain(poller);
    expect(await inbox.enqueued()).toEqual([1n, 2n, 3n]);
    const stuck = await inbox.box.begin();
    await stuck.insertAt(4n, 'stuck');
    await fill(inbox, [5]);
    await drain(poller);
    inbox.clock.advance(899_999);
    await drain(poller);
    expect(await inbox.watermark()).toBe(3n);
    inbox.clock.advance(1);
    await drain(poller);
    expect(await inbox.watermark()).toBe(5n);
    await stuck.rollback();
  });

  it('are not held by writers that came later', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 3]);
    const poller = inbox.poller();
    await drain(poller);
    const newcomer = await inbox.box.begin();
    await newcomer.insertAt(4n, 'later');
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(3n);
    await newcomer.rollback();
  });

  it('proved: are released as soon as their writers have ended, without waiting', async () => {
    const inbox = await createInbox();
    const held = await inbox.box.begin();
    await held.insertAt(2n, 'x');
    await fill(inbox, [1, 3, 5]);
    const poller = inbox.poller({ holeRelease: 'proved' });
    await drain(poller);
    expect(await inbox.watermark()).toBe(1n);
    await held.rollback();
    await drain(poller);
    expect(await inbox.watermark()).toBe(5n);
    expect(await inbox.holes()).toEqual(['2-2 released', '4-4 released']);
  });

  it.each(['elapsed', 'proved'] as const)(
    '%s: a row committed between the look and the release is enqueued, not skipped',
    async (holeRelease) => {
      const inbox = await createInbox();
      const held = await inbox.box.begin();
      await held.insertAt(3n, 'just in time');
      await fill(inbox, [1, 5]);
      let commit: (() => Promise<void>) | null = null;
      const mailbox = withMethods(inbox.box.mailbox, {
        writers: async () => {
          await commit?.();
          commit = null;
          return inbox.box.mailbox.writers();
        },
      });
      const poller = inbox.poller({ holeRelease }, { mailbox });
      await drain(poller);
      expect(await inbox.watermark()).toBe(1n);
      inbox.clock.advance(30_000);
      commit = () => held.commit();
      await drain(poller);
      expect(await inbox.enqueued()).toEqual([1n, 3n, 5n]);
      expect(await inbox.holes()).toEqual(['2-2 released', '4-4 released']);
    },
  );

  it('by the clock alone where writers cannot be seen, said once', async () => {
    const inbox = await createInbox();
    const said: string[] = [];
    const mailbox = withMethods(inbox.box.mailbox, { writers: async () => null });
    const logger = { ...SILENT, warn: (_: object, message: string) => said.push(message) };
    const poller = inbox.poller({ holeRelease: 'proved' }, { mailbox, logger });
    await fill(inbox, [2]);
    await drain(poller);
    expect(await inbox.watermark()).toBe(0n);
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(2n);
    await fill(inbox, [4]);
    await drain(poller);
    expect(said.filter((message) => message.includes('cannot be seen'))).toHaveLength(1);
  });

  it('behind a full batch are seen by the look-ahead and ripen together', async () => {
    const inbox = await createInbox();
    await fill(inbox, upTo(60, [3, 25, 26, 47]));
    const poller = inbox.poller({ claimBatch: 10 });
    await drain(poller);
    expect(await inbox.watermark()).toBe(2n);
    expect(await inbox.holes()).toEqual(['3-3 open', '25-26 open', '47-47 open']);
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(60n);
    expect(await inbox.holes()).toEqual(['3-3 released', '25-26 released', '47-47 released']);
  });

  it('known from a look-ahead are in HOLE_SINCE as soon as W stands before them', async () => {
    const inbox = await createInbox();
    await fill(inbox, upTo(40, [21]));
    const poller = inbox.poller({ claimBatch: 10 });
    await poller.round();
    expect((await readCursor(inbox.db.database)).holeSince).toBeNull();
    inbox.clock.advance(100);
    await poller.round();
    expect(await readCursor(inbox.db.database)).toMatchObject({ watermark: 20n, holeSince: START });
    expect((await inbox.metrics.watermarkLag.get()).values[0]?.value).toBe(20);
    expect((await inbox.metrics.holeAge.get()).values[0]?.value).toBe(0.1);
  });

  it('beyond the look-ahead are seen later and wait their own time', async () => {
    const inbox = await createInbox();
    await fill(inbox, upTo(40, [3, 30]));
    const poller = inbox.poller({ claimBatch: 5, lookAhead: 5 });
    await drain(poller);
    expect(await inbox.holes()).toEqual(['3-3 open']);
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(29n);
    expect(await inbox.holes()).toEqual(['3-3 released', '30-30 open']);
  });

  it('wider than a batch are one range and one wait', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2]);
    for (let id = 5_000_000_000n; id < 5_000_000_020n; id++) await inbox.box.insertAt(id, 'x');
    const poller = inbox.poller({ claimBatch: 5 });
    await drain(poller);
    expect(await inbox.holes()).toEqual(['3-4999999999 open']);
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(5_000_000_019n);
  });

  it('filled by more rows than a batch at the last moment lose none of them', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 40]);
    const mailbox = withMethods(inbox.box.mailbox, {
      writers: async () => {
        if (inbox.clock.now() > START) await fill(inbox, upTo(39, [1, 17]));
        return [];
      },
    });
    const poller = inbox.poller({ claimBatch: 5 }, { mailbox });
    await drain(poller);
    inbox.clock.advance(30_000);
    await poller.round();
    expect(await inbox.enqueued()).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
    await drain(inbox.poller({ claimBatch: 5 }));
    expect(await inbox.enqueued()).toEqual(upTo(40, [17]).map(BigInt));
    expect(await inbox.holes()).toEqual(['17-17 released']);
  });

  it('of IDs that go by two cost one wait for all, not one each', async () => {
    const inbox = await createInbox();
    await fill(
      inbox,
      upTo(100).map((n) => 2 * n),
    );
    const poller = inbox.poller({ claimBatch: 10 });
    await drain(poller);
    expect(await inbox.watermark()).toBe(0n);
    inbox.clock.advance(30_000);
    await drain(poller);
    expect(await inbox.watermark()).toBe(200n);
    expect(await inbox.enqueued()).toHaveLength(100);
    expect((await inbox.holes()).every((text) => text.endsWith('released'))).toBe(true);
  });
});

describe.skipIf(postgresMissing !== null)('faults', () => {
  it.each(['rowsAfter', 'writers', 'rowsIn', 'texts'] as const)(
    'an outage in %s leaves W, holes and queue untouched',
    async (method) => {
      const inbox = await createInbox();
      await fill(inbox, [1, 3]);
      const poller = inbox.poller();
      await drain(poller);
      await fill(inbox, [5]);
      inbox.clock.advance(30_000);
      const before = [await inbox.watermark(), await inbox.enqueued(), await inbox.holes()];
      const mailbox = withMethods(inbox.box.mailbox, {
        [method]: async () => {
          throw new Outage('mailbox', new Error('gone'));
        },
      });
      await expect(inbox.poller({}, { mailbox }).round()).rejects.toThrow(Outage);
      expect([await inbox.watermark(), await inbox.enqueued(), await inbox.holes()]).toEqual(before);
      await drain(poller);
      expect(await inbox.watermark()).toBe(3n);
    },
  );

  it('a lost lease writes nothing', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1]);
    const poller = new InboxPoller({
      database: inbox.db.database,
      mailbox: inbox.box.mailbox,
      clock: inbox.clock,
      fence: () => ({ epoch: 7n }),
      options: OPTIONS,
      logger: SILENT,
      metrics: inbox.metrics,
    });
    await expect(poller.round()).rejects.toThrow(LostLease);
    expect(await inbox.watermark()).toBe(0n);
    expect(await inbox.enqueued()).toEqual([]);
    await inbox.query('update lease set epoch = 7');
    await drain(poller);
    expect(await inbox.watermark()).toBe(1n);
  });

  it('a watermark moved by somebody else fails the round, and nothing of it stays', async () => {
    const inbox = await createInbox();
    await fill(inbox, [1, 2]);
    const mailbox = withMethods(inbox.box.mailbox, {
      texts: async (ids) => {
        await inbox.query('update inbox_cursor set watermark = 1');
        return inbox.box.mailbox.texts(ids);
      },
    });
    await expect(inbox.poller({}, { mailbox }).round()).rejects.toThrow(/no longer 0/);
    expect(await inbox.enqueued()).toEqual([]);
  });

  it('notes that an idle mailbox answers, at most once a second', async () => {
    const inbox = await createInbox();
    const poller = inbox.poller();
    const polledAt = async () => (await readCursor(inbox.db.database)).polledAt;
    await drain(poller);
    expect(await polledAt()).toBe(START);
    inbox.clock.advance(999);
    await drain(poller);
    expect(await polledAt()).toBe(START);
    inbox.clock.advance(1);
    await drain(poller);
    expect(await polledAt()).toBe(START + 1_000);
    expect(poller.readAt).toBe(START + 1_000);
  });
});
