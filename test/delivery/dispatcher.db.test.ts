import { afterEach, describe, expect, it } from 'vitest';
import { LostLease, Outage } from '../../src/runtime/outage.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { START, createBench, type Bench } from './kit.ts';

describe.skipIf(postgresMissing !== null)('KAFKA:msg', () => {
  let bench: Bench;
  afterEach(async () => {
    await bench.dispose();
  });

  it('sends events in order with the ID first, and marks them SENT', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f2/1', 'f1/2', 'f1/3!');
    expect(await bench.delivery.round()).toMatchObject({ next: 'wait' });
    expect(await bench.told('msg')).toEqual(['f1/1', 'f2/1', 'f1/2', 'f1/3']);
    const lines = await bench.lines('msg');
    expect(Object.keys(lines[0]?.value ?? {}).slice(0, 3)).toEqual(['eventId', 'eventType', 'flid']);
    expect(lines.map(({ value }) => value?.['flight'] === null)).toEqual([false, false, false, true]);
    const ids = lines.map(({ value }) => Number(value?.['eventId']));
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    expect(await bench.rows('KAFKA:msg')).toEqual([
      'f1/1 SENT 0',
      'f2/1 SENT 0',
      'f1/2 SENT 0',
      'f1/3 SENT 0',
    ]);
    expect(bench.delivery.lastAckAt).toBe(START);
    expect(await bench.metrics.registry.metrics()).toContain(
      'msgx_delivery_total{target="KAFKA:msg",outcome="sent"} 4',
    );
  });

  it('takes full batches one after the other and leaves what comes meanwhile to the next', async () => {
    bench = await createBench({ batch: 2 });
    await bench.events('f1/1', 'f2/1');
    bench.sink.onSend = async () => {
      bench.sink.onSend = async () => undefined;
      await bench.events('f1/2', 'f3/1');
    };
    expect(await bench.delivery.round()).toEqual({ next: 'now' });
    expect(await bench.rows('KAFKA:msg')).toEqual([
      'f1/1 SENT 0',
      'f2/1 SENT 0',
      'f1/2 PENDING 0',
      'f3/1 PENDING 0',
    ]);
    await bench.drain();
    expect(bench.sink.batches.map((batch) => batch.length)).toEqual([2, 2]);
    expect(await bench.told('msg')).toEqual(['f1/1', 'f2/1', 'f1/2', 'f3/1']);
  });

  it('charges a refusal to its own event; its flight waits, others go on; then order goes on', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f2/1', 'f1/2', 'f2/2');
    bench.sink.refuse = ({ key }) => key === 'f1';
    await bench.drain();
    expect(await bench.told('msg')).toEqual(['f2/1', 'f2/2']);
    expect(await bench.rows('KAFKA:msg')).toEqual([
      'f1/1 PENDING 1',
      'f2/1 SENT 0',
      'f1/2 PENDING 0',
      'f2/2 SENT 0',
    ]);
    bench.sink.refuse = () => false;
    await bench.events('f1/3', 'f2/3');
    bench.clock.advance(999);
    await bench.drain();
    expect(await bench.told('msg')).toEqual(['f2/1', 'f2/2', 'f2/3']);
    bench.clock.advance(1);
    await bench.drain();
    expect(await bench.told('msg')).toEqual(['f2/1', 'f2/2', 'f2/3', 'f1/1', 'f1/2', 'f1/3']);
  });

  it('tells when the next attempt is due', async () => {
    bench = await createBench({ flushIntervalMs: 60_000 });
    await bench.events('f1/1');
    bench.sink.refuse = () => true;
    await bench.delivery.round();
    expect(await bench.delivery.round()).toEqual({ next: 'wait', until: START + 1_000 });
  });

  it('makes an event DEAD after the last attempt, keeps it, and its flight goes on', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f1/2');
    bench.sink.refuse = ({ value }) => value?.includes('"stateVersion":1,') === true;
    await bench.drain();
    bench.clock.advance(1_000);
    await bench.drain();
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 PENDING 2', 'f1/2 PENDING 0']);
    bench.clock.advance(4_999);
    await bench.drain();
    expect(await bench.told('msg')).toEqual([]);
    bench.clock.advance(1);
    await bench.drain();
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 DEAD 3', 'f1/2 SENT 0']);
    expect(await bench.told('msg')).toEqual(['f1/2']);
    const { rows } = await bench.db.client.query('select last_error from msg_event where event_id = 1');
    expect(rows).toEqual([{ last_error: 'not this one' }]);
  });

  it('is not blinded by more stuck flights than a batch holds', async () => {
    bench = await createBench({ batch: 3 });
    const stuck = ['s1', 's2', 's3', 's4', 's5'];
    await bench.events(...stuck.flatMap((key) => [`${key}/1`, `${key}/2`, `${key}/3`]), 'f1/1', 'f2/1');
    bench.sink.refuse = ({ key }) => key.startsWith('s');
    await bench.drain();
    expect(await bench.told('msg')).toEqual(['f1/1', 'f2/1']);
    expect((await bench.rows('KAFKA:msg')).filter((row) => row.endsWith('PENDING 1'))).toHaveLength(5);
  });

  it.each(['down', 'lost'] as const)(
    'charges nobody while the target is %s, and sends again',
    async (outage) => {
      bench = await createBench();
      await bench.events('f1/1', 'f2/1', 'f1/2');
      bench.sink.outage = outage;
      for (let round = 0; round < 30; round++) await expect(bench.delivery.round()).rejects.toThrow(Outage);
      expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 PENDING 0', 'f2/1 PENDING 0', 'f1/2 PENDING 0']);
      bench.sink.outage = 'none';
      await bench.drain();
      const told = await bench.told('msg');
      expect([...new Set(told)]).toEqual(['f1/1', 'f2/1', 'f1/2']);
      expect(told).toHaveLength(outage === 'lost' ? 93 : 3);
      expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 SENT 0', 'f2/1 SENT 0', 'f1/2 SENT 0']);
    },
  );

  it('records what was accepted and refused before the target went away in between', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f2/1', 'f3/1');
    bench.sink.refuse = ({ key }) => key === 'f2';
    bench.sink.onSend = async (records) => {
      if (records.length === 1 && records[0]?.key === 'f3') bench.sink.outage = 'down';
    };
    await expect(bench.delivery.round()).rejects.toThrow(Outage);
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 SENT 0', 'f2/1 PENDING 1', 'f3/1 PENDING 0']);
  });

  it('lets the probe decide what an unknown error was', async () => {
    bench = await createBench();
    await bench.events('f1/1');
    bench.sink.broken = new Error('never seen');
    bench.sink.reachable = false;
    await expect(bench.delivery.round()).rejects.toThrow(Outage);
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 PENDING 0']);
    bench.sink.reachable = true;
    await bench.delivery.round();
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 PENDING 1']);
  });

  it('sends again, in order, what was sent by a process that ended before it recorded it', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f1/2');
    // The lease passes on between send and mark: the former holder can record nothing.
    const former = bench.station({ fence: { epoch: 0n } });
    bench.sink.onSend = async () => {
      await bench.db.client.query('update lease set epoch = 1');
    };
    await expect(former.round()).rejects.toThrow(LostLease);
    bench.sink.onSend = async () => undefined;
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 PENDING 0', 'f1/2 PENDING 0']);
    await bench.events('f1/3');
    await bench.station({ fence: { epoch: 1n } }).round();
    expect(await bench.told('msg')).toEqual(['f1/1', 'f1/2', 'f1/1', 'f1/2', 'f1/3']);
  });

  it('leaves alone what an operator has dropped while it was on its way', async () => {
    bench = await createBench();
    await bench.events('f1/1', 'f2/1');
    bench.sink.onSend = async () => {
      await bench.db.client.query(`update msg_event set state = 'DROPPED' where partition_key = 'f1'`);
    };
    await bench.delivery.round();
    expect(await bench.rows('KAFKA:msg')).toEqual(['f1/1 DROPPED 0', 'f2/1 SENT 0']);
  });

  it('measures from when the message was enqueued', async () => {
    bench = await createBench();
    await bench.events('f1/1');
    await bench.db.client.query(`insert into proc_state (msg_id, enqueued_at) values (7, $1)`, [
      toTimestamp(START),
    ]);
    await bench.db.client.query('update msg_event set msg_id = 7');
    bench.clock.advance(2_000);
    await bench.delivery.round();
    expect(await bench.metrics.registry.metrics()).toContain('msgx_end_to_end_seconds_sum 2');
  });
});
