/** Topics that change under a sink: grown, deleted, made anew. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KafkaSink } from '../../../src/delivery/sinks/kafka.ts';
import type { KafkaSinkOptions } from '../../../src/delivery/sinks/kafka-options.ts';
import { partitionsInProcess } from '../../../src/delivery/sinks/kafka-partitions.ts';
import { checkTopics, countPartitions } from '../../../src/delivery/sinks/kafka-topics.ts';
import { kafkaMissing, TestKafka } from '../../kit/kafka.ts';
import { record } from '../../kit/sink-conformance.ts';

const ACCEPTED = { outcome: 'accepted' };

describe.skipIf(kafkaMissing !== null)(`partitions of Kafka's topics (${kafkaMissing ?? 'here'})`, () => {
  let kafka: TestKafka;
  const open: KafkaSink[] = [];
  beforeAll(async () => {
    kafka = await TestKafka.start();
  }, 200_000);
  afterAll(() => kafka.dispose());
  afterEach(async () => {
    for (const sink of open.splice(0)) await sink.close();
  });
  function sinkOf(options: KafkaSinkOptions): KafkaSink {
    const sink = new KafkaSink(options);
    open.push(sink);
    return sink;
  }

  it('sends nothing into a topic that has grown, however long its producer lives', async () => {
    const target = { ...(await kafka.target({ partitions: 2 })), partitions: partitionsInProcess() };
    const sink = sinkOf(target);
    expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
    await kafka.grow(target.topics.msg, 3);
    const refused = {
      dependency: 'delivery',
      message: expect.stringMatching(
        new RegExp(
          `topic ${target.topics.msg} has 3 partitions and had 2 at the first start.*--accept-partitions`,
        ),
      ) as string,
    };
    // The first of these goes by a producer whose picture of the topic is old, the next by a new one; and both streams
    // wait, because a batch may hold either.
    for (const n of [2, 3]) await expect(sink.send([record('f', n)])).rejects.toMatchObject(refused);
    await expect(sink.send([record('f', 4, 'schd')])).rejects.toMatchObject(refused);
    // A restart remembers.
    await expect(sinkOf(target).send([record('f', 5)])).rejects.toMatchObject(refused);
    expect(await kafka.values(target)).toEqual([1]);
    expect(await kafka.values(target, 'schd')).toEqual([]);
  });

  it('keeps no reader waiting for the batch that it broke off', async () => {
    const target = await kafka.target({ partitions: 2 });
    const sink = sinkOf(target);
    // In every partition, before and after.
    const batch = (n: number) => Array.from({ length: 20 }, (_, index) => record(`f${String(index)}`, n));
    expect(await sink.send(batch(1))).toEqual(ACCEPTED);
    await kafka.grow(target.topics.msg, 3);
    await expect(sink.send(batch(2))).rejects.toThrow();
    // What others write behind it can be read at once.
    const other = sinkOf({ ...target, transactionalId: `${target.transactionalId}-other` });
    expect(await other.send(batch(3))).toEqual(ACCEPTED);
    const values = await kafka.values(target);
    expect(Map.groupBy(values, Number)).toEqual(
      new Map([
        [1, values.filter((value) => value === 1)],
        [3, Array.from({ length: 20 }, () => 3)],
      ]),
    );
    expect(values).toHaveLength(40);
  });

  it('goes on in topics that were made anew with the same number, whether it noticed their absence or not', async () => {
    const target = { ...(await kafka.target({ partitions: 3 })), timeoutMs: 10_000 };
    const { msg, schd } = target.topics;
    const sink = sinkOf(target);
    const keys = Array.from({ length: 12 }, (_, index) => `f${String(index)}`);
    const batch = (n: number) => keys.map((key) => record(key, n));
    for (const n of [1, 2]) expect(await sink.send(batch(n))).toEqual(ACCEPTED);

    await kafka.deleteTopics(msg, schd);
    await kafka.createTopic(msg, 3, 'delete');
    await kafka.createTopic(schd, 3, 'compact');
    // A first batch may still meet the old picture of the topic; nothing is lost and none needs a new sink.
    await expect.poll(() => sink.send(batch(3)).catch(String), { timeout: 30_000 }).toEqual(ACCEPTED);
    expect(new Set((await kafka.values(target)).map(Number))).toEqual(new Set([3]));
    expect(await kafka.values(target)).toHaveLength(keys.length);

    await kafka.deleteTopics(msg);
    const missing = {
      message: expect.stringMatching(/is missing and had 3 partitions.*create it with 3/) as string,
    };
    await expect(sink.send(batch(4))).rejects.toThrow();
    await expect(sink.send(batch(4))).rejects.toMatchObject(missing);
    expect(await countPartitions(target)).toEqual(new Map([[schd, 3]]));
    await kafka.createTopic(msg, 5, 'delete');
    await expect(sink.send(batch(4))).rejects.toMatchObject({
      message: expect.stringMatching(/has 5 partitions and had 3/) as string,
    });
    await kafka.deleteTopics(msg);
    await kafka.createTopic(msg, 3, 'delete');
    expect(await sink.send(batch(5))).toEqual(ACCEPTED);
    expect(new Set((await kafka.values(target)).map(Number))).toEqual(new Set([5]));
  });

  it('is checked against what is stored: a line per topic', async () => {
    const target = await kafka.target({ partitions: 2 });
    const { msg, schd } = target.topics;
    const stored = new Map([
      [msg, 2],
      [schd, 6],
    ]);
    expect(await checkTopics(target, stored)).toEqual([
      { what: `topic ${msg}`, result: 'ok', message: '2 partitions, cleanup.policy=delete' },
      {
        what: `topic ${schd}`,
        result: 'failed',
        message: expect.stringMatching(
          /has 2 partitions and had 6 .* create it again with 6, or accept 2/,
        ) as string,
      },
    ]);
    await kafka.deleteTopics(schd);
    expect((await checkTopics(target, stored))[1]).toMatchObject({
      result: 'failed',
      message: expect.stringMatching(/is missing and had 6 partitions/) as string,
    });
  });
});
