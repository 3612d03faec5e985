/** Invariant 6 on real topics: what a pipeline has told, then copies of it with one thing wrong each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Admin } from '@platformatic/kafka';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFromObject } from '../../src/config/load.ts';
import type { SinkRecord, Stream } from '../../src/delivery/port.ts';
import { clientOptions, type KafkaSinkOptions } from '../../src/delivery/sinks/kafka-options.ts';
import { createProducer } from '../../src/delivery/sinks/kafka-producer.ts';
import { KafkaSink } from '../../src/delivery/sinks/kafka.ts';
import { verifyTargetOf } from '../../src/service/verify-target.ts';
import { verify, type Finding } from '../../src/upkeep/verify/index.ts';
import { kafkaMissing, TestKafka } from '../kit/kafka.ts';
import { deletion, gate, schedule } from '../kit/messages.ts';
import { postgresMissing } from '../kit/postgres.ts';
import { createPipeline, type TestPipeline } from '../kit/service-pipeline.ts';

const missing = kafkaMissing ?? postgresMissing;
const PARTITIONS = 3;

describe.skipIf(missing !== null)(`verify reads Kafka (${missing ?? 'here'})`, () => {
  let kafka: TestKafka;
  let pipeline: TestPipeline;
  /** What the pipeline has told. */
  let told: Readonly<Record<Stream, readonly SinkRecord[]>>;

  beforeAll(async () => {
    kafka = await TestKafka.start({ settings: { 'num.partitions': String(PARTITIONS) } });
    pipeline = await createPipeline({ kafka });
    const running = await pipeline.start();
    const flids = ['810001', '810002', '810003', '810004', '810005', '810006'];
    await pipeline.mailbox.insertAll([
      schedule(...flids),
      ...flids.flatMap((flid) => [gate(flid, 'A1'), gate(flid, 'B2'), gate(flid, 'C3')]),
    ]);
    await pipeline.drained();
    await pipeline.mailbox.insertAll([deletion('810006')]);
    await pipeline.drained();
    await running.stop();
    const read = async (stream: Stream) =>
      (await pipeline.journal(stream)).map(({ key, headers, value }): SinkRecord => ({
        ...{ stream, key, headers },
        value: value === null ? null : JSON.stringify(value),
      }));
    told = { msg: await read('msg'), schd: await read('schd') };
  }, 300_000);
  afterAll(async () => {
    await pipeline.close();
    await kafka.dispose();
  });

  /** Invariant 6 with this target, all others being clean. */
  async function audited(target: Partial<KafkaSinkOptions>): Promise<Finding> {
    const { topics, brokers = [kafka.broker], timeoutMs = 20_000 } = target;
    const result = configFromObject({
      ...pipeline.settings,
      delivery: {
        target: 'kafka',
        timeout: `${String(timeoutMs)}ms`,
        kafka: { brokers, 'topic-msg': topics?.msg ?? 'none.msg', 'topic-schd': topics?.schd ?? 'none.schd' },
      },
    });
    if (!result.ok) throw new Error(result.faults.join('\n'));
    const report = await verify({
      ...{ database: pipeline.database, mailbox: pipeline.mailbox, dialect: pipeline.dialect },
      ...{ target: verifyTargetOf(result.config), publication: { vipPersons: false }, cutoff: '00:00' },
    });
    const others = report.findings.filter(({ invariant, answer }) => invariant !== 6 && answer !== 'checked');
    expect(others).toEqual([]);
    return report.findings[5]!;
  }

  /** Topics of their own with these records. */
  async function copy(records: Partial<Record<Stream, readonly SinkRecord[]>>): Promise<KafkaSinkOptions> {
    const target = await kafka.target({ partitions: PARTITIONS });
    await append(target, [...(records.msg ?? told.msg), ...(records.schd ?? told.schd)]);
    return target;
  }
  async function append(target: KafkaSinkOptions, records: readonly SinkRecord[]): Promise<void> {
    const sink = new KafkaSink(target);
    expect(await sink.send(records)).toEqual({ outcome: 'accepted' });
    await sink.close();
  }
  const versionOf = ({ value }: SinkRecord) =>
    Number((JSON.parse(value ?? '{}') as { stateVersion?: number }).stateVersion);
  /** A record of a version with another one's content. */
  const changed = (record: SinkRecord, change: object): SinkRecord => ({
    ...record,
    value: JSON.stringify({ ...(JSON.parse(record.value ?? '{}') as object), ...change }),
  });

  it('is clean on what the pipeline told, and on a copy of it', async () => {
    const { topicMsg, topicSchd } = pipeline.config.delivery.kafka;
    for (const target of [{ topics: { msg: topicMsg, schd: topicSchd } }, await copy({})]) {
      expect(await audited(target)).toMatchObject({
        answer: 'checked',
        counted: {
          ...{ sentEvents: 25, pendingEvents: 0, beforeJournal: 0, flights: 6 },
          journalLines: told.msg.length + told.schd.length,
        },
      });
    }
  });

  it('misses an event that was never told', async () => {
    const at = told.msg.findIndex((record) => record.key === '810002' && versionOf(record) === 3);
    const target = await copy({ msg: told.msg.toSpliced(at, 1) });
    const finding = await audited(target);
    expect(finding).toMatchObject({
      answer: 'broken',
      notes: [expect.stringMatching(/^event \d+ of flight 810002, version 3, is SENT but not in the topics/)],
    });
    // Told late it is out of order; told twice it would not be.
    await append(target, [told.msg[at]!]);
    expect(await audited(target)).toMatchObject({
      answer: 'broken',
      notes: [expect.stringMatching(/^flight 810002: version 3 first delivered after 4/)],
    });
    expect(await audited(await copy({ msg: [...told.msg, told.msg[at]!] }))).toMatchObject({
      answer: 'checked',
    });
  });

  it('sees first deliveries in a wrong order', async () => {
    const [first, second] = [1, 2].map((version) =>
      told.msg.findIndex((record) => record.key === '810004' && versionOf(record) === version),
    ) as [number, number];
    const swapped = told.msg.with(first, told.msg[second]!).with(second, told.msg[first]!);
    expect(await audited(await copy({ msg: swapped }))).toMatchObject({
      answer: 'broken',
      notes: ['flight 810004: version 1 first delivered after 2'],
    });
  });

  it('sees last states that are not the stored ones, missing ones, and deleted flights that live', async () => {
    const of = (flid: string) => told.schd.findLast(({ key, value }) => key === flid && value !== null)!;
    const wrong = 'the last state told is not version';
    const cases: readonly [string, readonly SinkRecord[]][] = [
      ['an older version', [...told.schd, changed(of('810001'), { stateVersion: 2 })]],
      ['another content', [...told.schd, changed(of('810001'), { flight: { flid: '810001' } })]],
      ['no JSON of ours', [...told.schd, { ...of('810001'), value: '"x"' }]],
      ['a tombstone', [...told.schd, { ...of('810001'), value: null }]],
      ['nothing', told.schd.filter(({ key }) => key !== '810001')],
    ];
    for (const [what, schd] of cases) {
      const { answer, notes } = await audited(await copy({ schd }));
      expect({ what, answer, notes }).toEqual({
        what,
        answer: 'broken',
        notes: [`flight 810001: ${wrong} 4 as stored`],
      });
    }
    const resurrected = { ...of('810001'), key: '810006' };
    expect(await audited(await copy({ schd: [...told.schd, resurrected] }))).toMatchObject({
      answer: 'broken',
      notes: [`flight 810006: ${wrong} 5 as stored`],
    });
    // Compaction has forgotten the deleted flight and its tombstone.
    const compacted = told.schd.filter(({ key }) => key !== '810006');
    expect(await audited(await copy({ schd: compacted }))).toMatchObject({ answer: 'checked' });
  });

  it('reads nothing of aborted transactions, and waits for open ones', async () => {
    const target = await copy({});
    const producer = createProducer({
      ...clientOptions(target),
      transactionalId: `${target.transactionalId}-other`,
      timeout: 60_000,
    });
    const begin = () => producer.beginTransaction({ producerId: -1n, producerEpoch: -1 });
    const topic = target.topics.schd;
    const lies = (bytes: number) => ({
      topic,
      key: Buffer.from('810001'),
      value: Buffer.from(JSON.stringify({ stateVersion: 9, flight: null, lie: 'x'.repeat(bytes) })),
    });
    // Twice by one producer; and one so long that its end comes with a later fetch than its beginning.
    for (const count of [1, 1, 16]) {
      const transaction = await begin();
      for (let n = 0; n < count; n += 1)
        await transaction.send({ messages: [lies(count === 1 ? 10 : 600_000)] });
      await transaction.abort();
    }
    expect(await audited(target)).toMatchObject({ answer: 'checked', counted: { flights: 6 } });

    // What a producer commits between two aborts is told; of the second one nothing is in the topic but its marker.
    const newest = told.schd.findLast(({ key }) => key === '810001')!;
    const truth = { key: Buffer.from(newest.key), value: Buffer.from(newest.value ?? '') };
    const older = await copy({ schd: told.schd.filter((record) => record !== newest) });
    for (const [how, message] of [
      ['abort', lies(10)],
      ['commit', truth],
      ['abort', lies(2_000_000)],
    ] as const) {
      const transaction = await begin();
      const sent = transaction.send({ messages: [{ ...message, topic: older.topics.schd }] });
      if (message.value.length < 1_000_000) await sent;
      else await expect(sent, 'too large for the topic').rejects.toThrow();
      await transaction[how]();
    }
    expect(await audited(older)).toMatchObject({ answer: 'checked', counted: { flights: 6 } });

    const open = await begin();
    await open.send({ messages: [lies(10)] });
    const auditing = audited(target);
    expect(await Promise.race([auditing, sleep(1_000, 'still waiting')])).toBe('still waiting');
    await open.abort();
    expect(await auditing).toMatchObject({ answer: 'checked' });
    await producer.close(true);
  });

  it('leaves alone what is older than the oldest record of its partition', async () => {
    const target = await copy({});
    const places = await kafka.read(target.topics.msg);
    const partition = places.find(({ key }) => key === '810003')!.partition;
    const kept = places.filter((record) => record.partition === partition).at(-2)!;
    const admin = new Admin({ clientId: 'owner', bootstrapBrokers: [kafka.broker] });
    const partitions = [{ partition, offset: BigInt(kept.offset) }];
    await admin.deleteRecords({ topics: [{ name: target.topics.msg, partitions }] });
    await admin.close();
    const gone = places.filter(
      (record) => record.partition === partition && record.offset < kept.offset,
    ).length;
    expect(gone).toBeGreaterThan(2);
    expect(await audited(target)).toMatchObject({ answer: 'checked', counted: { beforeJournal: gone } });
    // An event that is younger than the oldest record is still missed.
    const last = told.msg.findLast(({ key }) => key === kept.key)!;
    const lost = await copy({ msg: told.msg.filter((record) => record !== last) });
    expect(await audited(lost)).toMatchObject({ answer: 'broken' });
  });

  it('says why it cannot check: no brokers, no topics, nothing in them', async () => {
    const target = await kafka.target({ partitions: PARTITIONS });
    expect(await audited({ ...target, brokers: ['127.0.0.1:1'], timeoutMs: 3_000 })).toMatchObject({
      answer: 'not-checkable',
      notes: [expect.stringMatching(/^the topics .* cannot be read: /)],
    });
    expect(await audited({})).toMatchObject({
      answer: 'not-checkable',
      notes: [expect.stringMatching(/none.msg and none.schd/)],
    });
    expect(await audited(target)).toMatchObject({
      answer: 'not-checkable',
      notes: [expect.stringMatching(/is empty$/)],
    });
  });
});
