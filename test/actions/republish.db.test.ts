import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acceptPartitions, republish, type RepublishOutcome } from '../../src/actions/republish.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { fixPartitionCount, selectPartitionCounts } from '../../src/store/partition-count.ts';
import type { RepublishScope } from '../../src/store/republish.ts';
import { createBench, START, type Bench } from '../delivery/kit.ts';
import { createPipeline } from '../kit/pipeline.ts';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';

const ALL: RepublishScope = { kind: 'all' };
const lin = (now: number) => ({ who: 'cli:lin', reason: 'topic made anew', now });

describe.skipIf(postgresMissing !== null)('republish', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench({ flushLimit: 3, flushIntervalMs: 2_000 });
  });
  afterEach(async () => {
    await bench.dispose();
  });
  const ask = (scope: RepublishScope, dryRun = false): Promise<RepublishOutcome> =>
    republish(
      bench.database,
      { scope, rate: { flushLimit: 3, flushIntervalMs: 2_000 }, dryRun },
      lin(bench.clock.now()),
    );
  /** Flushes until nothing is pending; what each flush told. */
  async function flushes(): Promise<string[][]> {
    const told: string[][] = [];
    let before = (await bench.told('schd')).length;
    for (;;) {
      bench.clock.advance(2_000);
      await bench.drain();
      const lines = (await bench.told('schd')).slice(before);
      if (lines.length === 0) return told;
      before += lines.length;
      told.push(lines);
    }
  }

  it('tells sent, dead, dropped, deleted and cleaned flights again, each send with a fresh ID', async () => {
    await bench.flights('f1/1', 'f2/2!', 'f3/1', 'f4/1', 'f5/3');
    await flushes();
    const { client } = bench.db;
    await client.query(`delete from msg_event where partition_key = 'f3'`);
    await client.query(
      `update msg_event set state = case partition_key when 'f4' then 'DEAD' else 'DROPPED' end, attempts = 3,
         last_error = 'refused' where partition_key in ('f4', 'f5')`,
    );
    bench.clock.advance(60_000);
    expect(await ask(ALL)).toEqual({
      outcome: 'done',
      message: 'republishing 5 flights (1 deleted, 0 pending already): about 4 s at 3 per 2000 ms',
      plan: { target: 'all', flights: 5, deleted: 1, alreadyPending: 0, seconds: 4 },
    });
    expect((await flushes()).flat().sort()).toEqual(['f1/1', 'f2/null', 'f3/1', 'f4/1', 'f5/3']);
    const ids = (await bench.lines('schd')).map(({ headers }) => headers['ce_id']);
    expect(new Set(ids).size).toBe(10);
    expect((await bench.rows('KAFKA:schd')).every((row) => row.endsWith('SENT 0'))).toBe(true);
    const [entry] = await selectAudit(bench.database, MAX_ID, 5);
    expect(entry).toMatchObject({
      ...{ who: 'cli:lin', action: 'republish', target: 'all', reason: 'topic made anew' },
      ...{ before: { sent: 2, none: 1, dead: 1, dropped: 1 }, after: { pending: 5 } },
    });
  });

  it('keeps to a flush per interval, also after an outage, and lets changes go first', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `f${String(index)}/1`);
    await bench.flights(...names);
    await flushes();
    await ask(ALL);
    // Down for a minute: what waits is long due, and still goes at its rate.
    bench.sink.outage = 'down';
    bench.clock.advance(2_000);
    await expect(bench.delivery.round()).rejects.toThrow();
    bench.sink.outage = 'none';
    bench.clock.advance(60_000);
    // A new flight has the highest event ID of all, and is in the first flush nevertheless.
    await bench.flights('n1/1', 'f7/2');
    expect(await flushes()).toEqual([
      ['f7/2', 'n1/1', 'f0/1'],
      ['f1/1', 'f2/1', 'f3/1'],
      ['f4/1', 'f5/1', 'f6/1'],
    ]);
  });

  it('is harmless twice, at once, and while the states change', async () => {
    await bench.flights('f1/1', 'f2/1', 'f3/1');
    await flushes();
    const outcomes = await Promise.all([
      ask(ALL),
      ask(ALL),
      bench.flights('f1/2'),
      ask({ kind: 'day', day: '2026-03-14' }),
    ]);
    expect(outcomes.filter((outcome) => outcome?.outcome === 'done')).toHaveLength(3);
    await bench.flights('f2/2!');
    expect((await flushes()).flat().sort()).toEqual(['f1/2', 'f2/null', 'f3/1']);
    // Between a send and its record: the row is sent again with the newer state, and ends SENT.
    await ask(ALL);
    bench.sink.onSend = async () => {
      bench.sink.onSend = async () => undefined;
      await bench.flights('f3/2');
      await ask(ALL);
    };
    expect((await flushes()).flat().at(-1)).toBe('f3/2');
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 SENT 0', 'f2/2 SENT 0', 'f3/2 SENT 0']);
  });

  it('chooses by flight or day; refuses where there is none; changes nothing when it only plans', async () => {
    await bench.flights('f1/1', 'f2/1');
    await bench.db.client.query(
      `insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
       select 'g1', 1, '2026-03-15', false, state, '{}', 1, updated_at from flight_schd where flid = 'f1'`,
    );
    await flushes();
    expect(await ask({ kind: 'day', day: '2026-03-15' }, true)).toMatchObject({
      outcome: 'planned',
      plan: { target: 'day:2026-03-15', flights: 1 },
    });
    expect(await ask({ kind: 'flight', flid: 'nobody' })).toEqual({
      outcome: 'refused',
      message: 'there is no flight nobody',
    });
    expect(await ask({ kind: 'day', day: '2027-01-01' })).toMatchObject({ outcome: 'refused' });
    expect(await flushes()).toEqual([]);
    expect(await selectAudit(bench.database, MAX_ID, 5)).toEqual([]);
    await ask({ kind: 'flight', flid: 'f2' });
    expect(await flushes()).toEqual([['f2/1']]);
    await ask({ kind: 'day', day: '2026-03-15' });
    expect(await flushes()).toEqual([['g1/1']]);
  });
});

describe.skipIf(postgresMissing !== null)('the audit of republishing', () => {
  it('accepts what was asked for, and misses the entry of what was not', async () => {
    const pipeline = await createPipeline();
    await pipeline.send(schedule('810001', '810002'), gate('810001', 'A1'), deletion('810002'));
    await pipeline.drain();
    const answer = async () => (await pipeline.verify()).findings.find(({ invariant }) => invariant === 9);
    const rate = { flushLimit: 500, flushIntervalMs: 1_000 };
    const scope = { kind: 'flight', flid: '810001' } as const;
    await republish(pipeline.db.database, { scope, rate, dryRun: false }, lin(START));
    expect(await answer()).toMatchObject({ answer: 'checked' });
    await pipeline.query(`update msg_event set state = 'PENDING', next_attempt_at = sent_at
      where target = 'KAFKA:schd' and partition_key = '810002'`);
    expect(await answer()).toMatchObject({
      answer: 'broken',
      notes: ['republish of flight 810002 has no audit row'],
    });
    await republish(pipeline.db.database, { scope: ALL, rate, dryRun: false }, lin(START));
    expect((await pipeline.verify()).clean).toBe(true);
    await pipeline.drain();
    expect((await pipeline.verify()).clean).toBe(true);
    await pipeline.close();
  });

  it('notices a number of partitions that nobody accepted', async () => {
    const pipeline = await createPipeline();
    await pipeline.drain();
    const { database } = pipeline.db;
    await fixPartitionCount(database, 'flight.msg', 3, START);
    await fixPartitionCount(database, 'flight.schd', 3, START);
    const found = new Map([
      ['flight.msg', 6],
      ['flight.schd', 3],
      ['another', 9],
    ]);
    expect(await acceptPartitions(database, found, lin(START))).toEqual({
      outcome: 'done',
      message: 'topic flight.msg: 6 partitions accepted, 3 before',
    });
    expect(await acceptPartitions(database, found, lin(START))).toMatchObject({ outcome: 'refused' });
    expect(Object.fromEntries(await selectPartitionCounts(database))).toEqual({
      'flight.msg': 6,
      'flight.schd': 3,
    });
    const [entry] = await selectAudit(database, MAX_ID, 5);
    expect(entry).toMatchObject({
      ...{ action: 'accept-partitions', target: 'topic:flight.msg' },
      ...{ before: { partitions: 3 }, after: { partitions: 6 } },
    });
    const answer = async () => (await pipeline.verify()).findings.find(({ invariant }) => invariant === 9);
    expect(await answer()).toMatchObject({ answer: 'checked' });
    await pipeline.query(`update fixed_setting set value = '12' where name = 'kafka.partitions:flight.msg'`);
    expect(await answer()).toMatchObject({
      answer: 'broken',
      notes: ['number of partitions of topic flight.msg has no audit row'],
    });
    await pipeline.close();
  });

  it('stores a number once', async () => {
    const { database } = await createTestDatabase();
    expect(await fixPartitionCount(database, 't', 3, START)).toBe(3);
    expect(await fixPartitionCount(database, 't', 4, START)).toBe(3);
  });
});
