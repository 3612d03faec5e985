import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settleEvents, type DeadEventRequest } from '../../src/actions/dead-events.ts';
import { MAX_ID } from '../../src/domain/ids.ts';
import { selectDeadEventIds } from '../../src/store/dead-event.ts';
import { selectAudit } from '../../src/store/op-audit.ts';
import { createBench, START, type Bench } from '../delivery/kit.ts';
import { gate, schedule } from '../kit/messages.ts';
import { createPipeline, type TestPipeline } from '../kit/pipeline.ts';
import { postgresMissing } from '../kit/postgres.ts';

const lin = (now: number) => ({ who: 'cli:lin', reason: 'consumer mended', now });
const request = (
  change: 'retry' | 'drop',
  eventIds: DeadEventRequest['eventIds'],
  more: Partial<DeadEventRequest> = {},
): DeadEventRequest => ({ change, eventIds, force: false, dryRun: false, ...more });

describe.skipIf(postgresMissing !== null)('dead events in the pipeline', () => {
  let pipeline: TestPipeline;
  /** Events of flight 810001, versions 1 to 4, by version; only the last one has not been delivered. */
  let events: readonly bigint[];
  beforeEach(async () => {
    pipeline = await createPipeline();
    await pipeline.send(schedule('810001', '810002'));
    await pipeline.drain();
    await pipeline.send(gate('810001', 'A1'), gate('810001', 'A2'));
    await pipeline.round(['inbox', 'pump']);
    // Version 2 is refused to its last attempt, 3 goes on.
    await pipeline.query(`update msg_event set state = 'DEAD', attempts = 3, last_error = 'too large'
      where target = 'KAFKA:msg' and state_version = 2`);
    await pipeline.drain();
    await pipeline.send(gate('810001', 'A3'));
    await pipeline.round(['inbox', 'pump']);
    const rows = await pipeline.query<{ id: string }>(`select event_id::text as id from msg_event
      where target = 'KAFKA:msg' and partition_key = '810001' order by event_id`);
    events = rows.map(({ id }) => BigInt(id));
  });
  afterEach(async () => {
    await pipeline.close();
  });
  const ask = (asked: DeadEventRequest) =>
    settleEvents(pipeline.db.database, asked, lin(pipeline.clock.now()));
  const dead = () => events[1] ?? 0n;
  const rows = async () =>
    (
      await pipeline.query<{ line: string }>(`select state_version || ' ' || state || ' ' || attempts as line
        from msg_event where target = 'KAFKA:msg' and partition_key = '810001' order by event_id`)
    ).map(({ line }) => line);

  it('are all meant by all, however many parts they come in', async () => {
    await pipeline.query(`insert into msg_event (target, partition_key, event_type, state_version, state, created_at, body)
      select 'KAFKA:msg', '9' || n, 'UPSERT', 1, 'DEAD', now(), '{}' from generate_series(1, 250) n`);
    // The one that a retry leaves dead keeps nothing from its turn, and comes once.
    expect((await ask(request('retry', 'all', { dryRun: true }))).message).toMatch(
      /^would retry 250 of 251 events; /,
    );
    const dropped = await ask(request('drop', 'all'));
    expect(dropped.message).toBe('dropped 251 of 251 events');
    expect(new Set(dropped.events.map(({ eventId }) => eventId)).size).toBe(251);
    expect(await selectDeadEventIds(pipeline.db.database, -1n, 1)).toEqual([]);
  });

  it('are retried below what was delivered by force alone, and the audit of deliveries knows', async () => {
    const why =
      `event ${dead().toString()} is version 2 of flight 810001, version 3 was delivered already: ` +
      'force it, or drop it';
    expect(await ask(request('retry', [dead()]))).toMatchObject({ outcome: 'refused', message: why });
    expect(await rows()).toEqual(['1 SENT 0', '2 DEAD 3', '3 SENT 0', '4 PENDING 0']);
    expect(await ask(request('retry', [dead()], { force: true, dryRun: true }))).toMatchObject({
      ...{ outcome: 'planned', message: 'would retry 1 of 1 event' },
      events: [{ laterDelivered: [3], refused: null }],
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toEqual([]);
    expect(await ask(request('retry', [dead()], { force: true }))).toMatchObject({ outcome: 'done' });
    expect(await rows()).toEqual(['1 SENT 0', '2 PENDING 0', '3 SENT 0', '4 PENDING 0']);
    await pipeline.drain();
    expect(await rows()).toEqual(['1 SENT 0', '2 SENT 0', '3 SENT 0', '4 SENT 0']);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toMatchObject([
      {
        ...{ action: 'retry', target: `event:${dead().toString()}`, who: 'cli:lin' },
        before: { state: 'DEAD', attempts: 3, lastError: 'too large' },
        after: { state: 'PENDING', laterDelivered: [3] },
      },
    ]);
    expect((await pipeline.verify()).clean).toBe(true);
    // The same order without an operator who wanted it is broken.
    await pipeline.query('delete from op_audit');
    expect((await pipeline.verify()).findings.find(({ invariant }) => invariant === 6)).toMatchObject({
      ...{ answer: 'broken', notes: ['flight 810001: version 2 first delivered after 3'] },
    });
  });

  it('count what retention has cleaned as delivered, and what was dropped or waits as not', async () => {
    await pipeline.query(`delete from msg_event where event_id = $1`, [events[2]?.toString()]);
    expect(await ask(request('retry', [dead()]))).toMatchObject({ events: [{ laterDelivered: [3] }] });
    // Version 1 dead as well: of the later ones, 2 is dead, 3 cleaned, 4 pending.
    await pipeline.query(`update msg_event set state = 'DEAD' where event_id = $1`, [events[0]?.toString()]);
    expect(await ask(request('retry', events.slice(0, 1)))).toMatchObject({
      events: [{ version: 1, laterDelivered: [3] }],
    });
    expect(await ask(request('drop', [dead()]))).toMatchObject({ outcome: 'done' });
    expect(await ask(request('retry', events.slice(0, 1)))).toMatchObject({
      events: [{ version: 1, laterDelivered: [3] }],
    });
  });

  it('are dropped for good, and their rows stay', async () => {
    expect(await ask(request('drop', [dead()]))).toMatchObject({
      ...{ outcome: 'done', message: 'dropped 1 of 1 event' },
    });
    await pipeline.drain();
    expect(await rows()).toEqual(['1 SENT 0', '2 DROPPED 3', '3 SENT 0', '4 SENT 0']);
    expect((await pipeline.verify()).clean).toBe(true);
    expect(await ask(request('drop', [dead(), 999n]))).toMatchObject({
      outcome: 'refused',
      events: [
        { refused: `event ${dead().toString()} is not dead: DROPPED` },
        { eventId: '999', flid: null, refused: 'there is no event 999' },
      ],
    });
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toHaveLength(1);
  });

  it('of two at once one gets each', async () => {
    const outcomes = await Promise.all([
      ask(request('drop', [dead()])),
      ask(request('retry', [dead()], { force: true })),
      ask(request('drop', [dead()])),
    ]);
    expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect(await selectAudit(pipeline.db.database, MAX_ID, 5)).toHaveLength(1);
  });
});

describe.skipIf(postgresMissing !== null)('dead newest states', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await createBench({ retry: { maxAttempts: 2, backoffMs: [1_000] } });
  });
  afterEach(async () => {
    await bench.dispose();
  });

  it('are told with what the flight has become, and those told already are left alone', async () => {
    await bench.flights('f1/1', 'f2/1', 'f3/1');
    bench.sink.refuse = ({ key }) => key !== 'f3';
    for (let turn = 0; turn < 4; turn++) {
      await bench.drain();
      bench.clock.advance(2_000);
    }
    const ids = await selectDeadEventIds(bench.database, -1n, 10);
    expect(ids).toHaveLength(2);
    bench.sink.refuse = () => false;
    // A newer state of one of them has made its row pending by itself.
    await bench.flights('f2/2');
    const outcome = await settleEvents(bench.database, request('retry', ids), lin(START));
    expect(outcome).toMatchObject({
      outcome: 'done',
      events: [
        { flid: 'f1', laterDelivered: [], refused: null },
        { flid: 'f2', refused: `event ${String(ids[1])} is not dead: PENDING` },
      ],
    });
    bench.clock.advance(2_000);
    await bench.drain();
    expect((await bench.told('schd')).toSorted()).toEqual(['f1/1', 'f2/2', 'f3/1']);
  });
});
