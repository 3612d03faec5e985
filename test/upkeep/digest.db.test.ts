import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { businessDigest } from '../../src/upkeep/digest.ts';
import {
  createPipeline,
  freeze,
  sendExampleDay,
  type FrozenPipeline,
  type TestPipeline,
} from '../kit/pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';

describe.skipIf(postgresMissing !== null)('digest of the business state', () => {
  let day: FrozenPipeline;
  let before: string;
  let pipeline: TestPipeline;

  beforeAll(async () => {
    const built = await createPipeline();
    await sendExampleDay(built);
    await built.drain();
    before = (await businessDigest(built.db.database)).digest;
    day = await freeze(built);
  });
  afterAll(() => day.drop());
  beforeEach(async () => {
    pipeline = await day.thaw();
  });
  afterEach(() => pipeline.close());

  const digest = async () => (await businessDigest(pipeline.db.database)).digest;

  it('counts what it covers', async () => {
    const { digest: hash, ...counts } = await businessDigest(pipeline.db.database);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(counts.messages).toBe(37);
    expect(counts.flights).toBeGreaterThan(3);
    expect(counts.referenceRows).toBeGreaterThan(0);
  });

  it('is the same for the same messages in another pace: other times, events, batches', async () => {
    const other = await createPipeline({ commitBatch: 1 });
    try {
      other.clock.advance(86_400_000);
      await other.query(
        `select nextval(pg_get_serial_sequence('msg_event', 'event_id')) from generate_series(1, 50)`,
      );
      await sendExampleDay(other);
      for (let turn = 0; turn < 10; turn++) {
        await other.round();
        other.clock.advance(777);
      }
      await other.drain();
      expect((await businessDigest(other.db.database)).digest).toBe(before);
    } finally {
      await other.close();
    }
  });

  it.each([
    ['row order', `create table copied as select * from flight_schd order by flid desc`],
    ['times of flights', `update flight_schd set updated_at = now()`],
    ['stamps and last message', `update flight_schd set stamps = '{}', last_msg_id = 1`],
    [
      'times of messages',
      `update proc_state set enqueued_at = now(), terminal_at = now(), backfill_at = now()`,
    ],
    ['attempts', `update proc_state set attempts = attempts + 1, backfill_attempts = 7`],
    ['terminal order', `update proc_state set terminal_seq = terminal_seq + 1000`],
    ['events', `delete from msg_event`],
    ['the stamp of a reference row', `update ref_master set stamp = stamp + 1, updated_at = now()`],
    [
      'keys in another order or absent',
      `update flight_schd set state = state - 'remark' where state ->> 'remark' is null`,
    ],
    [
      'archived messages',
      `with moved as (delete from proc_state where msg_id < 20 returning *) insert into proc_state_hst select *, now() from moved`,
    ],
    [
      'archived flights',
      `with moved as (delete from flight_schd returning flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
       insert into flight_schd_hst select *, now() from moved`,
    ],
  ])('does not depend on %s', async (_what, sql) => {
    await pipeline.query(sql);
    expect(await digest()).toBe(before);
  });

  it.each([
    ['a version', `update flight_schd set version = version + 1 where flid = '700001'`],
    ['a scalar', `update flight_schd set state = jsonb_set(state, '{remark}', '"x"') where flid = '700001'`],
    ['an entry', `update flight_schd set state = jsonb_set(state, '{gates}', '[]') where flid = '700001'`],
    ['a deletion', `update flight_schd set deleted = not deleted where flid = '700001'`],
    ['a missing flight', `delete from flight_schd where flid = '700001'`],
    ['an outcome', `update proc_state set state = 'SKIPPED' where msg_id = 2`],
    ['a reason', `update proc_state set reason = 'unchanged' where msg_id = 2`],
    ['an error', `update proc_state set last_error = 'other' where state = 'DEAD' and msg_id = 6`],
    ['an error class', `update proc_state set error_class = 'PROTOCOL' where msg_id = 6`],
    ['a missing message', `delete from proc_state where msg_id = 5`],
    [
      'a reference body',
      `update ref_master set body = '{"a": 1}' where ctid = (select min(ctid) from ref_master)`,
    ],
    [
      'a reference flag',
      `update ref_master set active = not active where ctid = (select min(ctid) from ref_master)`,
    ],
    ['a missing reference row', `delete from ref_master where ctid = (select min(ctid) from ref_master)`],
  ])('changes with %s', async (_what, sql) => {
    await pipeline.query(sql);
    expect(await digest()).not.toBe(before);
  });
});
