import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  breaking,
  MALFORMED,
  ignored,
  operation,
  record,
  scalar,
  schedule,
  unreadable,
  unsupported,
} from '../kit/json-dialect.ts';
import { emptyTables, intake } from '../kit/intake.ts';
import { createTestDatabase, postgresMissing, type TestDatabase } from '../kit/postgres.ts';
import { createPump, metricValue, START, TIERS } from '../kit/pump.ts';

/** Breaks the business transaction of its own message: PostgreSQL has no NUL in jsonb. */
const poison = (sequence: number, flid = '700001') =>
  operation(sequence, flid, [scalar('remark', 'a\u0000b')]);

describe.skipIf(postgresMissing !== null)('tick rules and retries', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  beforeEach(async () => emptyTables(db));

  const row = async (id: bigint | number) => {
    const { rows } = await db.client.query<Record<string, unknown>>(
      `select state, attempts, error_class, last_error, reason, next_attempt_at, terminal_at, terminal_seq,
         backfill_next_at, type, styp, identity_key, profile_hash, detail, shadow from proc_state where msg_id = $1`,
      [id.toString()],
    );
    return rows[0];
  };
  const states = async () => {
    const { rows } = await db.client.query<{ state: string }>('select state from proc_state order by msg_id');
    return rows.map(({ state }) => state);
  };

  it('rests on an empty queue', async () => {
    expect(await createPump(db).tick()).toEqual({ next: 'wait', until: null });
  });

  it('leaves a head above W alone and warns once for each W', async () => {
    const pump = createPump(db);
    await intake(db, [ignored(1)], { from: 5n, moveWatermark: false });
    expect(await pump.tick()).toEqual({ next: 'wait', until: null });
    await pump.tick();
    expect(pump.log.filter(({ message }) => message.includes('above the watermark'))).toHaveLength(1);
    await db.client.query('update inbox_cursor set watermark = 4');
    await pump.tick();
    expect(pump.log.filter(({ message }) => message.includes('above the watermark'))).toHaveLength(2);
    expect(await states()).toEqual(['PENDING']);
    await db.client.query('update inbox_cursor set watermark = 5');
    await pump.drain();
    expect(await states()).toEqual(['SKIPPED']);
  });

  it('takes of a batch only what is at or below W', async () => {
    const pump = createPump(db);
    await intake(db, [ignored(1), ignored(2)]);
    await intake(db, [ignored(3)], { from: 9n, moveWatermark: false });
    await pump.drain();
    expect(await states()).toEqual(['SKIPPED', 'SKIPPED', 'PENDING']);
  });

  it('retries a CODEC_ERROR by the capability tiers, then ends it EXHAUSTED with its last error', async () => {
    const pump = createPump(db, {
      retry: { ...TIERS, capabilityBackoffMs: [1_000, 2_000, 3_000, 4_000] },
    });
    const [bad, good] = await intake(db, [
      unreadable('unknown-format:ESTM', { type: 'FLOP', subtype: 'ESTM' }),
      ignored(2),
    ]);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await pump.tick()).toEqual({ next: 'now' });
      expect(await row(bad!)).toMatchObject({
        state: 'FAILED',
        attempts: attempt,
        error_class: 'CODEC_ERROR',
        last_error: 'unknown-format:ESTM',
        reason: null,
        type: 'FLOP',
        styp: 'ESTM',
        identity_key: null,
        profile_hash: 'json-1',
        terminal_at: null,
        backfill_next_at: null,
      });
      expect(await states()).toEqual(['FAILED', 'PENDING']);
      if (attempt === 5) break;
      const round = await pump.tick();
      if (round.next !== 'wait' || round.until === null) throw new Error('it should wait');
      waits.push(round.until - pump.clock.now());
      pump.clock.advance(round.until - pump.clock.now() - 1);
      expect(await pump.tick()).toMatchObject({ next: 'wait' });
      pump.clock.advance(1);
    }
    expect(waits).toEqual([1_000, 2_000, 3_000, 4_000]);
    expect(await pump.tick()).toEqual({ next: 'now' });
    expect(await row(bad!)).toMatchObject({
      state: 'DEAD',
      attempts: 5,
      error_class: 'EXHAUSTED',
      last_error: 'unknown-format:ESTM',
      next_attempt_at: null,
      detail: { faults: [{ reason: 'unknown-format:ESTM', line: 1, column: 2 }] },
    });
    expect((await row(bad!))?.['backfill_next_at']).toEqual(new Date(pump.clock.now()));
    await pump.drain();
    expect(await row(good!)).toMatchObject({ state: 'SKIPPED' });
    expect(await metricValue(pump.metrics.messages, { outcome: 'DEAD', type: 'FLOP' })).toBe(1);
  });

  it('counts a reader that throws as CODEC_ERROR of its message', async () => {
    const pump = createPump(db);
    const [bad] = await intake(db, [breaking()]);
    await pump.tick();
    expect(await row(bad!)).toMatchObject({
      state: 'FAILED',
      error_class: 'CODEC_ERROR',
      last_error: 'codec:reader',
    });
  });

  it('binds the identity of an unsupported message, so that its resend is a duplicate', async () => {
    const pump = createPump(db);
    const [first, second] = await intake(db, [unsupported(1), unsupported(1)]);
    await pump.tick();
    expect(await row(first!)).toMatchObject({
      state: 'FAILED',
      error_class: 'UNSUPPORTED',
      last_error: 'unsupported:SCHS/DNLD',
      identity_key: 'AODB|SCHS|DNLD|1|2026-03-14',
    });
    await pump.drain();
    expect(await row(first!)).toMatchObject({ state: 'DEAD', error_class: 'EXHAUSTED', attempts: 5 });
    expect(await row(second!)).toMatchObject({ state: 'SKIPPED', reason: `duplicate-of:${String(first)}` });
    expect(await metricValue(pump.metrics.duplicateOfDead)).toBe(1);
    expect(pump.clock.now() - START).toBe(4_000);
  });

  it('charges what breaks a batch to its own message and lets the others of the batch end', async () => {
    const pump = createPump(db);
    const ids = await intake(db, [
      schedule(1, [record('700001')]),
      operation(2, '700001', [scalar('terminal', 'T1')]),
      poison(3),
      operation(4, '700001', [scalar('terminal', 'T2')]),
    ]);
    await pump.tick();
    expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'PENDING']);
    expect(await row(ids[2]!)).toMatchObject({ attempts: 1, error_class: 'INFRA', terminal_at: null });
    await pump.drain();
    expect(await states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'DEAD', 'SUCCEEDED']);
    expect(await row(ids[2]!)).toMatchObject({ attempts: 5, error_class: 'EXHAUSTED' });
    // No longer than its tiers: 1 s, 5 s, 30 s, 2 min.
    expect(pump.clock.now() - START).toBe(156_000);
    expect(pump.progress()).toBe(4);
  });

  it('persists the backoff before the next try: another pump on the same rows waits as well', async () => {
    await intake(db, [schedule(1, [record('700001')]), poison(2)]);
    await createPump(db).tick();
    expect(await states()).toEqual(['SUCCEEDED', 'FAILED']);
    const restarted = createPump(db);
    expect(await restarted.tick()).toEqual({ next: 'wait', until: START + 1_000 });
  });

  it('ends a message without text raw-missing after a second look, and keeps a text found then', async () => {
    const asked: bigint[] = [];
    const ids = await intake(db, [ignored(1), null, null, ignored(4)]);
    const pump = createPump(db, {
      mailbox: {
        texts: async (wanted) => {
          asked.push(...wanted);
          return new Map(wanted.includes(ids[2]!) ? [[ids[2]!, ignored(3)]] : []);
        },
      },
    });
    await pump.drain();
    expect(asked).toEqual([ids[1], ids[2]]);
    expect(await row(ids[1]!)).toMatchObject({
      state: 'DEAD',
      error_class: 'MALFORMED',
      last_error: 'raw-missing',
      reason: null,
    });
    expect(await row(ids[2]!)).toMatchObject({ state: 'SKIPPED', reason: 'ignored:LDM/NONE' });
    const { rows } = await db.client.query('select 1 from raw_message where msg_id = $1', [String(ids[2])]);
    expect(rows).toHaveLength(1);
  });

  it('ends texts that are too large or malformed at once, without an identity', async () => {
    const pump = createPump(db);
    const ids = await intake(db, [9_000_000, MALFORMED]);
    // A large row ends its batch; the third tick finds nothing.
    expect(await pump.drain()).toBe(3);
    expect(await row(ids[0]!)).toMatchObject({
      state: 'DEAD',
      error_class: 'MALFORMED',
      last_error: 'too-large',
    });
    expect(await row(ids[1]!)).toMatchObject({
      state: 'DEAD',
      error_class: 'MALFORMED',
      last_error: 'not-well-formed',
      attempts: 0,
      identity_key: null,
    });
    const { rows } = await db.client.query('select 1 from message_identity');
    expect(rows).toHaveLength(0);
  });

  it('owes no mark in shadow mode, nor for a replayed row that is marked already', async () => {
    await intake(db, [ignored(1)], { shadow: true });
    await createPump(db).drain();
    expect(await row(1)).toMatchObject({ state: 'SKIPPED', shadow: true, backfill_next_at: null });
    await intake(db, [ignored(2)]);
    await db.client.query('update proc_state set backfill_at = now(), replayed = true where msg_id = 2');
    await createPump(db).drain();
    expect(await row(2)).toMatchObject({ state: 'SKIPPED', shadow: false, backfill_next_at: null });
  });

  it('bounds a batch by rows and by bytes, one message at least', async () => {
    /** How many messages each transaction has ended, in order. */
    const batches = async (options: Parameters<typeof createPump>[1]) => {
      await emptyTables(db);
      await intake(db, [ignored(1), ignored(2), ignored(3), ignored(4), ignored(5)]);
      await createPump(db, options).drain();
      const { rows } = await db.client.query<{ size: number }>(
        'select count(*)::integer as size from proc_state group by xmin::text order by min(terminal_seq)',
      );
      return rows.map(({ size }) => size);
    };
    expect(await batches({ commitBatch: 2 })).toEqual([2, 2, 1]);
    expect(await batches({ batchBytes: ignored(3).length * 2 })).toEqual([2, 2, 1]);
    expect(await batches({ batchBytes: 1 })).toEqual([1, 1, 1, 1, 1]);
  });

  it('goes on along the line only behind a batch that ended; a failure is charged to its own message', async () => {
    const ids = await intake(
      db,
      Array.from({ length: 7 }, (_, index) => ignored(index + 1)),
    );
    const refusedId = ids[4] ?? 0n;
    const ended = Array<string>(4).fill('SKIPPED');
    await db.client.query(
      `create function refuse_one() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    );
    await db.client.query(
      `create trigger refuse_one before update on proc_state for each row
       when (new.msg_id = ${refusedId.toString()} and new.terminal_at is not null) execute function refuse_one()`,
    );
    try {
      const pump = createPump(db, { commitBatch: 2 });
      // Two batches end; of the third, begun behind the second, nothing does, and nobody is charged for it yet.
      await pump.tick();
      expect(await states()).toEqual([...ended, 'PENDING', 'PENDING', 'PENDING']);
      expect(await row(refusedId)).toMatchObject({ attempts: 0 });
      await pump.tick();
      expect(await states()).toEqual([...ended, 'FAILED', 'PENDING', 'PENDING']);
      expect(await row(refusedId)).toMatchObject({ attempts: 1, error_class: 'INFRA' });
    } finally {
      await db.client.query('drop function refuse_one() cascade');
    }
  });

  it('repeats a batch after a conflict without going on behind what was begun in vain', async () => {
    const ids = await intake(
      db,
      Array.from({ length: 16 }, (_, index) => ignored(index + 1)),
    );
    // The first end of the first message meets a conflict: by then the next batches are off the line.
    await db.client.query('create sequence conflicts');
    await db.client.query(
      `create function conflict_once() returns trigger language plpgsql as $$ begin
         if nextval('conflicts') = 1 then raise exception 'conflict' using errcode = '40001'; end if;
         return new;
       end $$`,
    );
    await db.client.query(
      `create trigger conflict_once before update on proc_state for each row
       when (new.msg_id = ${String(ids[0])} and new.terminal_at is not null) execute function conflict_once()`,
    );
    try {
      await createPump(db, { commitBatch: 2 }).drain();
      const { rows } = await db.client.query<{ msg_id: bigint | string; attempts: number }>(
        'select msg_id, attempts from proc_state order by terminal_seq',
      );
      expect(rows.map(({ msg_id }) => String(msg_id))).toEqual(ids.map(String));
      expect(rows.every(({ attempts }) => attempts === 0)).toBe(true);
      expect((await db.client.query('select last_value from conflicts')).rows).toEqual([{ last_value: '2' }]);
    } finally {
      await db.client.query('drop function conflict_once() cascade');
      await db.client.query('drop sequence conflicts');
    }
  });
});
