/** A system's outage is not a message's failure (decisions.md). */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { Database } from '../../src/store/database.ts';
import { statement } from '../../src/store/statement.ts';
import { ignored, operation, record, scalar, schedule } from '../kit/json-dialect.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump } from '../kit/pump.ts';
import { readOutcome } from '../kit/rows.ts';
import type { Queryable } from '../../src/store/statement.ts';
import { interceptTransactions } from '../kit/transactions.ts';
import { until } from '../kit/until.ts';

const PING = statement('test.ping', 'select 1');

describe.skipIf(postgresMissing !== null)('outages', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  const attempts = async () => (await readOutcome(db)).messages.map((row) => [row['state'], row['attempts']]);
  const untouched = [
    ['PENDING', 0],
    ['PENDING', 0],
  ];

  const endSessions = async () =>
    db.client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );

  /**
   * After an outage the pool may still hold a session whose end it has not heard of: the service's loop would meet a
   * second outage and try again. Here a query that gets through says that it has heard of all.
   */
  const available = () =>
    until('the database to be available', () =>
      db.database.query(PING).then(
        () => true,
        () => null,
      ),
    );

  /** Ends the pump's sessions when it runs this statement; `times` runs are hit. */
  function killAt(statement: string, times: number): () => void {
    let left = times;
    const hit = async (name: string | null) => {
      if (name !== statement || left === 0) return;
      left -= 1;
      await endSessions();
    };
    const hitting =
      (query: Queryable['query']): Queryable['query'] =>
      async (...args) => {
        await hit(args[0].name);
        return query(...args);
      };
    return interceptTransactions(
      db.database,
      (tx) => {
        let last: string | null = null;
        return {
          ...tx,
          query: hitting((statement, values) => tx.query(statement, values)),
          last: (...args) => {
            last = args[0].name;
            tx.last(...args);
          },
          commit: async () => {
            await hit(last);
            await tx.commit();
          },
        };
      },
      hitting,
    );
  }

  it('charges nothing where the session ends that binds identities', async () => {
    await intake(db, [ignored(1), ignored(2)]);
    const pump = createPump(db);
    await db.client.query('begin; lock table message_identity');
    const tick = expect(pump.tick()).rejects.toBeInstanceOf(Outage);
    await until('the binding to wait', async () => {
      const { rows } = await db.client.query('select from pg_locks where not granted');
      return rows.length > 0 ? true : null;
    });
    await endSessions();
    await tick;
    await db.client.query('rollback');
    expect(await attempts()).toEqual(untouched);
    await available();
    await pump.drain();
    expect((await readOutcome(db)).identities).toHaveLength(2);
  });

  it.each(['flight.select', 'batch.write'])(
    'charges nothing where the sessions end at %s, and goes on afterwards',
    async (statement) => {
      await intake(db, [schedule(1, [record('700001')]), operation(2, '700001', [scalar('terminal', 'T1')])]);
      const pump = createPump(db);
      const restore = killAt(statement, 1);
      try {
        await expect(pump.tick()).rejects.toBeInstanceOf(Outage);
        expect(await attempts()).toEqual(untouched);
        expect((await readOutcome(db)).flights).toEqual([]);
        await available();
        await pump.drain();
      } finally {
        restore();
      }
      const { messages, events, flights } = await readOutcome(db);
      expect(messages.map((row) => [row['state'], row['reason']])).toEqual([
        ['SUCCEEDED', null],
        ['SUCCEEDED', null],
      ]);
      expect(events).toHaveLength(2);
      expect(flights).toMatchObject([{ version: 2 }]);
    },
  );

  it('charges nothing where the mailbox is away for the second look at a missing text', async () => {
    await intake(db, [ignored(1), null, ignored(3)]);
    let away = true;
    const pump = createPump(db, {
      mailbox: {
        texts: async () => {
          if (away) throw new Outage('mailbox', new Error('refused'));
          return new Map();
        },
      },
    });
    // What is before it ends all the same.
    await pump.tick();
    expect(await attempts()).toEqual([
      ['SKIPPED', 0],
      ['PENDING', 0],
      ['PENDING', 0],
    ]);
    await expect(pump.tick()).rejects.toBeInstanceOf(Outage);
    expect((await attempts()).at(1)).toEqual(['PENDING', 0]);
    away = false;
    await pump.drain();
    expect(await attempts()).toEqual([
      ['SKIPPED', 0],
      ['DEAD', 0],
      ['SKIPPED', 0],
    ]);
  });

  it('binds identities under the fence, without waiting for the disk', async () => {
    await db.client.query(`
      create table bound_as (setting text);
      create function note_setting() returns trigger language plpgsql as $$
        begin insert into bound_as values (current_setting('synchronous_commit')); return new; end $$;
      create trigger note_setting before insert on message_identity for each row execute function note_setting()`);
    try {
      await intake(db, [ignored(1)]);
      const { rows } = await db.client.query<{ epoch: string }>('select epoch from lease');
      await createPump(db, { fence: { epoch: BigInt(rows[0]?.epoch ?? '0') } }).drain();
      expect((await db.client.query('select setting from bound_as')).rows).toEqual([{ setting: 'off' }]);
      // It holds for that transaction alone.
      const after = await db.database.query(statement('test.setting', 'show synchronous_commit'));
      expect(after).toEqual([{ synchronous_commit: 'on' }]);
    } finally {
      await db.client.query(
        'drop trigger note_setting on message_identity; drop function note_setting; drop table bound_as',
      );
    }
  });

  it('writes nothing under an epoch that has passed', async () => {
    await intake(db, [ignored(1), ignored(2)]);
    const { rows } = await db.client.query<{ epoch: string }>('select epoch from lease');
    const pump = createPump(db, { fence: { epoch: BigInt(rows[0]?.epoch ?? '0') + 1n } });
    await expect(pump.tick()).rejects.toBeInstanceOf(LostLease);
    expect(await attempts()).toEqual(untouched);
    expect((await readOutcome(db)).identities).toEqual([]);
  });

  it('waits for the cleaner that holds the pipeline lock', async () => {
    await intake(db, [ignored(1), ignored(2)]);
    await db.client.query('begin');
    await db.client.query('select 1 from pipeline_lock for update');
    const ticking = createPump(db).tick();
    await expect
      .poll(async () => {
        const { rows } = await db.client.query(`select 1 from pg_locks where not granted`);
        return rows.length;
      })
      .toBeGreaterThan(0);
    expect(await attempts()).toEqual(untouched);
    await db.client.query('commit');
    await ticking;
    expect((await attempts()).map(([state]) => state)).toEqual(['SKIPPED', 'SKIPPED']);
  });

  describe('a statement that our database does not finish in time', () => {
    let hasty: Database;
    beforeAll(() => {
      hasty = new Database({ url: db.url, schema: 'msgx', statementTimeoutMs: 300 });
    });
    afterAll(() => hasty.close());

    it('is an outage where it waits for a lock of somebody else, however often', async () => {
      await intake(db, [schedule(1, [record('700001')]), ignored(2)]);
      const pump = createPump(db, { database: hasty });
      await db.client.query('begin');
      await db.client.query('lock table flight_schd');
      try {
        for (let turn = 0; turn < 6; turn++) await expect(pump.tick()).rejects.toBeInstanceOf(Outage);
      } finally {
        await db.client.query('rollback');
      }
      expect(await attempts()).toEqual(untouched);
      await pump.drain();
      expect((await attempts()).map(([state]) => state)).toEqual(['SUCCEEDED', 'SKIPPED']);
    });

    it('is an outage where nothing can be committed either, else the fault of its message', async () => {
      await intake(db, [schedule(1, [record('700001')]), ignored(2)]);
      await db.client.query(`create function dawdle() returns trigger language plpgsql as $$
        begin perform pg_sleep(5); return new; end $$`);
      await db.client.query(`create trigger dawdle before insert on flight_schd execute function dawdle()`);
      const pump = createPump(db, { database: hasty });
      const commits = vi.spyOn(hasty, 'commits').mockResolvedValue(false);
      try {
        await expect(pump.tick()).rejects.toBeInstanceOf(Outage);
        expect(await attempts()).toEqual(untouched);
        commits.mockRestore();
        await pump.tick();
        expect(await attempts()).toEqual([
          ['FAILED', 1],
          ['PENDING', 0],
        ]);
      } finally {
        await db.client.query('drop trigger dawdle on flight_schd; drop function dawdle');
      }
    });
  });

  it.each([
    ['repeats a batch once that another transaction was in the way of, without a charge', 1],
    ['charges nothing however often another transaction is in the way', 7],
  ])('%s', async (_title, times) => {
    await intake(db, [schedule(1, [record('700001')]), ignored(2)]);
    await db.client.query(`create function collide() returns trigger language plpgsql as $$
      begin
        if nextval('collisions') <= ${String(times)} then raise exception 'deadlock' using errcode = '40P01'; end if;
        return new;
      end $$`);
    await db.client.query(`create sequence collisions;
      create trigger collide before insert on flight_schd for each row execute function collide()`);
    try {
      const pump = createPump(db);
      // Tried twice in each tick.
      for (let ticks = 0; ticks < Math.ceil((times + 1) / 2); ticks++) await pump.tick();
      expect(pump.progress()).toBe(2);
      expect(await attempts()).toEqual([
        ['SUCCEEDED', 0],
        ['SKIPPED', 0],
      ]);
      expect(pump.log.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await db.client.query(
        'drop trigger collide on flight_schd; drop function collide; drop sequence collisions',
      );
    }
  });
});
