/**
 * Plans of the upkeep's statements on tables with a long history, most of it young: what is old is found by the index that
 * each statement names, and no batch costs more the longer the history is.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { archiveFlights, countPendingEvents, selectOldFlights } from '../../src/store/flight-archive.ts';
import { archiveMessages, selectMessageStretch } from '../../src/store/message-archive.ts';
import { deleteOldTexts, deleteRequests, deleteSentEvents, deleteTraces } from '../../src/store/retention.ts';
import {
  forgottenVersions,
  hasRestoredUnfinished,
  cameUnmarked,
  markRestored,
  selectUnfinishedAfter,
  selectUnsettled,
  settleFloors,
} from '../../src/store/restore.ts';
import { insertSnapshotTraces } from '../../src/store/snap-log.ts';
import {
  beginJob,
  endJob,
  failJob,
  progressJob,
  selectJobs,
  selectLineLoad,
} from '../../src/store/upkeep-job.ts';
import type { Queryable } from '../../src/store/statement.ts';
import { indexes, kinds, plansOf, scanned, touched, type Plan } from '../kit/plans.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';

const MESSAGES = 60_000;
const FLIGHTS = 20_000;
/** What happened before is old. */
const BEFORE = Date.parse('2026-01-01T00:00:00Z');
const NOW = Date.parse('2026-03-14T00:00:00Z');
const LIMIT = 500;

describe.skipIf(postgresMissing !== null)('plans of the upkeep', () => {
  let db: TestDatabase;

  beforeAll(async () => {
    db = await createTestDatabase();
    // One in ten is old, and old ones have the lowest IDs.
    await db.client.query(`
      insert into proc_state (msg_id, state, enqueued_at, terminal_at, terminal_seq, backfill_at)
        select n, 'SUCCEEDED', at, at, n, at from (
          select n, case when n <= ${MESSAGES / 10} then '2025-06-01Z' else '2026-03-13Z' end::timestamptz as at
          from generate_series(1, ${MESSAGES}) n) rows;
      insert into proc_state (msg_id, state, enqueued_at)
        select ${MESSAGES} + n, 'PENDING', '2026-03-13Z' from generate_series(1, 2000) n;
      insert into proc_state_hst select p.*, '2026-03-13Z' from proc_state p where msg_id <= 10;
      update proc_state_hst set msg_id = -msg_id;
      insert into raw_message (msg_id, body, bytes, sha256, stored_at)
        select msg_id, null, 1, null, enqueued_at from proc_state;
      insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
        select 'f' || n, 1, case when n <= ${FLIGHTS / 10} then '2025-06-01' else '2026-03-14' end::date, false, '{}', '{}', 1,
          case when n <= ${FLIGHTS / 10} then '2025-06-01Z' else '2026-03-13Z' end::timestamptz
        from generate_series(1, ${FLIGHTS}) n;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
        select 'KAFKA:msg', 'f' || n % ${FLIGHTS}, 'UPSERT', 1 + n / ${FLIGHTS},
          case when n <= ${MESSAGES} - 300 then 'SENT' else 'PENDING' end,
          case when n <= ${MESSAGES / 10} then '2025-06-01Z' when n <= ${MESSAGES} - 300 then '2026-03-13Z' end::timestamptz,
          n, '2026-03-13Z', '{"updatedAt": "x"}'
        from generate_series(1, ${MESSAGES}) n;
      insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, created_at)
        select 'KAFKA:schd', 'f' || n, 'UPSERT', 1, case when n <= ${FLIGHTS} - 300 then 'SENT' else 'PENDING' end,
          case when n <= ${FLIGHTS} - 300 then '2026-03-13Z'::timestamptz end, '2026-03-13Z'
        from generate_series(1, ${FLIGHTS}) n;
      insert into schd_snap_log (msg_id, styp, outcome, records, changed, scope_start, scope_end, recv_at)
        select n, 'DNLD', 'SUCCEEDED', 1, 1, day, day, day from (
          select n, case when n % 20 = 0 then null when n <= 2000 then '2025-06-01' else '2026-03-13' end::date as day
          from generate_series(1, 100000) n) rows where day is not null;
      insert into schd_snap_log (msg_id, styp, outcome, records, changed, recv_at)
        select n, 'DNLD', 'DEAD', 0, 0, case when n <= 100 then '2025-06-01Z' else '2026-03-13Z' end::timestamptz
        from generate_series(1, 1000) n;
      insert into req_track (rtype, operation_day, sender, state, requested_at, requested_by, seqn, remembered_id, sent_at,
          out_id, expires_at, done_at, done_by, matched)
        select 'SCHD', '2025-01-01'::date + n, 'MSGX', 'DONE', '2025-06-01Z', 'o', n, n, '2025-06-01Z', n, '2025-06-01Z',
          '2025-06-01Z', n, 'exact' from generate_series(1, 300) n;
      insert into error_report (msg_id, state, sender, sequence, type, styp, error_class, description, registered_at, seqn,
          remembered_id, sent_at, out_id)
        select n, 'SENT', 'MSGX', '1', 'FLOP', 'GTDT', 'MALFORMED', 'x', '2025-06-01Z', n, n, '2025-06-01Z', n
        from generate_series(1, 300) n;
      insert into version_floor (flid, version, noted_at, settled_at)
        select 'f' || n, 1, '2025-06-01Z', case when n > 20 then '2025-06-01Z'::timestamptz end
        from generate_series(1, ${FLIGHTS}) n;
      insert into flight_schd_hst select 'h' || n, 1, '2025-01-01', true, '{}', '{}', 1, '2025-01-01Z', '2025-06-01Z'
        from generate_series(1, ${FLIGHTS}) n`);
    await db.client.query('vacuum analyze');
  }, 60_000);

  const of = async (name: string, run: (db: Queryable) => Promise<unknown>): Promise<Plan> => {
    const plan = (await plansOf(db.client, run)).get(name);
    if (plan === undefined) throw new Error(`${name} did not run`);
    return plan;
  };

  it('messages are looked at by their IDs, a stretch at a time, wherever the walk is', async () => {
    for (const after of [-1n, BigInt(MESSAGES) / 2n]) {
      const plan = await of('messageArchive.stretch', (queryable) =>
        selectMessageStretch(queryable, after, BEFORE, LIMIT),
      );
      expect(indexes(plan)).toEqual(['proc_state_pkey']);
      expect(scanned(plan)).toEqual([]);
      expect(touched(plan, 'proc_state')).toBe(LIMIT);
    }
  });

  it('messages are copied and deleted by their IDs', async () => {
    const ids = Array.from({ length: LIMIT }, (_, index) => BigInt(index + 1));
    const plans = await plansOf(db.client, (queryable) => archiveMessages(queryable, ids, BEFORE, NOW));
    expect([...plans.keys()]).toEqual(['messageArchive.copy', 'messageArchive.delete']);
    for (const [name, plan] of plans) {
      expect(indexes(plan), name).toEqual(['proc_state_pkey']);
      expect(scanned(plan), name).toEqual([]);
      expect(touched(plan, 'proc_state'), name).toBeLessThanOrEqual(2 * LIMIT);
    }
  });

  it('old flights come in the order of their days, without reading those that are young', async () => {
    const age = { day: '2026-01-01', updatedBefore: BEFORE };
    const plan = await of('flightArchive.select', (queryable) => selectOldFlights(queryable, age, 25));
    expect(indexes(plan)).toEqual(['flight_schd_day', 'msg_event_pending', 'version_floor_unsettled']);
    expect(scanned(plan)).toEqual([]);
    // The few that are not settled are passed over.
    expect(touched(plan, 'flight_schd')).toBeLessThan(100);

    // Where many states wait, each flight looks for its own; plansOf takes it all back.
    await db.client.query(
      `begin; update msg_event set state = 'PENDING' where target = 'KAFKA:schd'; analyze msg_event`,
    );
    const crowded = await of('flightArchive.select', (queryable) => selectOldFlights(queryable, age, 25));
    expect(indexes(crowded)).toEqual([
      ...['flight_schd_day', 'msg_event_pending', 'msg_event_schd', 'version_floor_unsettled'],
    ]);
    expect(scanned(crowded)).toEqual([]);
  });

  it('pending events are counted up to a limit and no further', async () => {
    const plan = await of('flightArchive.pending', (queryable) => countPendingEvents(queryable, 50));
    expect(indexes(plan)).toEqual(['msg_event_pending']);
    expect(touched(plan, 'msg_event')).toBe(50);
  });

  it('flights are copied and deleted by their keys', async () => {
    const flights = Array.from({ length: 100 }, (_, index) => ({
      ...{ flid: `f${String(index + 1)}`, version: 1, operationDay: '2025-06-01', deleted: false },
    }));
    const plans = await plansOf(db.client, (queryable) => archiveFlights(queryable, flights, NOW));
    for (const name of ['flightArchive.copy', 'flightArchive.delete']) {
      const plan = plans.get(name) ?? [];
      expect(indexes(plan), name).toEqual(['flight_schd_pkey']);
      expect(scanned(plan), name).toEqual([]);
      expect(touched(plan, 'flight_schd'), name).toBeLessThanOrEqual(200);
    }
  });

  it('texts are deleted by their IDs, a stretch at a time', async () => {
    const plan = await of('retention.texts', (queryable) => deleteOldTexts(queryable, -1n, BEFORE, LIMIT));
    expect(indexes(plan)).toEqual(['proc_state_pkey', 'raw_message_pkey']);
    expect(scanned(plan)).toEqual([]);
    expect(touched(plan, 'raw_message')).toBeLessThanOrEqual(3 * LIMIT);
    expect(touched(plan, 'proc_state')).toBeLessThanOrEqual(LIMIT);
  });

  it('sent events are deleted from the oldest on', async () => {
    const plan = await of('retention.events', (queryable) => deleteSentEvents(queryable, BEFORE, LIMIT));
    expect(indexes(plan)).toEqual(['msg_event_pkey', 'msg_event_sent']);
    expect(scanned(plan)).toEqual(['event_front']);
    expect(kinds(plan)).not.toContain('Sort');
    expect(touched(plan, 'msg_event')).toBeLessThanOrEqual(3 * LIMIT);
  });

  it('traces are found by the last day that they name, those without one by their time', async () => {
    const age = { day: '2026-01-01', receivedBefore: BEFORE };
    const plan = await of('retention.traces', (queryable) => deleteTraces(queryable, age, LIMIT));
    expect(indexes(plan)).toEqual(['schd_snap_log_age', 'schd_snap_log_pkey']);
    expect(scanned(plan)).toEqual([]);
    expect(touched(plan, 'schd_snap_log')).toBeLessThanOrEqual(4 * LIMIT);
  });

  it('requests and reports are few and read whole, the messages of reports by their IDs', async () => {
    const plan = await of('retention.requests', (queryable) => deleteRequests(queryable, BEFORE));
    expect(indexes(plan)).toEqual(['proc_state_pkey']);
    expect(new Set(scanned(plan))).toEqual(new Set(['error_report', 'req_track']));
    expect(touched(plan, 'proc_state')).toBeLessThanOrEqual(600);
  });

  it('the load of the line is its first entries', async () => {
    const plan = await of('upkeepJob.load', (queryable) => selectLineLoad(queryable, 100, NOW));
    expect(indexes(plan)).toEqual(['proc_state_unfinished']);
    expect(scanned(plan)).toEqual([]);
    expect(touched(plan, 'proc_state')).toBe(101);
  });

  it('jobs and traces are written without a look at what is there', async () => {
    const trace = { msgId: 1n, styp: 'DNLD', outcome: 'SUCCEEDED', records: 1, changed: 1 };
    const when = { scopeStart: '2026-03-13', scopeEnd: '2026-03-13', receivedAt: '2026-03-13T00:00:00Z' };
    const plans = await plansOf(db.client, async (queryable) => {
      await insertSnapshotTraces(queryable, [{ ...trace, ...when }]);
      await beginJob(queryable, 'texts', NOW);
      await progressJob(queryable, 'texts', 1);
      await failJob(queryable, 'texts', { now: NOW, nextAt: NOW, error: 'x' });
      await endJob(queryable, 'texts', NOW, NOW);
      await selectJobs(queryable);
    });
    expect(plans.size).toBe(6);
    for (const [name, plan] of plans)
      expect(scanned(plan).concat(indexes(plan)), name).not.toContain('proc_state');
    expect(scanned(plans.get('snapLog.insert') ?? [])).toEqual([]);
  });

  it('what a restore asks is found by keys, and by what is still open', async () => {
    const told = [
      { flid: 'f1', version: 2 },
      { flid: 'h1', version: 2 },
    ];
    const ids = [BigInt(MESSAGES) + 1n, BigInt(MESSAGES) + 2n];
    const plans = await plansOf(db.client, async (queryable) => {
      await forgottenVersions(queryable, told);
      await cameUnmarked(queryable, BigInt(MESSAGES));
      await selectUnfinishedAfter(queryable, BigInt(MESSAGES), 100);
      await markRestored(queryable, ids);
      await hasRestoredUnfinished(queryable);
      await selectUnsettled(queryable, 10);
      await settleFloors(queryable, ['f1'], NOW);
    });
    const used = Object.fromEntries([...plans].map(([name, plan]) => [name, indexes(plan)]));
    expect(used).toEqual({
      'restore.forgotten': ['flight_schd_hst_pkey', 'flight_schd_pkey', 'version_floor_pkey'],
      'restore.ownRows': ['proc_state_hst_pkey', 'proc_state_pkey'],
      'restore.unfinished': ['proc_state_unfinished'],
      'restore.markRestored': ['proc_state_unfinished'],
      'restore.restoredUnfinished': ['proc_state_unfinished'],
      'restore.unsettled': ['version_floor_unsettled'],
      'restore.settle': ['version_floor_unsettled'],
    });
    for (const [name, plan] of plans) expect(scanned(plan), name).toEqual([]);
  });
});
