import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deletion,
  ignored,
  operation,
  record,
  reference,
  say,
  scalar,
  schedule,
  SODT,
} from '../kit/json-dialect.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump, metricValue, START } from '../kit/pump.ts';
import { readOutcome } from '../kit/rows.ts';
import { interceptTransactions } from '../kit/transactions.ts';

const terminal = (sequence: number, flid: string, value: string | null) =>
  operation(sequence, flid, [scalar('terminal', value)]);

describe.skipIf(postgresMissing !== null)('outcomes and what they write', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  const reasons = async () => {
    const { messages } = await readOutcome(db);
    return messages.map((row) =>
      [row['state'], row['error_class'], row['reason'] ?? row['last_error']]
        .filter((part) => typeof part === 'string')
        .join(' '),
    );
  };

  it('writes state, event, latest state, lineage and the owed mark of a success in one commit', async () => {
    await intake(db, [schedule(7, [record('700001', scalar('terminal', 'T1'))])]);
    await createPump(db).drain();
    const { messages, flights, events, latest, lineage, identities, traces } = await readOutcome(db);
    expect(messages).toMatchObject([
      {
        type: 'SCHD',
        styp: 'DNLD',
        identity_key: 'AODB|SCHD|DNLD|7|2026-03-14',
        state: 'SUCCEEDED',
        attempts: 0,
        error_class: null,
        last_error: null,
        reason: null,
        detail: null,
        profile_hash: 'json-1',
        terminal_at: new Date(START),
        owed: true,
        next_attempt_at: null,
      },
    ]);
    expect(identities).toMatchObject([{ identity_key: 'AODB|SCHD|DNLD|7|2026-03-14', msg_id: '1' }]);
    expect(flights).toMatchObject([
      { flid: '700001', version: 1, deleted: false, last_msg_id: '1', updated_at: new Date(START) },
    ]);
    expect(flights[0]).toMatchObject({ state: { terminal: 'T1', flightNumber: 'YY01' } });
    expect(events).toMatchObject([
      { partition_key: '700001', event_type: 'UPSERT', state_version: 1, state: 'PENDING', msg_id: '1' },
    ]);
    expect(events[0]).toMatchObject({
      body: {
        eventType: 'UPSERT',
        flid: '700001',
        operationDay: '2026-03-14',
        stateVersion: 1,
        updatedAt: '2026-03-14T06:00:00+08:00',
        cause: {
          msgId: '1',
          identity: 'AODB|SCHD|DNLD|7|2026-03-14',
          type: 'SCHD',
          styp: 'DNLD',
          dttm: '2026-03-14T06:00:00+08:00',
        },
        changed: ['flightNumber', 'movement', 'scheduledTime', 'terminal'],
      },
    });
    expect(latest).toMatchObject([{ partition_key: '700001', event_type: 'UPSERT', state_version: 1 }]);
    expect(lineage).toMatchObject([{ flid: '700001', msg_id: '1', state_version: 1, superseded: [] }]);
    expect(traces).toMatchObject([
      { msg_id: '1', styp: 'DNLD', outcome: 'SUCCEEDED', records: 1, changed: 1 },
    ]);
  });

  it('applies the same flight many times in one batch, an event each, one latest state', async () => {
    await intake(db, [
      schedule(1, [record('700001')]),
      ...Array.from({ length: 100 }, (_, index) => terminal(index + 2, '700001', `T${String(index)}`)),
    ]);
    const pump = createPump(db);
    await pump.tick();
    expect(pump.progress()).toBe(101);
    const { flights, events, latest } = await readOutcome(db);
    expect(flights).toMatchObject([{ version: 101, state: { terminal: 'T99' }, last_msg_id: '101' }]);
    expect(events.map(({ state_version: version }) => version)).toEqual(
      Array.from({ length: 101 }, (_, index) => index + 1),
    );
    expect(latest).toMatchObject([{ state_version: 101, msg_id: '101' }]);
  });

  it('deletes, refuses what comes after, and reinstates', async () => {
    await intake(db, [
      schedule(1, [record('700001', scalar('terminal', 'T1'))]),
      deletion(2, '700001'),
      terminal(3, '700001', 'T2'),
      deletion(4, '700001'),
      schedule(5, [record('700001')], 'ADFT'),
    ]);
    await createPump(db).drain();
    expect(await reasons()).toEqual([
      'SUCCEEDED',
      'SUCCEEDED',
      'SKIPPED no-match:700001',
      'SKIPPED no-match:700001',
      'SUCCEEDED',
    ]);
    const { events, latest, flights } = await readOutcome(db);
    expect(events.map(({ event_type: type }) => type)).toEqual(['UPSERT', 'TOMBSTONE', 'UPSERT']);
    expect(events[1]).toMatchObject({ body: { flight: null, changed: ['deleted'] } });
    expect(latest).toMatchObject([{ event_type: 'UPSERT', state_version: 3 }]);
    expect(flights).toMatchObject([{ deleted: false, state: { terminal: 'T1' } }]);
  });

  it('makes no event of what changes nothing, and names what a late message lost', async () => {
    await intake(db, [schedule(1, [record('700001', scalar('terminal', 'T1'))])], { from: 10n });
    await createPump(db).drain();
    await intake(db, [terminal(2, '700001', 'T1')]);
    await intake(db, [terminal(3, '700001', 'T9')], { from: 3n, late: true });
    await createPump(db).drain();
    const { events, lineage, messages } = await readOutcome(db);
    expect(messages.map(({ msg_id: id, reason }) => [id, reason])).toEqual([
      ['3', 'superseded:terminal'],
      ['10', null],
      ['11', 'unchanged'],
    ]);
    expect(events).toHaveLength(1);
    expect(lineage).toMatchObject([
      { msg_id: '3', state_version: null, changed: [], superseded: ['terminal'] },
      { msg_id: '10', state_version: 1 },
      { msg_id: '11', state_version: null, changed: [], superseded: [] },
    ]);
  });

  it('refuses a package as a whole: PROTOCOL leaves nothing behind but the row', async () => {
    await intake(db, [
      schedule(1, [record('700001'), record('700002')], 'DNLD', '3'),
      schedule(2, [record('700001'), record('700001')]),
      schedule(3, [record('700001')], 'RESP'),
      reference(4, 'DNLD', []),
      ignored(5),
    ]);
    await createPump(db).drain();
    expect(await reasons()).toEqual([
      'DEAD PROTOCOL recs-mismatch:3/2',
      'DEAD PROTOCOL duplicate-flid:700001',
      'SKIPPED no-open-request',
      'DEAD PROTOCOL empty-reference',
      'SKIPPED ignored:LDM/NONE',
    ]);
    const { flights, events, lineage, reference: rows, messages } = await readOutcome(db);
    expect([flights, events, lineage, rows]).toEqual([[], [], [], []]);
    expect(messages.every(({ owed }) => owed)).toBe(true);
    expect(messages[0]).toMatchObject({ detail: { faults: ['recs-mismatch:3/2'] } });
  });

  it('keeps reference rows with stamps under the floor of their type', async () => {
    await intake(db, [
      reference(1, 'DNLD', ['A', 'B']),
      reference(2, 'ADD', ['C'], 'new'),
      reference(3, 'DEL', ['A']),
      reference(4, 'DNLD', ['B', 'D']),
    ]);
    await createPump(db).drain();
    const { reference: rows, floors } = await readOutcome(db);
    expect(rows).toMatchObject([
      { rtype: 'ABDG', rkey: 'A', active: false, stamp: '3', body_stamp: '1' },
      // Confirmed by the load, whose floor is its stamp: nothing of it changes, so it is not written.
      { rkey: 'B', active: true, stamp: '1', body_stamp: '1' },
      { rkey: 'C', active: false, stamp: '2', body: { CODE: 'C', TEXT: 'new' } },
      { rkey: 'D', active: true, stamp: '4' },
    ]);
    expect(floors).toMatchObject([{ rtype: 'ABDG', floor: '4' }]);
  });

  it('tells duplicates within a batch and across, with other content, of dead ones, after a reset', async () => {
    const newer = { dttm: '2026-03-14T07:00:00+08:00' };
    await intake(db, [
      schedule(1, [record('700001')]),
      terminal(2, '700001', 'T1'),
      terminal(2, '700001', 'T1'),
      operation(2, '700001', [scalar('terminal', 'T2')], newer),
      schedule(3, [record('700001')], 'DNLD', '9'),
      schedule(3, [record('700001')], 'DNLD', '9'),
    ]);
    const pump = createPump(db);
    await pump.tick();
    await intake(db, [
      terminal(2, '700001', 'T3'),
      operation(2, '700001', [scalar('terminal', 'T4')], newer),
    ]);
    await pump.drain();
    expect((await reasons()).map((text) => text.replace(/^DEAD PROTOCOL.*/, 'dead'))).toEqual([
      'SUCCEEDED',
      'SUCCEEDED',
      'SKIPPED duplicate-of:2',
      'SKIPPED duplicate-of:2 content-differs',
      'dead',
      'SKIPPED duplicate-of:5',
      'SKIPPED duplicate-of:2 content-differs',
      'SKIPPED duplicate-of:2 content-differs',
    ]);
    expect(await metricValue(pump.metrics.duplicateMismatch)).toBe(3);
    expect(await metricValue(pump.metrics.seqnReset)).toBe(2);
    expect(await metricValue(pump.metrics.duplicateOfDead)).toBe(1);
    expect(await metricValue(pump.metrics.messages, { type: 'FLOP', outcome: 'SKIPPED' })).toBe(4);
  });

  it('goes on with an identity bound before a crash, also under a profile that now reads another', async () => {
    await intake(db, [schedule(1, [record('700001')]), terminal(2, '700001', 'T1')]);
    await db.client.query(
      `insert into message_identity (identity_key, msg_id, content_hash)
       values ('AODB|SCHD|DNLD|1|2026-03-14', 1, sha256('a')), ('AODB|FLOP|OLD|2', 2, sha256('b'))`,
    );
    await createPump(db).drain();
    const { messages, events } = await readOutcome(db);
    expect(messages).toMatchObject([
      { state: 'SUCCEEDED', identity_key: 'AODB|SCHD|DNLD|1|2026-03-14' },
      { state: 'SUCCEEDED', identity_key: 'AODB|FLOP|OLD|2' },
    ]);
    expect(events[1]).toMatchObject({ body: { cause: { identity: 'AODB|FLOP|OLD|2' } } });
  });

  it('leaves the day out of the identity where it is configured so', async () => {
    await intake(db, [ignored(1)]);
    await createPump(db, { includeDayBoundary: false }).drain();
    expect((await readOutcome(db)).identities).toMatchObject([{ identity_key: 'AODB|LDM|NONE|1' }]);
  });

  it('continues an archived flight that a schedule names again, and no other message', async () => {
    await intake(db, [schedule(1, [record('700001', scalar('terminal', 'T1'))])]);
    await createPump(db).drain();
    await db.client.query(
      `with gone as (delete from flight_schd returning *)
       insert into flight_schd_hst (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at, archived_at)
       select flid, 4, operation_day, deleted, state, stamps, last_msg_id, updated_at, now() from gone`,
    );
    await intake(db, [
      terminal(2, '700001', 'T2'),
      schedule(3, [record('700001', scalar('scheduledTime', '2026-03-15T08:05:00+08:00'))]),
      schedule(4, [record('700001')]),
    ]);
    await createPump(db).drain();
    expect(await reasons()).toEqual([
      'SUCCEEDED',
      'SKIPPED no-match:700001',
      'DEAD PROTOCOL operation-day-conflict:700001',
      'SUCCEEDED',
    ]);
    const { flights, events } = await readOutcome(db);
    expect(flights).toMatchObject([{ version: 5, deleted: false, state: { terminal: 'T1' } }]);
    expect(events.map(({ state_version: version }) => version)).toEqual([1, 5]);
    const { rows } = await db.client.query('select 1 from flight_schd_hst');
    expect(rows).toHaveLength(0);
  });

  it('moves the latest state only forward and starts its attempts anew', async () => {
    await intake(db, [schedule(1, [record('700001')])]);
    await createPump(db).drain();
    await db.client.query(
      `update msg_event set state = 'DEAD', attempts = 10, last_error = 'refused' where target = 'KAFKA:schd'`,
    );
    await intake(db, [terminal(2, '700001', 'T1')]);
    await createPump(db).drain();
    expect((await readOutcome(db)).latest).toMatchObject([
      { state_version: 2, state: 'PENDING', attempts: 0 },
    ]);
  });

  it('masks VIP persons in events and keeps them in the state', async () => {
    const vips = { kind: 'list', field: 'vips', entries: [{ code: 'WANG', entourage: 2 }] } as const;
    await intake(db, [schedule(1, [record('700001', vips)])]);
    await createPump(db).drain();
    const { events, flights } = await readOutcome(db);
    expect(events[0]).toMatchObject({ body: { flight: { vips: [{ code: null, entourage: 2 }] } } });
    expect(flights[0]).toMatchObject({ state: { vips: [{ code: 'WANG', entourage: 2 }] } });
  });

  it('counts stands that are not there, and unknown elements, which it names', async () => {
    await intake(db, [
      schedule(1, [record('700001')]),
      operation(2, '700001', [{ kind: 'push', stand: '401', value: { time: SODT, indicator: null } }]),
      say({
        header: { sequence: '3' },
        body: { kind: 'operation', subtype: 'TRML', records: [] },
        unknownElements: ['FLOP/ABCD', 'FLOP/EFGH'],
        unmatchedStands: 2,
      }),
    ]);
    const pump = createPump(db);
    await pump.drain();
    expect(await metricValue(pump.metrics.unmatchedStand)).toBe(3);
    expect(await metricValue(pump.metrics.unknownElements)).toBe(2);
    expect(pump.log.filter(({ fields }) => 'elements' in fields)).toMatchObject([
      { fields: { elements: ['FLOP/ABCD', 'FLOP/EFGH'] } },
    ]);
  });

  it('changes nothing where an operator ends a message meanwhile', async () => {
    const ids = await intake(db, [schedule(1, [record('700001')]), ignored(2)]);
    let done = false;
    const pump = createPump(db);
    const restore = interceptTransactions(
      db.database,
      (tx) => tx,
      (query) =>
        async (...args) => {
          // Between the reading of the heads and their end.
          if (!done) {
            done = true;
            await db.client.query(
              `update proc_state set state = 'SKIPPED', reason = 'operator:test', terminal_at = now(),
                 terminal_seq = nextval('terminal_seq') where msg_id = $1`,
              [String(ids[0])],
            );
          }
          return query(...args);
        },
    );
    try {
      await pump.tick();
      expect(await reasons()).toEqual(['SKIPPED operator:test', 'PENDING']);
      expect((await readOutcome(db)).flights).toEqual([]);
      await pump.tick();
      expect(await reasons()).toEqual(['SKIPPED operator:test', 'SKIPPED ignored:LDM/NONE']);
    } finally {
      restore();
    }
  });
});
