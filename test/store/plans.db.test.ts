/** Plans of the statements that run all day, on tables with a long history: each must use its partial index. */
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/store/statement.ts';
import { claimMessageEvents, nextEventAttempt } from '../../src/store/msg-event.ts';
import { selectDueMarks } from '../../src/store/owed-mark.ts';
import { selectReferencePage, selectReferencePast } from '../../src/store/browse-reference.ts';
import { claimLatestStates } from '../../src/store/schd-event.ts';
import { indexes, kinds, plansOf, touched, type Plan } from '../kit/plans.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';

const NOW = '2026-03-14T00:00:00Z';

/** The plan of the one statement that a function of the store runs, as it is without knowing any value. */
async function planOf(client: pg.Client, run: (db: Queryable) => Promise<unknown>): Promise<Plan> {
  const [plan = []] = (await plansOf(client, run, { generic: true })).values();
  return plan;
}

describe.skipIf(postgresMissing !== null)('plans', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    await db.client.query(`
      insert into proc_state (msg_id, state, enqueued_at, terminal_at, terminal_seq, backfill_at, backfill_next_at)
        select n, 'SUCCEEDED', '2026-03-13Z', '2026-03-13Z', n, case when n <= 60000 then '2026-03-13Z'::timestamptz end,
          case when n > 60000 then '2026-03-13Z'::timestamptz end
        from generate_series(1, 63000) n;
      insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
        select 'f' || n, 1, '2026-03-14', false, '{}', '{}', 1, '2026-03-13Z' from generate_series(1, 3000) n;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
        select 'KAFKA:msg', 'f' || n % 3000, 'UPSERT', 1 + n / 3000, case when n <= 60000 then 'SENT' else 'PENDING' end,
          case when n <= 60000 then '2026-03-13Z'::timestamptz end, n, '2026-03-13Z', '{"updatedAt": "x"}'
        from generate_series(1, 80000) n;
      update msg_event set next_attempt_at = '2026-03-15Z', attempts = 1 where event_id between 60001 and 60100;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, created_at)
        select 'KAFKA:schd', 'f' || n, 'UPSERT', 1, case when n <= 2000 then 'SENT' else 'PENDING' end,
          case when n <= 2000 then '2026-03-13Z'::timestamptz end, '2026-03-13Z' from generate_series(1, 3000) n;
      insert into ref_master (rtype, rkey, body, active, stamp, updated_at)
        select 'T' || n % 4, 'k' || lpad(n::text, 6, '0'), '{"DESC": "x"}', true, 1, '2026-03-13Z'
        from generate_series(1, 20000) n;
      insert into ref_history (rtype, rkey, msg_id, changed_at, body, active)
        select 'T' || n % 4, 'k' || n % 500, n, '2026-03-13Z', '{}', true from generate_series(1, 20000) n;
      analyze`);
  });

  it('claims changes from the head of what is pending, past the stuck, and stops at the limit', async () => {
    const nodes = await planOf(db.client, (queryable) => claimMessageEvents(queryable, NOW, 500));
    expect([...indexes(nodes)].sort()).toEqual(['msg_event_pending', 'msg_event_waiting', 'proc_state_pkey']);
    expect(kinds(nodes)).not.toContain('Seq Scan');
    expect(touched(nodes, 'msg_event')).toBeLessThan(1_000);
  });

  it('claims states from what is pending', async () => {
    const nodes = await planOf(db.client, (queryable) => claimLatestStates(queryable, NOW, 100));
    expect([...indexes(nodes)].sort()).toEqual([
      'flight_schd_pkey',
      'msg_event_pending',
      'msg_event_waiting',
    ]);
    expect(touched(nodes, 'msg_event')).toBeLessThanOrEqual(100);
  });

  it('fills a flush up with what waits, without reading all that is pending', async () => {
    await db.client.query('begin');
    await db.client.query(`update msg_event set next_attempt_at = '2026-03-13Z', state = 'PENDING'
      where target = 'KAFKA:schd' and state = 'SENT' and event_id % 5 = 0`);
    await db.client.query(`update msg_event set state = 'SENT', sent_at = now()
      where target = 'KAFKA:schd' and state = 'PENDING' and next_attempt_at is null`);
    const nodes = await planOf(db.client, (queryable) => claimLatestStates(queryable, NOW, 100));
    await db.client.query('rollback');
    expect([...indexes(nodes)].sort()).toEqual([
      'flight_schd_pkey',
      'msg_event_pending',
      'msg_event_waiting',
    ]);
    // The first half passes over those that wait, the second stops at the limit.
    expect(touched(nodes, 'msg_event')).toBeLessThanOrEqual(400 + 100);
  });

  it('finds the next attempt among those that wait', async () => {
    const nodes = await planOf(db.client, (queryable) => nextEventAttempt(queryable, 'KAFKA:msg'));
    expect([...indexes(nodes)]).toEqual(['msg_event_waiting']);
    expect(kinds(nodes)).not.toContain('Seq Scan');
  });

  it('reads a page of reference data from its cursor on, and stops at the limit', async () => {
    const none = { prefix: '', text: '', active: null };
    const page = await planOf(db.client, (queryable) =>
      selectReferencePage(queryable, 'T1', 'k010000', none, 100),
    );
    expect([...indexes(page)]).toContain('ref_master_key');
    expect(kinds(page)).not.toContain('Sort');
    expect(touched(page, 'ref_master')).toBeLessThanOrEqual(100);
  });

  it('finds keys by how they begin, and what one row had been, without reading the type', async () => {
    const prefix = { prefix: 'k0100', text: '', active: true };
    const found = await planOf(db.client, (queryable) =>
      selectReferencePage(queryable, 'T1', '', prefix, 100),
    );
    expect([...indexes(found)]).toContain('ref_master_key');
    expect(touched(found, 'ref_master')).toBeLessThanOrEqual(100);
    const past = await planOf(db.client, (queryable) => selectReferencePast(queryable, 'T1', 'k1', 10));
    expect([...indexes(past)]).toEqual(['ref_history_pkey']);
    expect(kinds(past)).not.toContain('Sort');
    expect(touched(past, 'ref_history')).toBeLessThanOrEqual(10);
  });

  it('finds due marks in their order among those that are owed', async () => {
    const overdueBefore = '2026-03-13T00:00:00Z';
    const nodes = await planOf(db.client, (queryable) => selectDueMarks(queryable, NOW, overdueBefore, 500));
    expect([...indexes(nodes)]).toEqual(['proc_state_owed']);
    expect(kinds(nodes)).not.toContain('Sort');
    expect(touched(nodes, 'proc_state')).toBeLessThanOrEqual(500);
  });
});
