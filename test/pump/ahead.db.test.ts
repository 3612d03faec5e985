/** What is decided before its transaction begins is written only where it still holds. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LostLease } from '../../src/runtime/outage.ts';
import { statement } from '../../src/store/statement.ts';
import { operation, record, scalar, schedule, unreadable, unsupported } from '../kit/json-dialect.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';
import { readOutcome } from '../kit/rows.ts';
import { interceptTransactions } from '../kit/transactions.ts';

const FLID = '700001';
const terminal = (sequence: number, value: string) => operation(sequence, FLID, [scalar('terminal', value)]);
const MOVE = statement('test.move', 'update flight_schd set version = version + 10 where flid = $1');

describe.skipIf(postgresMissing !== null)('decided ahead', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  /** Has something done once, when a statement has been asked so many times. */
  const meanwhile = (name: string, times: number, act: () => Promise<unknown>) => {
    let left = times;
    return interceptTransactions(
      db.database,
      (tx) => tx,
      (query) =>
        async (...args) => {
          const rows = await query(...args);
          if (args[0].name === name && (left -= 1) === 0) await act();
          return rows as never;
        },
    );
  };
  const states = async () => (await readOutcome(db)).messages.map((row) => row['state']);
  const versions = async () => (await readOutcome(db)).events.map((row) => row['state_version']);

  it.each([1, 3])(
    'is decided anew where somebody else has changed flights under the lock since, in batches of %s',
    async (commitBatch) => {
      await intake(db, [schedule(1, [record(FLID)])]);
      await createPump(db).drain();
      await intake(db, [terminal(2, 'T1'), terminal(3, 'T2'), terminal(4, 'T3')]);
      const restore = meanwhile('flight.select', 1, () =>
        db.database.transaction((tx) => tx.query(MOVE, [FLID]), { exclusive: 'others' }),
      );
      const pump = createPump(db, { commitBatch });
      try {
        await pump.tick();
        // Nothing was written over what had changed, and nobody is charged.
        expect(await states()).toEqual(['SUCCEEDED', 'PENDING', 'PENDING', 'PENDING']);
        await pump.drain();
      } finally {
        restore();
      }
      expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
      expect(await versions()).toEqual([1, 12, 13, 14]);
      const { flights, messages } = await readOutcome(db);
      expect(flights).toMatchObject([{ version: 14, state: { terminal: 'T3' } }]);
      expect(messages.map((row) => row['attempts'])).toEqual([0, 0, 0, 0]);
    },
  );

  it('is not written where the lease has been taken over since', async () => {
    await intake(db, [schedule(1, [record(FLID)])]);
    const { rows } = await db.client.query<{ epoch: string }>('select epoch from lease');
    const fence = { epoch: BigInt(rows[0]?.epoch ?? '0') };
    const restore = meanwhile('flight.select', 1, () =>
      db.client.query('update lease set epoch = epoch + 1'),
    );
    try {
      await expect(createPump(db, { fence }).tick()).rejects.toBeInstanceOf(LostLease);
    } finally {
      restore();
    }
    expect(await states()).toEqual(['PENDING']);
    const { flights, events } = await readOutcome(db);
    expect([flights, events]).toEqual([[], []]);
  });

  it.each([1, 2])(
    'breaks for its own message alone, in batches of %s: the one before it has ended',
    async (commitBatch) => {
      const remark = operation(3, FLID, [scalar('remark', 'a\u0000b')]);
      await intake(db, [schedule(1, [record(FLID)]), terminal(2, 'T1'), remark, terminal(4, 'T2')]);
      const pump = createPump(db, { commitBatch });
      await pump.tick();
      await pump.tick();
      expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'PENDING']);
      expect((await readOutcome(db)).messages.map((row) => row['attempts'])).toEqual([0, 0, 1, 0]);
      const failures = pump.log.filter(({ message }) => message === 'message failed');
      expect(failures.map(({ fields }) => fields['msgId'])).toEqual([3n]);
      expect(pump.progress()).toBe(2);
      await pump.drain();
      expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'DEAD', 'SUCCEEDED']);
      expect(pump.progress()).toBe(4);
    },
  );

  it.each([1, 2])(
    'goes no further than to a message that holds the line, in batches of %s',
    async (commitBatch) => {
      for (const holding of [unsupported(3), unreadable()]) {
        await emptyTables(db);
        await intake(db, [
          schedule(1, [record(FLID)]),
          terminal(2, 'T1'),
          holding,
          terminal(4, 'T2'),
          terminal(5, 'T3'),
        ]);
        const pump = createPump(db, { commitBatch });
        await pump.tick();
        expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'PENDING', 'PENDING', 'PENDING']);
        await pump.drain();
        expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'DEAD', 'SUCCEEDED', 'SUCCEEDED']);
      }
    },
  );

  it('gives out versions above those that consumers knew before a restore, also where they become known meanwhile', async () => {
    await intake(db, [schedule(1, [record(FLID)]), terminal(2, 'T1'), terminal(3, 'T2')]);
    const versionFloors = new Map([[FLID, 7]]);
    // Found after the flight was read: what was decided without it is not written.
    const restore = meanwhile('flight.select', 1, () =>
      db.database.transaction(async () => versionFloors.set(FLID, 9), { exclusive: 'others' }),
    );
    try {
      await createPump(db, { versionFloors, commitBatch: 1 }).drain();
    } finally {
      restore();
    }
    expect(await versions()).toEqual([10, 11, 12]);
    expect((await readOutcome(db)).flights).toMatchObject([{ version: 12 }]);
  });

  it('stands on the batch before it, which is still being written', async () => {
    await intake(db, [schedule(1, [record(FLID)]), terminal(2, 'T1'), terminal(3, 'T2'), terminal(4, 'T3')]);
    const asked: string[] = [];
    const restore = interceptTransactions(
      db.database,
      (tx) => ({
        ...tx,
        commit: async () => {
          const committed = tx.commit();
          committed.catch(() => undefined);
          asked.push('commit');
          await committed;
          // Others have time to go on, if they can.
          await new Promise((resolve) => setTimeout(resolve, 100));
          asked.push('committed');
        },
      }),
      (query) => (statement, values) => {
        if (statement.name === 'identity.bind') asked.push('bind');
        return query(statement, values);
      },
    );
    try {
      await createPump(db, { commitBatch: 1 }).tick();
    } finally {
      restore();
    }
    // Two are looked ahead; one is sent behind the one that it stands on, whose commit is not answered, and not two.
    expect(asked.slice(0, 7).join(' ')).toBe('bind commit bind bind commit bind committed');
    const answers: Record<string, number> = { commit: 1, committed: -1 };
    let unanswered = 0;
    const most = Math.max(...asked.map((step) => (unanswered += answers[step] ?? 0)));
    expect([most, unanswered]).toEqual([2, 0]);
    expect(await versions()).toEqual([1, 2, 3, 4]);
    expect((await readOutcome(db)).flights).toMatchObject([{ version: 4, state: { terminal: 'T3' } }]);
  });

  describe('sent behind a batch that the database then refuses', () => {
    /** Refuses the write of this version of the flight. */
    const refuse = (version: number, sqlState: string) =>
      db.client.query(`create function refuse() returns trigger language plpgsql as $$
          begin raise exception 'refused' using errcode = '${sqlState}'; end $$;
        create trigger refuse before update on flight_schd for each row when (new.version = ${String(version)})
          execute function refuse()`);
    const allow = () => db.client.query('drop function refuse cascade');
    const intakeFive = () =>
      intake(db, [
        schedule(1, [record(FLID)]),
        ...['T1', 'T2', 'T3', 'T4'].map((value, index) => terminal(index + 2, value)),
      ]);

    it.each([
      // A fault of its own, a conflict with somebody else, and what looks like heads that were changed by others.
      { sqlState: 'P0001', charged: 'FAILED' },
      { sqlState: '40001', charged: 'PENDING' },
      { sqlState: '22012', charged: 'PENDING' },
    ])('commits nothing: $sqlState', async ({ sqlState, charged }) => {
      await intakeFive();
      const pump = createPump(db, { commitBatch: 1 });
      await refuse(3, sqlState);
      try {
        await pump.tick();
        expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'PENDING', 'PENDING', 'PENDING']);
        // Now it is the first, with others behind it.
        await pump.tick();
        expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', charged, 'PENDING', 'PENDING']);
      } finally {
        await allow();
      }
      expect(await versions()).toEqual([1, 2]);
      expect(pump.progress()).toBe(2);
      await pump.drain();
      expect(await versions()).toEqual([1, 2, 3, 4, 5]);
      const { flights, messages } = await readOutcome(db);
      expect(flights).toMatchObject([{ version: 5, state: { terminal: 'T4' } }]);
      expect(messages.map((row) => row['attempts'])).toEqual([0, 0, charged === 'FAILED' ? 1 : 0, 0, 0]);
      expect(pump.progress()).toBe(5);
    });

    it('commits nothing of several statements either', async () => {
      // The last one takes its flight out of the archive before it is written.
      await intake(db, [schedule(1, [record(FLID), record('700009')])]);
      await createPump(db).drain();
      await db.client
        .query(`insert into flight_schd_hst (flid, version, operation_day, deleted, state, stamps,
          last_msg_id, updated_at, archived_at)
        select flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at, updated_at
        from flight_schd where flid = '700009'`);
      await db.client.query(`delete from flight_schd where flid = '700009'`);
      await intake(db, [
        terminal(2, 'T1'),
        terminal(3, 'T2'),
        operation(4, '700009', [scalar('terminal', 'T1')]),
      ]);
      const pump = createPump(db, { commitBatch: 1 });
      await refuse(3, 'P0001');
      try {
        await pump.tick();
      } finally {
        await allow();
      }
      expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'PENDING', 'PENDING']);
      const { rows } = await db.client.query('select from flight_schd_hst');
      expect(rows).toHaveLength(1);
    });
  });
});
