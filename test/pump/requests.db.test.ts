/** What the pump does to requests and reports, in the transaction that ends the message. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Header } from '../../src/domain/message.ts';
import type { PumpContext } from '../../src/pump/context.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { MALFORMED, record, reference, say, scalar, schedule, unreadable } from '../kit/json-dialect.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump, START } from '../kit/pump.ts';

const DUTIES = { sender: 'MSGX', clockSkewMs: 30_000, errorReports: true, onDeadSchedule: false };

/** A RESP of one flight on 14 March. */
const response = (sequence: number, header: Partial<Header> = {}, declared = '1') =>
  say({
    header: { sequence: String(sequence), type: 'SCHD', subtype: 'RESP', ...header },
    body: { kind: 'schedule', subtype: 'RESP', declared, records: [record('700001')] },
  });

describe.skipIf(postgresMissing !== null)('requests in the pump', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(() => emptyTables(db));

  const rows = async <T extends object>(sql: string) => (await db.client.query<T>(sql)).rows;
  const run = async (texts: readonly string[], overrides: Partial<PumpContext> = {}) => {
    await intake(db, texts);
    await createPump(db, { requests: DUTIES, ...overrides }).drain();
    return (
      await rows<{ told: string }>(
        `select concat_ws(' ', state, error_class, coalesce(reason, last_error)) as told from proc_state order by msg_id`,
      )
    ).map(({ told }) => told);
  };
  /** An open request, by default SENT a second before now. */
  const request = async (columns: Readonly<Record<string, unknown>> = {}) => {
    const row = {
      ...{ rtype: 'SCHD', operation_day: '2026-03-14', sender: 'MSGX', state: 'SENT', seqn: 42 },
      ...{ requested_at: new Date(START), requested_by: 'test', remembered_id: 7, out_id: 8 },
      ...{ sent_at: new Date(START - 1_000), expires_at: new Date(START + 60_000) },
      ...columns,
    };
    const names = Object.keys(row);
    await db.client.query(
      `insert into req_track (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
      Object.values(row),
    );
  };
  const requests = async () =>
    (
      await rows<{ told: string }>(
        `select concat_ws(' ', rtype, operation_day, state, matched, 'by', done_by, expired_because) as told
         from req_track order by req_id`,
      )
    ).map(({ told }) => told);

  it('are done in the transaction of the answer; a downgraded match is audited as our own deed', async () => {
    await request();
    expect(await run([response(1), response(2)])).toEqual(['SUCCEEDED', 'SKIPPED no-open-request']);
    expect(await requests()).toEqual(['SCHD 2026-03-14 DONE downgraded by 1']);
    expect(await rows('select who, action, after from op_audit')).toEqual([
      {
        ...{ who: 'msgx', action: 'match-response' },
        after: { state: 'DONE', matched: 'downgraded', msgId: '1' },
      },
    ]);
  });

  it('matched by the echo leave no audit', async () => {
    await request();
    await run([response(1, { echo: '42' })]);
    expect(await requests()).toEqual(['SCHD 2026-03-14 DONE exact by 1']);
    expect(await rows('select 1 from op_audit')).toEqual([]);
  });

  it('stay open where the answer is refused, where it fails, and where its transaction is rolled back', async () => {
    await request();
    const unstorable = say({
      header: { sequence: '2', type: 'SCHD', subtype: 'RESP' },
      body: {
        ...{ kind: 'schedule', subtype: 'RESP', declared: '1' },
        records: [record('700001', scalar('remark', 'nul \u0000'))],
      },
    });
    expect(await run([response(1, {}, '9'), unstorable])).toEqual([
      'DEAD PROTOCOL recs-mismatch:9/1',
      expect.stringContaining('DEAD EXHAUSTED'),
    ]);
    expect(await requests()).toEqual(['SCHD 2026-03-14 SENT by']);
  });

  it('that were being written are done by an answer, and not when nothing was begun', async () => {
    await request({ state: 'PENDING', out_id: null, expires_at: null, look_at: new Date(START) });
    await request({
      ...{ rtype: 'ABDG', operation_day: null, state: 'PENDING', seqn: null, remembered_id: null },
      ...{ out_id: null, sent_at: null, expires_at: null },
    });
    expect(await run([response(1), reference(2, 'RESP', ['A'])])).toEqual([
      'SUCCEEDED',
      'SKIPPED no-open-request',
    ]);
    expect(await requests()).toEqual(['SCHD 2026-03-14 DONE downgraded by 1', 'ABDG PENDING by']);
    expect(await rows('select look_at is null as settled from req_track where done_by = 1')).toEqual([
      { settled: false },
    ]);
  });

  it('that are expired let nothing pass', async () => {
    await request({ state: 'EXPIRED', expired_at: new Date(START), expired_because: 'timeout' });
    expect(await run([response(1, { echo: '42' }), response(2)])).toEqual([
      'SKIPPED no-open-request',
      'SKIPPED no-open-request',
    ]);
    expect(await rows('select 1 from flight_schd')).toEqual([]);
  });

  it('are made again for the days of a dead schedule, once, where configured and none is open', async () => {
    const onDead = { requests: { ...DUTIES, onDeadSchedule: true } };
    const dead = (n: number) => schedule(n, [record('700001')], 'DNLD', '9');
    await run([dead(1)]);
    expect(await requests()).toEqual([]);
    await run([dead(2), dead(3)], onDead);
    expect(await requests()).toEqual(['SCHD 2026-03-14 PENDING by']);
    // An answer that dies does not ask again: its request still waits.
    await db.client.query('delete from req_track');
    await request();
    await run([response(4, {}, '9')], onDead);
    expect(await requests()).toEqual(['SCHD 2026-03-14 SENT by']);
  });

  it('a report is queued for each malformed or refused message, never for a report or what was exhausted', async () => {
    const eror = say({
      header: { type: 'EROR', subtype: 'SCHD', sequence: '9' },
    } as never);
    await run([
      MALFORMED,
      schedule(3, [record('700001')], 'DNLD', 'what is secret'),
      eror,
      unreadable(),
      schedule(4, []),
    ]);
    expect(
      await rows('select msg_id, state, sequence, type, styp, error_class, description from error_report'),
    ).toEqual([
      {
        ...{ msg_id: '1', state: 'PENDING', sequence: '', type: '', styp: '', error_class: 'MALFORMED' },
        description: 'not-well-formed at 1:2',
      },
      {
        ...{ msg_id: '2', state: 'PENDING', sequence: '3', type: 'SCHD', styp: 'DNLD' },
        ...{ error_class: 'PROTOCOL', description: 'recs-mismatch:no-number/1' },
      },
    ]);
    await db.client.query(`update proc_state set state = 'PENDING', terminal_at = null, terminal_seq = null
      where msg_id = 1`);
    await createPump(db, { requests: DUTIES }).drain();
    expect(await rows('select 1 from error_report')).toHaveLength(2);
  });

  it('no report is queued where reports are off, and none in shadow mode', async () => {
    await run([MALFORMED], { requests: { ...DUTIES, errorReports: false } });
    await intake(db, [MALFORMED], { shadow: true });
    await createPump(db).drain();
    expect(await rows('select 1 from error_report')).toEqual([]);
  });
});
