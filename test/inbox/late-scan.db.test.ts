import { describe, expect, it } from 'vitest';
import { InboxFault } from '../../src/inbox/fault.ts';
import { readCursor } from '../../src/store/inbox-cursor.ts';
import { selectTexts } from '../../src/store/raw-message.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createInbox, drain, START, type InboxFixture } from './kit.ts';

const DAY = 24 * 3_600_000;

/** Rows 1, 2, 6 with the hole 3-5 released. */
async function released(): Promise<InboxFixture> {
  const inbox = await createInbox();
  for (const id of [1n, 2n, 6n]) await inbox.box.insertAt(id, `text ${String(id)}`);
  const poller = inbox.poller();
  await drain(poller);
  inbox.clock.advance(30_000);
  await drain(poller);
  expect(await inbox.watermark()).toBe(6n);
  return inbox;
}

const late = async (inbox: InboxFixture) =>
  (await inbox.query<{ id: string }>('select msg_id as id from proc_state where late order by 1')).map(
    ({ id }) => Number(id),
  );

describe.skipIf(postgresMissing !== null)('late scan', () => {
  it('enqueues what turns up in a released hole as late, and marks that part found', async () => {
    const inbox = await released();
    await inbox.box.insertAt(4n, 'late');
    expect(await inbox.scan().round()).toEqual({ next: 'wait', until: START + 30_000 + 60_000 });
    expect(await late(inbox)).toEqual([4]);
    expect(await inbox.holes()).toEqual(['3-3 released', '4-4 found', '5-5 released']);
    expect((await selectTexts(inbox.db.database, [4n])).get(4n)?.text).toBe('late');
    expect((await inbox.metrics.lateArrivals.get()).values[0]?.value).toBe(1);
    expect(await inbox.watermark()).toBe(6n);
    expect(await readCursor(inbox.db.database)).toMatchObject({
      scannedAt: START + 30_000,
      scannedWatermark: 6n,
    });
  });

  it('waits its interval, also over a restart, and then goes on finding', async () => {
    const inbox = await released();
    await drain(inbox.scan());
    await inbox.box.insertAt(3n, 'late');
    await inbox.box.insertAt(4n, 'late');
    inbox.clock.advance(59_999);
    expect(await inbox.scan().round()).toEqual({ next: 'wait', until: START + 90_000 });
    expect(await late(inbox)).toEqual([]);
    inbox.clock.advance(1);
    await drain(inbox.scan());
    expect(await late(inbox)).toEqual([3, 4]);
    expect(await inbox.holes()).toEqual(['3-4 found', '5-5 released']);
  });

  it('finds rows in no hole within the window, and in released holes below it', async () => {
    const inbox = await released();
    for (let id = 7n; id <= 60n; id++) await inbox.box.insertAt(id, 'x');
    await drain(inbox.poller());
    await drain(inbox.scan());
    // Forgotten by our database, as after a restore: one inside the window, one below.
    await inbox.query('delete from proc_state where msg_id in (20, 55)');
    await inbox.box.insertAt(5n, 'late');
    inbox.clock.advance(60_000);
    await drain(inbox.scan({ window: 10 }));
    expect(await late(inbox)).toEqual([5, 55]);
  });

  it('does not look at holes older than the mailbox keeps its rows', async () => {
    const inbox = await released();
    await drain(inbox.scan());
    await inbox.box.insertAt(4n, 'late');
    inbox.clock.advance(4 * DAY);
    await drain(inbox.scan({ retentionMs: 3 * DAY, window: 1 }));
    expect(await late(inbox)).toEqual([]);
    await drain(inbox.scan({ retentionMs: 5 * DAY, window: 1, intervalMs: 0 }));
    expect(await late(inbox)).toEqual([4]);
  });

  it('never enqueues anything at or below the seed', async () => {
    const inbox = await released();
    await inbox.query('update inbox_cursor set seed = 4');
    for (const id of [3n, 4n, 5n]) await inbox.box.insertAt(id, 'late');
    await inbox.query('delete from proc_state where msg_id <= 2');
    await drain(inbox.scan());
    expect(await late(inbox)).toEqual([5]);
    expect(await inbox.holes()).toEqual(['3-4 released', '5-5 found']);
  });

  it('bounds its batches and finds all of a wide hole that was filled after all', async () => {
    const inbox = await createInbox();
    await inbox.box.insertAt(9_000n, 'x');
    const poller = inbox.poller();
    await drain(poller);
    inbox.clock.advance(30_000);
    await drain(poller);
    await inbox.box.client.query(
      "insert into cminmsgs (cminmsgs_id, cminmsgs_clob_msg) select n, 'late ' || n from generate_series(1, 6000) n",
    );
    const rounds = await drain(inbox.scan({ claimBatch: 700 }));
    expect(rounds).toBeGreaterThan(1);
    expect((await late(inbox)).length).toBe(6_000);
    expect((await inbox.holes()).filter((text) => text.endsWith('released'))).toEqual(['6001-8999 released']);
  });

  it('takes an empty or purged mailbox for normal', async () => {
    const inbox = await released();
    await inbox.box.remove(6n);
    await drain(inbox.scan());
    for (const id of [1n, 2n]) await inbox.box.remove(id);
    inbox.clock.advance(60_000);
    await drain(inbox.scan());
    await inbox.box.insertAt(7n, 'goes on');
    await drain(inbox.poller());
    inbox.clock.advance(60_000);
    await drain(inbox.scan());
    expect(await inbox.enqueued()).toEqual([1n, 2n, 6n, 7n]);
  });

  it('stops where a known row has another text: IDs have started again', async () => {
    const inbox = await released();
    for (const id of [1n, 2n, 6n]) await inbox.box.remove(id);
    await inbox.box.insertAt(2n, 'another message');
    const fault: unknown = await inbox
      .scan()
      .round()
      .catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(InboxFault);
    expect(fault).toMatchObject({
      kind: 'ids-restarted',
      message: expect.stringContaining('row 2 ') as string,
    });
    expect((await readCursor(inbox.db.database)).scannedAt).toBeNull();
  });

  it('stops where a mark that we confirmed is gone, but not for a shadow row or one still owed', async () => {
    const inbox = await released();
    await inbox.query('update proc_state set backfill_at = now(), shadow = true where msg_id = 6');
    await drain(inbox.scan());
    await inbox.box.mailbox.mark([2n]);
    await inbox.query('update proc_state set backfill_at = now() where msg_id = 2');
    inbox.clock.advance(60_000);
    await drain(inbox.scan());
    await inbox.query('update proc_state set backfill_at = now() where msg_id = 1');
    inbox.clock.advance(60_000);
    await expect(inbox.scan().round()).rejects.toThrow(/row 1 .* its mark, which we have seen, is gone/);
  });
});
