import { describe, expect, it } from 'vitest';
import { InboxFault } from '../../src/inbox/fault.ts';
import { seedInbox, seedInboxOrStop, type CutoverWatermark } from '../../src/inbox/seeding.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { readCursor } from '../../src/store/inbox-cursor.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createInbox, drain, START, type InboxFixture } from './kit.ts';

function seeding(inbox: InboxFixture, setting: CutoverWatermark | null, said: string[] = []) {
  return {
    database: inbox.db.database,
    mailbox: inbox.box.mailbox,
    clock: inbox.clock,
    fence: () => null,
    logger: { ...SILENT, info: (_: object, message: string) => said.push(message) },
    setting,
  };
}

async function createSeeding(ids: readonly bigint[]): Promise<InboxFixture> {
  const inbox = await createInbox();
  for (const id of ids) await inbox.box.insertAt(id, 'x');
  return inbox;
}

describe.skipIf(postgresMissing !== null)('seeding', () => {
  it.each([
    ['unset, empty mailbox', null, [], 0n],
    ['unset, mailbox from 1', null, [1n, 3n], 0n],
    ['min, empty mailbox', 'min', [], 0n],
    ['max, empty mailbox', 'max', [], 0n],
    ['min', 'min', [500n, 502n], 499n],
    ['zero', 'zero', [500n, 502n], 0n],
    ['max', 'max', [500n, 502n], 502n],
    ['an ID', 501n, [500n, 502n], 501n],
    ['an ID, empty mailbox', 9_007_199_254_740_993n, [], 9_007_199_254_740_993n],
  ] as const)('%s', async (_, setting, ids, watermark) => {
    const inbox = await createSeeding(ids);
    expect(await seedInbox(seeding(inbox, setting))).toEqual({ kind: 'seeded', watermark });
    expect(await readCursor(inbox.db.database)).toMatchObject({
      watermark,
      seed: watermark,
      seededAt: START,
      scannedWatermark: watermark,
    });
  });

  it('is refused without a setting where the mailbox begins above 1, and says what to choose', async () => {
    const inbox = await createSeeding([500n, 502n]);
    const result = await seedInbox(seeding(inbox, null));
    expect(result).toMatchObject({ kind: 'refused' });
    const message = result.kind === 'refused' ? result.message : '';
    for (const word of ['500', '502', 'cutover-watermark', 'min', 'max', 'zero'])
      expect(message).toContain(word);
    await expect(seedInboxOrStop(seeding(inbox, null))).rejects.toThrow(InboxFault);
    expect((await readCursor(inbox.db.database)).seededAt).toBeNull();
  });

  it('happens once: a seeded inbox ignores the setting with one line', async () => {
    const inbox = await createSeeding([500n]);
    await seedInbox(seeding(inbox, 'min'));
    const said: string[] = [];
    expect(await seedInbox(seeding(inbox, 'max', said))).toEqual({ kind: 'existing', watermark: 499n });
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/cutover-watermark is ignored/);
    expect(await seedInbox(seeding(inbox, null, said))).toEqual({ kind: 'existing', watermark: 499n });
    expect(said).toHaveLength(1);
  });

  it.each([
    ['a watermark', 'update inbox_cursor set watermark = 77'],
    [
      'messages',
      `insert into proc_state (msg_id, enqueued_at, state, terminal_at, terminal_seq)
       values (3, now(), 'SKIPPED', now(), 1)`,
    ],
    [
      'archived messages',
      `insert into proc_state_hst
       select msg_id, null, null, null, 'SKIPPED', 0, null, null, null, null, null, now(), now(), 1, false, false,
         false, false, false, null, null, null, null, 0, null, null, null, null, now()
       from (values (3)) v (msg_id)`,
    ],
  ])('never happens to an inbox with %s', async (_, sql) => {
    const inbox = await createSeeding([500n]);
    await inbox.query(sql);
    expect(await seedInbox(seeding(inbox, 'max'))).toMatchObject({ kind: 'existing' });
    expect((await readCursor(inbox.db.database)).seededAt).toBeNull();
  });

  it('is not in use for a message that the compat entry enqueued before the inbox had looked', async () => {
    const inbox = await createInbox();
    await inbox.db.client.query('insert into proc_state (msg_id, enqueued_at) values (700, now())');
    expect(await seedInbox(seeding(inbox, 700n))).toEqual({ kind: 'seeded', watermark: 700n });
  });

  it('max: what is missing then is a hole of the past and never enqueued', async () => {
    const inbox = await createSeeding([500n, 503n, 510n]);
    await seedInbox(seeding(inbox, 'max'));
    expect(await inbox.holes()).toEqual(['501-502 past', '504-509 past']);
    for (const id of [501n, 505n, 511n]) await inbox.box.insertAt(id, 'x');
    await drain(inbox.poller());
    await drain(inbox.scan());
    expect(await inbox.enqueued()).toEqual([511n]);
  });

  it('min: all that is there is read, in order', async () => {
    const inbox = await createSeeding([500n, 501n, 502n]);
    await seedInbox(seeding(inbox, 'min'));
    await drain(inbox.poller());
    expect(await inbox.enqueued()).toEqual([500n, 501n, 502n]);
  });
});
