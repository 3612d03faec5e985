import { describe, expect, it } from 'vitest';
import { markBackoff } from '../../src/backfill/backfill.ts';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { reopenAbandoned } from '../../src/store/owed-mark.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { HOUR, START, createBench } from './kit.ts';

describe.skipIf(postgresMissing !== null)('backfill', () => {
  it('tells the outcomes apart: marked, already marked, and a row that is gone', async () => {
    const { backfill, mailbox, owe, facts, marked, db, warnings } = await createBench();
    await owe(1, 2, 3);
    await db.client.query(`update test_mailbox set processed = '2020-06-01Z' where id = 2`);
    await db.client.query('delete from test_mailbox where id = 3');
    expect(await backfill.round()).toEqual({ next: 'wait', until: null });
    expect(mailbox.calls).toEqual([[1n, 2n, 3n]]);
    expect(await facts()).toEqual(['1 confirmed 0', '2 confirmed 0', '3 MISSING_ROW 1']);
    expect(await marked()).toEqual([1, 2]);
    const { rows } = await db.client.query<{ y: string }>(
      'select extract(year from processed) as y from test_mailbox where id = 2',
    );
    expect(rows).toEqual([{ y: '2020' }]);
    expect(warnings).toMatchObject([{ fields: { messages: 1, msgIds: ['3'] } }]);
    await backfill.round();
    expect(mailbox.calls).toHaveLength(1);
  });

  it('keeps abandoned apart from confirmed', async () => {
    const { backfill, owe, db } = await createBench();
    await owe(1);
    await db.client.query('delete from test_mailbox');
    await backfill.round();
    const { rows } = await db.client.query<{ at: unknown; abandoned: unknown }>(
      'select backfill_at as at, backfill_abandoned_at is not null as abandoned from proc_state',
    );
    expect(rows).toEqual([{ at: null, abandoned: true }]);
  });

  it('takes full batches, those tried least first', async () => {
    const { station, mailbox, owe, db } = await createBench();
    const backfill = station({ batch: 2 });
    await owe(1, 2, 3);
    await db.client.query('update proc_state set backfill_attempts = 3 where msg_id = 1');
    expect(await backfill.round()).toEqual({ next: 'now' });
    expect(await backfill.round()).toEqual({ next: 'wait', until: null });
    expect(mailbox.calls).toEqual([[2n, 3n], [1n]]);
  });

  it('writes the others where one row is refused, and backs that one off', async () => {
    const { backfill, mailbox, owe, facts, clock } = await createBench();
    await owe(1, 2, 3);
    mailbox.refused.add(2n);
    await backfill.round();
    expect(await facts()).toEqual(['1 confirmed 0', '2 owed 1', '3 confirmed 0']);
    clock.advance(999);
    await backfill.round();
    expect(await facts()).toContain('2 owed 1');
    clock.advance(1);
    await backfill.round();
    expect(await facts()).toContain('2 owed 2');
    clock.advance(1_999);
    await backfill.round();
    expect(await facts()).toContain('2 owed 2');
    mailbox.refused.clear();
    clock.advance(1);
    await backfill.round();
    expect(await facts()).toContain('2 confirmed 2');
  });

  it('writes the others where somebody holds a row, so that no answer comes for it', async () => {
    const { backfill, mailbox, owe, facts, clock } = await createBench();
    await owe(1, 2, 3);
    clock.advance(23 * HOUR);
    mailbox.held.add(1n);
    await backfill.round();
    expect(await facts()).toEqual(['1 owed 1', '2 confirmed 0', '3 confirmed 0']);
  });

  it('does not wait for row after row: the rest goes on in the next round, uncharged and not given up', async () => {
    const { backfill, mailbox, owe, facts, clock } = await createBench();
    await owe(1, 2, 3, 4, 5, 6);
    clock.advance(24 * HOUR + 1);
    for (const id of [1n, 3n, 4n]) mailbox.held.add(id);
    expect(await backfill.round()).toEqual({ next: 'now' });
    expect(mailbox.calls).toHaveLength(5);
    expect(await facts()).toEqual([
      '1 TRANSIENT_DEADLINE 1',
      '2 confirmed 0',
      '3 TRANSIENT_DEADLINE 1',
      '4 TRANSIENT_DEADLINE 1',
      '5 owed 0',
      '6 owed 0',
    ]);
    await backfill.round();
    expect((await facts()).slice(4)).toEqual(['5 confirmed 0', '6 confirmed 0']);
  });

  it('pauses where the mailbox answers but takes no mark at all', async () => {
    const { backfill, mailbox, owe, facts } = await createBench();
    await owe(1, 2, 3, 4);
    for (const id of [1n, 2n, 3n, 4n]) mailbox.held.add(id);
    await expect(backfill.round()).rejects.toThrow('takes no mark');
    expect(await facts()).toEqual(['1 owed 1', '2 owed 1', '3 owed 1', '4 owed 0']);
  });

  it('backs off from 1 s to 5 min', () => {
    expect([1, 2, 3, 9, 10, 11, 1_000].map(markBackoff)).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000, 300_000, 300_000,
    ]);
  });

  it('never gives up for attempts; it warns once at the limit', async () => {
    const { station, mailbox, owe, facts, clock, warnings } = await createBench();
    const backfill = station({ alarmAttempts: 2 });
    await owe(1);
    mailbox.refused.add(1n);
    for (let round = 0; round < 5; round++) {
      await backfill.round();
      clock.advance(markBackoff(round + 1));
    }
    expect(await facts()).toEqual(['1 owed 5']);
    expect(warnings.map(({ message }) => message)).toEqual(['mark fails again and again']);
  });

  it('charges nobody while the mailbox is away', async () => {
    const { backfill, mailbox, owe, facts } = await createBench();
    await owe(1, 2);
    mailbox.down = true;
    for (let round = 0; round < 10; round++) await expect(backfill.round()).rejects.toThrow(Outage);
    mailbox.down = false;
    mailbox.reachable = false;
    mailbox.refused.add(1n);
    await expect(backfill.round()).rejects.toThrow(Outage);
    expect(await facts()).toEqual(['1 owed 0', '2 owed 0']);
    expect(mailbox.calls).toHaveLength(11);
  });

  it('gives up after R and not before, in an outage too; only what is overdue', async () => {
    const { backfill, mailbox, owe, facts, clock, warnings } = await createBench();
    await owe(1);
    clock.advance(HOUR);
    await owe(2);
    mailbox.down = true;
    clock.advance(23 * HOUR);
    await expect(backfill.round()).rejects.toThrow(Outage);
    expect(await facts()).toEqual(['1 owed 0', '2 owed 0']);
    clock.advance(1);
    await expect(backfill.round()).rejects.toThrow(Outage);
    expect(await facts()).toEqual(['1 TRANSIENT_DEADLINE 1', '2 owed 0']);
    expect(warnings).toMatchObject([{ fields: { msgIds: ['1'] } }]);
    mailbox.down = false;
    await backfill.round();
    expect(await facts()).toEqual(['1 TRANSIENT_DEADLINE 1', '2 confirmed 0']);
  });

  it('gives up a refused row only after R, which also ends its backoff', async () => {
    const { backfill, mailbox, owe, facts, clock, db } = await createBench();
    await owe(1, 2);
    mailbox.refused.add(1n);
    const later = toTimestamp(START + 48 * HOUR);
    await db.client.query('update proc_state set backfill_next_at = $1', [later]);
    clock.advance(24 * HOUR);
    await backfill.round();
    expect(mailbox.calls).toEqual([]);
    clock.advance(1);
    await backfill.round();
    expect(await facts()).toEqual(['1 TRANSIENT_DEADLINE 1', '2 confirmed 0']);
  });

  it('counts R from our own enqueueing, whatever the mailbox says', async () => {
    const { backfill, mailbox, owe, facts, db } = await createBench();
    await owe(1);
    await db.client.query(`update proc_state set received_at = '1990-01-01Z'`);
    mailbox.refused.add(1n);
    await backfill.round();
    expect(await facts()).toEqual(['1 owed 1']);
  });

  it('owes again what was reopened, but not what a human has confirmed', async () => {
    const { backfill, owe, facts, db, marked, clock } = await createBench();
    await owe(1, 2, 3);
    await db.client.query('delete from test_mailbox where id <= 2');
    await backfill.round();
    await db.client.query(`update proc_state set backfill_confirmed_at = now(), backfill_confirmed_by = 'x'
      where msg_id = 2`);
    await db.client.query('insert into test_mailbox values (1), (2)');
    expect(await reopenAbandoned(db.database, [1n, 2n, 3n, 4n], toTimestamp(clock.now()))).toEqual([1n]);
    expect(await facts()).toEqual(['1 owed 0', '2 MISSING_ROW 1', '3 confirmed 0']);
    await backfill.round();
    expect(await facts()).toEqual(['1 confirmed 0', '2 MISSING_ROW 1', '3 confirmed 0']);
    expect(await marked()).toEqual([1, 3]);
  });

  it('marks neither unfinished nor shadow rows, and nothing at all in shadow mode', async () => {
    const { backfill, station, mailbox, owe, db } = await createBench();
    await owe(1, 2, 3);
    await db.client.query('update proc_state set shadow = true where msg_id = 1');
    await db.client.query(
      `update proc_state set state = 'FAILED', terminal_at = null, terminal_seq = null where msg_id = 2`,
    );
    await station({ shadow: true }).round();
    expect(mailbox.calls).toEqual([]);
    await backfill.round();
    expect(mailbox.calls).toEqual([[3n]]);
  });

  it('also finds a terminal row without a time of its own', async () => {
    const { backfill, owe, facts, db } = await createBench();
    await owe(1);
    await db.client.query('update proc_state set backfill_next_at = null');
    await backfill.round();
    expect(await facts()).toEqual(['1 confirmed 0']);
  });

  it('records nothing for a row that a replay put back to work meanwhile', async () => {
    const { backfill, mailbox, owe, facts, db } = await createBench();
    await owe(1, 2);
    mailbox.onMark = async () => {
      await db.client.query(
        `update proc_state set state = 'PENDING', terminal_at = null, terminal_seq = null where msg_id = 1`,
      );
    };
    await backfill.round();
    expect(await facts()).toEqual(['1 owed 0', '2 confirmed 0']);
  });

  it('records what was written before the mailbox went away in between', async () => {
    const { backfill, mailbox, owe, facts } = await createBench();
    await owe(1, 2, 3);
    mailbox.refused.add(2n);
    mailbox.onMark = async (ids) => {
      if (ids.length === 1 && ids[0] === 3n) mailbox.down = true;
    };
    await expect(backfill.round()).rejects.toThrow(Outage);
    expect(await facts()).toEqual(['1 confirmed 0', '2 owed 1', '3 owed 0']);
  });

  it('records nothing once the lease has passed on; the next holder finds the mark there', async () => {
    const { backfill, station, mailbox, owe, facts, db } = await createBench();
    await owe(1);
    const former = station({ fence: { epoch: 0n } });
    mailbox.onMark = async () => {
      await db.client.query('update lease set epoch = 1');
    };
    await expect(former.round()).rejects.toThrow(LostLease);
    mailbox.onMark = async () => undefined;
    expect(await facts()).toEqual(['1 owed 0']);
    await backfill.round();
    expect(await facts()).toEqual(['1 confirmed 0']);
  });
});
