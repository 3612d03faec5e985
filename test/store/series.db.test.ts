/** The statements behind charts, on a long history: found without an index on times, counted where they ended. */
import { beforeAll, describe, expect, it } from 'vitest';
import { selectEventBuckets, selectMessageBuckets } from '../../src/store/series.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';

const FROM = Date.parse('2026-03-14T00:00:00Z') / 1_000;

describe.skipIf(postgresMissing !== null)('series', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    // A message a minute for 20 days to the end of the day on show, IDs with steps of three; each took its ID in ms.
    await db.client.query(`
      insert into proc_state (msg_id, state, enqueued_at, terminal_at, terminal_seq)
        select 3 * n, 'SUCCEEDED', t, t + n % 100 * interval '1 ms', n
        from (select n, '2026-02-23Z'::timestamptz + n * interval '1 minute' as t from generate_series(0, 28799) n) s;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
        select 'KAFKA:msg', 'f' || n % 500, 'UPSERT', 1 + n / 500, 'SENT', t + interval '20 ms', n, t,
          json_build_object('x', repeat('y', 2000))
        from (select n, '2026-03-05Z'::timestamptz + n * interval '1 minute' as t from generate_series(0, 14399) n) s;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, created_at)
        values ('KAFKA:schd', 'f1', 'UPSERT', 1, 'SENT', '2026-03-14 10:00Z', '2026-03-14 10:00Z')`);
    await db.client.query('vacuum (analyze) msg_event');
    await db.client.query('analyze proc_state');
  });

  it('counts each message in the bucket in which it came and in that in which it ended', async () => {
    // One of the day before ends on the day; one that waits has only come.
    await db.client.query(`update proc_state set terminal_at = '2026-03-14 00:10Z'
      where enqueued_at = '2026-03-13 23:59Z'`);
    await db.client.query(`update proc_state set state = 'PENDING', terminal_at = null, terminal_seq = null
      where enqueued_at = '2026-03-14 01:00Z'`);
    const rows = await selectMessageBuckets(db.database, { from: FROM, bucketSeconds: 3_600 });
    expect(rows.map(({ at }) => at)).toEqual(Array.from({ length: 24 }, (_, hour) => FROM + 3_600 * hour));
    expect(rows.map(({ enqueued }) => enqueued)).toEqual(Array.from({ length: 24 }, () => 60));
    expect(rows.map(({ finished }) => finished)).toEqual([61, 59, ...Array.from({ length: 22 }, () => 60)]);
    expect(rows[0]?.p99).toBe(11 * 60_000);
    expect(rows[3]?.p50).toBeGreaterThan(0);
    expect(rows[3]?.p99).toBeLessThan(100);
  });

  it('reads the messages of two days and no more, whatever stands before', async () => {
    const reads = async () => {
      await db.client.query('select pg_stat_force_next_flush()');
      const { rows } = await db.client.query<{ reads: string }>(
        `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::text as reads
         from pg_stat_user_tables where relname = 'proc_state'`,
      );
      return Number(rows[0]?.reads);
    };
    const before = await reads();
    await selectMessageBuckets(db.database, { from: FROM, bucketSeconds: 3_600 });
    // The pool's sessions tell what they have read within a second, perhaps that of the test before with it.
    await expect.poll(reads, { timeout: 15_000 }).toBeGreaterThanOrEqual(before + 2_000);
    expect((await reads()) - before).toBeLessThan(2 * (2 * 1_440 + 100));
  });

  it('counts events of changes from the index alone', async () => {
    const rows = await selectEventBuckets(db.database, { from: FROM, bucketSeconds: 3_600 });
    expect(rows).toEqual(
      Array.from({ length: 24 }, (_, hour) => ({ at: FROM + 3_600 * hour, sent: 60, p50: 20, p99: 20 })),
    );
    const { rows: plan } = await db.client.query<{ 'QUERY PLAN': string }>(
      `explain select date_part('epoch', sent_at - created_at) from msg_event
       where state = 'SENT' and target = 'KAFKA:msg' and sent_at >= to_timestamp(${String(FROM)})`,
    );
    expect(plan[0]?.['QUERY PLAN']).toMatch(/^Index Only Scan using msg_event_sent/);
  });

  it('is empty where nothing has come', async () => {
    const { database } = await createTestDatabase();
    expect(await selectMessageBuckets(database, { from: FROM, bucketSeconds: 900 })).toEqual([]);
    expect(await selectEventBuckets(database, { from: FROM, bucketSeconds: 900 })).toEqual([]);
  });
});
