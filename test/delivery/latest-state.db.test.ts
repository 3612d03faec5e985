import { afterEach, describe, expect, it } from 'vitest';
import { Outage } from '../../src/runtime/outage.ts';
import { upsertLatestStates } from '../../src/store/schd-event.ts';
import { toTimestamp } from '../../src/store/time.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { START, createBench, type Bench } from './kit.ts';

describe.skipIf(postgresMissing !== null)('KAFKA:schd', () => {
  let bench: Bench;
  afterEach(async () => {
    await bench.dispose();
  });

  it('tells the newest state only, canonical, with VIP persons masked and a fresh ID per send', async () => {
    bench = await createBench();
    await bench.flights('f1/1', 'f2/1', 'f1/2', 'f1/3');
    await bench.drain();
    expect(await bench.told('schd')).toEqual(['f1/3', 'f2/1']);
    const [line] = await bench.lines('schd');
    expect(Object.keys(line?.value ?? {})).toEqual([
      'flid',
      'operationDay',
      'stateVersion',
      'updatedAt',
      'flight',
    ]);
    expect(line?.value).toMatchObject({
      flight: { remark: '备注 3', vips: [{ code: null, entourage: 2 }] },
      updatedAt: '2026-03-14T08:00:00+08:00',
    });
    expect(Object.keys(line?.value?.['flight'] as object).slice(0, 3)).toEqual(['flid', 'ffid', 'airline']);
    bench.clock.advance(2_000);
    await bench.flights('f1/4');
    await bench.drain();
    const ids = (await bench.lines('schd')).map(({ headers }) => Number(headers['ce_id']));
    expect(new Set(ids).size).toBe(3);
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/4 SENT 0', 'f2/1 SENT 0']);
  });

  it('names VIP persons where it may', async () => {
    bench = await createBench({ publication: { vipPersons: true } });
    await bench.flights('f1/1');
    await bench.drain();
    expect((await bench.lines('schd'))[0]?.value).toMatchObject({ flight: { vips: [{ code: 'VIP-7' }] } });
  });

  it('carries names as reference data has them now, where it may', async () => {
    const names = { elements: { NOTE: ['TEXT'] }, fields: { remark: 'NOTE', 'vips.code': 'VIPL' } };
    bench = await createBench({ publication: { vipPersons: false, names } });
    await bench.db.client.query(
      `insert into ref_master (rtype, rkey, body, active, stamp, updated_at)
       values ('NOTE', '备注 1', '{"TEXT": "first"}', true, 1, now()), ('VIPL', 'VIP-7', '{"TEXT": "x"}', true, 1, now())`,
    );
    await bench.flights('f1/1', 'f2/2', 'f3/1!');
    await bench.drain();
    const values = (await bench.lines('schd')).map(({ value }) => value);
    expect(values.map((value) => value?.['names'])).toEqual([{ NOTE: { '备注 1': 'first' } }, {}, undefined]);
    expect(Object.keys(values[0] ?? {}).at(-1)).toBe('names');
  });

  it('writes a literal null for a flight that is deleted or gone', async () => {
    bench = await createBench();
    await bench.flights('f1/1', 'f1/2!', 'f2/1');
    await bench.db.client.query(`delete from flight_schd where flid = 'f2'`);
    await bench.drain();
    expect(await bench.told('schd')).toEqual(['f1/null', 'f2/null']);
    expect((await bench.lines('schd')).map(({ headers }) => headers['ce_type'])).toEqual([
      'msgx.flight.tombstone.v1',
      'msgx.flight.tombstone.v1',
    ]);
  });

  it('never waits crosswise with a pump that writes the same rows in another order', async () => {
    bench = await createBench();
    const { db, database, clock, sink, delivery } = bench;
    await bench.flights('f1/1', 'f2/1');
    // Each row's lock is held for a while before the next row is taken.
    await db.client.query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.3); return new; end $$;
      create trigger dawdle before update on msg_event for each row execute function dawdle()`);
    let pump: Promise<void> = Promise.resolve();
    sink.onSend = async () => {
      const states = ['f2', 'f1'].map(
        (flid) => ({ flid, eventType: 'UPSERT', stateVersion: 2, msgId: null }) as const,
      );
      pump = database.transaction((tx) => upsertLatestStates(tx, states, toTimestamp(clock.now())));
      await Promise.resolve();
    };
    await expect(Promise.all([delivery.round(), pump])).resolves.toBeDefined();
    await expect(pump).resolves.toBeUndefined();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 PENDING 0', 'f2/2 PENDING 0']);
  });

  it('tells again what was overtaken between read and mark', async () => {
    bench = await createBench();
    await bench.flights('f1/1', 'f2/1');
    bench.sink.onSend = async () => {
      bench.sink.onSend = async () => undefined;
      await bench.flights('f1/2');
    };
    await bench.delivery.round();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 PENDING 0', 'f2/1 SENT 0']);
    bench.clock.advance(2_000);
    await bench.delivery.round();
    expect(await bench.told('schd')).toEqual(['f1/1', 'f2/1', 'f1/2']);
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 SENT 0', 'f2/1 SENT 0']);
  });

  it('charges no refusal to a version that has overtaken the refused one', async () => {
    bench = await createBench();
    await bench.flights('f1/1');
    bench.sink.refuse = () => true;
    bench.sink.onSend = async () => {
      bench.sink.onSend = async () => undefined;
      await bench.flights('f1/2');
    };
    await bench.delivery.round();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 PENDING 0']);
  });

  it('goes forward only', async () => {
    bench = await createBench();
    await bench.flights('f1/3');
    await bench.drain();
    const late = { flid: 'f1', eventType: 'UPSERT', stateVersion: 2, msgId: null } as const;
    await upsertLatestStates(bench.database, [late], toTimestamp(START));
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/3 SENT 0']);
    await upsertLatestStates(bench.database, [{ ...late, stateVersion: 3 }], toTimestamp(START));
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/3 PENDING 0']);
  });

  it('counts the age of a pending row from its first untold change', async () => {
    bench = await createBench();
    const age = async () =>
      (
        await bench.db.client.query<{ at: Date }>('select created_at as at from msg_event')
      ).rows[0]?.at.getTime();
    await bench.flights('f1/1');
    bench.clock.advance(1_000);
    await bench.flights('f1/2');
    expect(await age()).toBe(START);
    await bench.drain();
    await bench.flights('f1/3');
    expect(await age()).toBe(START + 1_000);
  });

  it('retries with backoff, ends DEAD, and starts anew with the next version', async () => {
    bench = await createBench();
    await bench.flights('f1/1', 'f2/1');
    bench.sink.refuse = ({ key }) => key === 'f1';
    await bench.drain();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/1 PENDING 1', 'f2/1 SENT 0']);
    for (const wait of [2_000, 5_000]) {
      bench.clock.advance(wait);
      await bench.drain();
    }
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/1 DEAD 3', 'f2/1 SENT 0']);
    bench.sink.refuse = () => false;
    await bench.flights('f1/2');
    bench.clock.advance(2_000);
    await bench.drain();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/2 SENT 0', 'f2/1 SENT 0']);
  });

  it('charges nobody in an outage', async () => {
    bench = await createBench();
    await bench.flights('f1/1');
    bench.sink.outage = 'down';
    for (let round = 0; round < 20; round++) await expect(bench.delivery.round()).rejects.toThrow(Outage);
    bench.sink.outage = 'none';
    await bench.drain();
    expect(await bench.rows('KAFKA:schd')).toEqual(['f1/1 SENT 0']);
  });

  it('flushes each interval, and at once again where the flush was full; changes go first', async () => {
    bench = await createBench({ flushLimit: 2 });
    await bench.flights('f1/1', 'f2/1', 'f3/1');
    await bench.events('f1/1');
    expect(await bench.delivery.round()).toEqual({ next: 'now' });
    expect(bench.sink.batches.map((batch) => batch[0]?.stream)).toEqual(['msg', 'schd']);
    expect(await bench.told('schd')).toEqual(['f1/1', 'f2/1']);
    expect(await bench.delivery.round()).toEqual({ next: 'wait', until: START + 2_000 });
    expect(await bench.told('schd')).toEqual(['f1/1', 'f2/1', 'f3/1']);
    await bench.flights('f1/2');
    bench.clock.advance(1_999);
    await bench.delivery.round();
    expect(await bench.told('schd')).toHaveLength(3);
    bench.clock.advance(1);
    await bench.delivery.round();
    expect(await bench.told('schd')).toHaveLength(4);
  });
});
