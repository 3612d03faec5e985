import { setTimeout as sleep } from 'node:timers/promises';
import { Producer } from '@platformatic/kafka';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KafkaSink } from '../../../src/delivery/sinks/kafka.ts';
import type { KafkaSinkOptions } from '../../../src/delivery/sinks/kafka-options.ts';
import { checkTopics, createTopics } from '../../../src/delivery/sinks/kafka-topics.ts';
import { LostLease, Outage } from '../../../src/runtime/outage.ts';
import { kafkaMissing, TestKafka } from '../../kit/kafka.ts';
import { SecureListener } from '../../kit/kafka-secure.ts';
import { record, sinkConformance, type SinkHarness } from '../../kit/sink-conformance.ts';

const ACCEPTED = { outcome: 'accepted' };

describe.skipIf(kafkaMissing !== null)(`Kafka (${kafkaMissing ?? 'here'})`, () => {
  let kafka: TestKafka;
  let secure: SecureListener;
  const open: KafkaSink[] = [];
  beforeAll(async () => {
    secure = await SecureListener.create();
    kafka = await TestKafka.start(secure.options);
  }, 200_000);
  afterAll(async () => {
    await kafka.dispose();
    await secure.dispose();
  });
  afterEach(async () => {
    for (const sink of open.splice(0)) await sink.close();
  });
  function sinkOf(options: KafkaSinkOptions): KafkaSink {
    const sink = new KafkaSink(options);
    open.push(sink);
    return sink;
  }

  async function harness(): Promise<SinkHarness> {
    const { proxy, broker } = await kafka.proxy();
    const target = await kafka.target();
    return {
      // A shorter deadline than the suite's would measure the machine, not the sink.
      open: async ({ timeoutMs = 20_000 } = {}) =>
        sinkOf({ ...target, brokers: [broker], timeoutMs: Math.max(timeoutMs, 4_000) }),
      read: async (stream) =>
        (await kafka.read(target.topics[stream])).map(({ key, headers, payload }) => ({
          key,
          headers,
          value: payload === null ? null : (JSON.parse(payload) as unknown),
        })),
      refusable: () => record('f', 'x'.repeat(2_000_000)),
      fail: async () => {
        proxy.refuse();
        proxy.cut();
        return async () => proxy.heal();
      },
      silence: async () => {
        proxy.silence();
        return async () => proxy.heal();
      },
      dispose: async () => {
        proxy.heal();
        for (const sink of open.splice(0)) await sink.close();
      },
    };
  }
  sinkConformance('Kafka', harness);

  it('chooses the partition that Kafka chooses, and keeps the order per key', async () => {
    // Not a power of two, where signed and unsigned hashes would agree by chance.
    const target = await kafka.target({ partitions: 7 });
    const keys = Array.from({ length: 40 }, (_, index) => `航班-${String(index * 7919)}`);
    const sink = sinkOf(target);
    for (const n of [1, 2, 3]) {
      expect(await sink.send(keys.map((key) => record(key, n)))).toEqual(ACCEPTED);
    }
    await kafka.produce(target.topics.schd, keys, 'murmur2_random');
    const theirs = new Map(
      (await kafka.read(target.topics.schd)).map((found) => [found.key, found.partition]),
    );
    expect(new Set(theirs.values()).size).toBe(7);
    const ours = await kafka.read(target.topics.msg);
    expect(ours).toHaveLength(120);
    for (const key of keys) {
      const found = ours.filter((one) => one.key === key);
      expect(found.map(({ payload }) => payload)).toEqual(['1', '2', '3']);
      expect(new Set(found.map(({ partition }) => partition))).toEqual(new Set([theirs.get(key)]));
    }
  });

  it('takes a batch far above the size of one request, and shows it as one', async () => {
    const target = await kafka.target({ partitions: 2 });
    const batch = Array.from({ length: 500 }, (_, n) =>
      record(`f${String(n % 9)}`, { n, text: 'x'.repeat(8_000) }),
    );
    expect(await sinkOf(target).send(batch)).toEqual(ACCEPTED);
    expect(await kafka.read(target.topics.msg)).toHaveLength(500);
  });

  it('hides the records of a refused batch that were already written', async () => {
    const target = await kafka.target();
    const sink = sinkOf(target);
    const large = (n: number) => record('f', { n, text: 'x'.repeat(400_000) });
    // Two requests succeed before the third is refused.
    const batch = [large(1), large(2), record('f', 'x'.repeat(2_000_000))];
    expect(await sink.send(batch)).toEqual({
      outcome: 'refused',
      reason: 'the broker refused the batch: MESSAGE_TOO_LARGE',
    });
    expect((await kafka.read(target.topics.msg, 'read_uncommitted')).length).toBeGreaterThan(0);
    expect(await kafka.read(target.topics.msg)).toEqual([]);
    expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
    expect(await kafka.values(target)).toEqual([1]);
  });

  it('refuses an empty key and an empty value', async () => {
    const sink = sinkOf(await kafka.target());
    expect(await sink.send([record('', 1)])).toMatchObject({ outcome: 'refused' });
    expect(await sink.send([{ ...record('f', 1), value: '' }])).toMatchObject({ outcome: 'refused' });
  });

  it('is fenced by a newer producer of the same pipeline, and fences it in turn only as the active one', async () => {
    const target = await kafka.target();
    let active = 'first';
    const instance = (name: string) =>
      sinkOf({
        ...target,
        confirmActive: async () => {
          if (active !== name) throw new LostLease();
        },
      });
    const first = instance('first');
    expect(await first.send([record('f', 1)])).toEqual(ACCEPTED);
    active = 'second';
    const second = instance('second');
    expect(await second.send([record('f', 2)])).toEqual(ACCEPTED);
    // The former active wakes up in the middle of a batch: its producer is fenced, and a new one asks the lease.
    await expect(first.send([record('f', 'stale')])).rejects.toThrow(Outage);
    await expect(first.send([record('f', 'stale')])).rejects.toThrow(LostLease);
    await expect(first.send([record('f', 'stale')])).rejects.toThrow(LostLease);
    // Asking has fenced the second, which begins anew.
    await expect
      .poll(() => second.send([record('f', 3)]).then(({ outcome }) => outcome, String), { timeout: 20_000 })
      .toBe('accepted');
    expect(await kafka.values(target)).toEqual([1, 2, 3]);
  });

  it('aborts what an earlier producer left open, also of its commit', async () => {
    const target = await kafka.target();
    const former = new Producer({
      clientId: 'former',
      bootstrapBrokers: [kafka.broker],
      idempotent: true,
      transactionalId: target.transactionalId,
      retries: 2,
    });
    const transaction = await former.beginTransaction({ producerId: -1n, producerEpoch: -1 });
    const value = Buffer.from('"left open"');
    await transaction.send({ messages: [{ topic: target.topics.msg, key: Buffer.from('f'), value }] });
    expect(await sinkOf(target).send([record('f', 2)])).toEqual(ACCEPTED);
    await expect(transaction.commit()).rejects.toThrow();
    await former.close();
    expect(await kafka.read(target.topics.msg, 'read_uncommitted')).toHaveLength(2);
    expect(await kafka.values(target)).toEqual([2]);
  });

  it('ends a silent broker by the deadline, and says what it waited for', { timeout: 60_000 }, async () => {
    const target = await kafka.target();
    const { proxy, broker } = await kafka.proxy();
    const sink = sinkOf({ ...target, brokers: [broker], timeoutMs: 3_000 });
    expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
    proxy.silence();
    for (const n of [2, 3]) {
      const started = performance.now();
      await expect(sink.send([record('f', n)])).rejects.toMatchObject({
        name: 'Outage',
        dependency: 'delivery',
      });
      const took = performance.now() - started;
      expect(took).toBeLessThan(4_500);
    }
    proxy.heal();
    expect(await sink.send([record('f', 2)])).toEqual(ACCEPTED);
    expect(await kafka.values(target)).toEqual([1, 2]);
  });

  it('creates missing topics when it begins, not when they vanish later', async () => {
    const target = await kafka.target();
    const fresh = {
      ...target,
      topics: { msg: `${target.topics.msg}.new`, schd: `${target.topics.schd}.new` },
      timeoutMs: 5_000,
    };
    expect(await checkTopics(fresh)).toMatchObject([{ result: 'warning' }, { result: 'warning' }]);
    const sink = sinkOf(fresh);
    expect(await sink.send([record('f', null, 'schd')])).toEqual(ACCEPTED);
    expect(await checkTopics(fresh)).toEqual([
      { what: `topic ${fresh.topics.msg}`, result: 'ok', message: '1 partitions, cleanup.policy=delete' },
      { what: `topic ${fresh.topics.schd}`, result: 'ok', message: '1 partitions, cleanup.policy=compact' },
    ]);
    await createTopics(fresh);
  });

  it('checks cleanup policies and reachability', async () => {
    const target = await kafka.target();
    const swapped = { ...target, topics: { msg: target.topics.schd, schd: target.topics.msg } };
    expect(await checkTopics(swapped)).toMatchObject([
      { result: 'failed', message: expect.stringContaining('drops changes') as string },
      { result: 'failed', message: expect.stringContaining('cleanup.policy=compact') as string },
    ]);
    expect(await checkTopics({ ...target, brokers: ['127.0.0.1:1'], timeoutMs: 2_000 })).toMatchObject([
      { what: 'delivery', result: 'failed' },
    ]);
  });

  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)(
    'sends over TLS as a user of %s with no more rights than documented',
    async (mechanism) => {
      const target = await kafka.target();
      const secured = { ...target, ...secure.connection(mechanism), timeoutMs: 10_000 };
      await expect(sinkOf(secured).send([record('f', 1)])).rejects.toThrow(Outage);
      await secure.grant(kafka.broker, secured);
      const sink = sinkOf(secured);
      expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
      expect(await sink.send([record('f', 2)])).toEqual(ACCEPTED);
      expect(await kafka.values(target)).toEqual([1, 2]);
      expect(await sink.probe()).toBe(true);
    },
  );

  it('reports a wrong password, an unknown certificate and plain text as outages', async () => {
    const target = await kafka.target();
    const secured = { ...target, ...secure.connection('SCRAM-SHA-512'), timeoutMs: 5_000 };
    const wrong = [
      { ...secured, sasl: { mechanism: 'SCRAM-SHA-512', username: 'msgx', password: 'wrong' } },
      { ...secured, tls: {} },
      { ...secured, tls: null },
    ] as const;
    for (const options of wrong) {
      const sink = sinkOf(options);
      await expect(sink.send([record('f', 1)])).rejects.toMatchObject({ dependency: 'delivery' });
      expect(await sink.probe()).toBe(false);
    }
  });

  it(
    'loses nothing that was accepted when the broker is killed while it sends',
    { timeout: 240_000 },
    async () => {
      const target = await kafka.target({ partitions: 3 });
      const sink = sinkOf({ ...target, timeoutMs: 5_000 });
      const accepted: number[] = [];
      let next = 0;
      let failures = 0;
      const stop = new AbortController();
      const sending = (async () => {
        while (!stop.signal.aborted) {
          const batch = Array.from({ length: 20 }, (_, at) =>
            record(`f${String((next + at) % 5)}`, next + at),
          );
          try {
            expect(await sink.send(batch)).toEqual(ACCEPTED);
            accepted.push(...batch.map((_, at) => next + at));
            next += batch.length;
          } catch (error) {
            expect(error).toBeInstanceOf(Outage);
            failures += 1;
            await sleep(50);
          }
        }
      })();
      const grown = (count: number) =>
        expect.poll(() => accepted.length, { timeout: 90_000 }).toBeGreaterThanOrEqual(count);
      await grown(100);
      await kafka.kill();
      await expect.poll(() => failures, { timeout: 30_000 }).toBeGreaterThan(0);
      await kafka.restart();
      await grown(accepted.length + 100);
      stop.abort();
      await sending;

      const found = await kafka.read(target.topics.msg);
      const byKey = Map.groupBy(found, ({ key }) => key);
      const seen: number[] = [];
      for (const records of byKey.values()) {
        // Repetitions are allowed; first deliveries are in order.
        const firsts = [...new Set(records.map(({ payload }) => Number(payload)))];
        expect(firsts).toEqual(firsts.toSorted((left, right) => left - right));
        seen.push(...firsts);
      }
      expect(seen.toSorted((left, right) => left - right)).toEqual(expect.arrayContaining(accepted));
    },
  );
});
