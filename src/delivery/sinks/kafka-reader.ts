/**
 * Reads both topics as a consumer with read_committed does, partition by partition, and as a member of no group: the
 * brokers keep nothing of it. For the audit.
 */
import type { Consumer } from '@platformatic/kafka';
import type { Stream } from '../port.ts';
import { within } from './deadline.ts';
import { CommittedBatches, lastOffsetOf, type Batch } from './kafka-committed.ts';
import { clientOptions, type KafkaSinkOptions } from './kafka-options.ts';
import { countPartitions } from './kafka-topics.ts';

/** Bytes of one fetch: what is in memory at a time. */
const FETCH_BYTES = 4 * 1024 * 1024;
/** How long a broker may wait for something to fetch, ms. */
const FETCH_WAIT_MS = 250;
/** Pause between two looks whether transactions have ended, ms. */
const STABLE_PAUSE_MS = 100;
/** How long they may take, ms: the broker ends those that nobody ends within a minute. */
const STABLE_MS = 90_000;

/** A record as a consumer gets it. */
export interface ReadRecord {
  readonly key: string;
  /** Null is a tombstone. */
  readonly value: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** One partition, from its oldest record to the end that it had when the reader was opened. */
export interface ReadPartition {
  /** Whether records have been removed from its beginning. */
  readonly trimmed: boolean;
  records(): AsyncIterable<ReadRecord>;
}

interface Range {
  readonly topicId: string;
  readonly partition: number;
  readonly leader: number;
  readonly start: bigint;
  readonly end: bigint;
}

export class KafkaReader {
  readonly #options: KafkaSinkOptions;
  readonly #consumer: Consumer;
  readonly #partitionOf: (key: Buffer) => number;
  #ranges: ReadonlyMap<string, readonly Range[]> = new Map();

  private constructor(options: KafkaSinkOptions, consumer: Consumer, partitionOf: (key: Buffer) => number) {
    this.#options = options;
    this.#consumer = consumer;
    this.#partitionOf = partitionOf;
  }

  /**
   * Takes the ends of both topics; null where one does not exist. Throws where the brokers do not answer in time.
   *
   * @param tail the newest offsets of each partition alone, up to where transactions have ended
   */
  static async open(options: KafkaSinkOptions, tail?: bigint): Promise<KafkaReader | null> {
    const topics = Object.values(options.topics);
    const counts = await countPartitions(options);
    if (!topics.every((topic) => counts.has(topic))) return null;
    const library = await import('@platformatic/kafka');
    const consumer = new library.Consumer({ ...clientOptions(options), retries: 3, groupId: 'msgx-verify' });
    const reader = new KafkaReader(options, consumer, (key) =>
      library.compatibilityPartitioner({ topic: '' }, key),
    );
    try {
      await reader.#takeEnds(tail);
      return reader;
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** The partitions of a stream, by their numbers. */
  partitions(stream: Stream): readonly ReadPartition[] {
    return this.#rangesOf(stream).map((range) => ({
      trimmed: range.start > 0n,
      records: () => this.#read(range),
    }));
  }

  /** The partition of a key, as every producer with Kafka's default chooses it. */
  partitionOf(stream: Stream, key: string): number {
    return this.#partitionOf(Buffer.from(key)) % Math.max(1, this.#rangesOf(stream).length);
  }

  /** Drops all connections at once. */
  async close(): Promise<void> {
    const sockets = [...this.#consumer.connections].map(
      ([, { socket }]) => socket as { destroy(): unknown } | undefined,
    );
    this.#consumer.close(true).catch(() => undefined);
    for (const socket of sockets) socket?.destroy();
  }

  #rangesOf(stream: Stream): readonly Range[] {
    return this.#ranges.get(this.#options.topics[stream]) ?? [];
  }

  #ask<T>(question: Promise<T>): Promise<T> {
    return within(this.#options.timeoutMs, question);
  }

  async #takeEnds(tail?: bigint): Promise<void> {
    const consumer = this.#consumer;
    const { FetchIsolationLevels, ListOffsetTimestamps } = await import('@platformatic/kafka');
    const topics = Object.values(this.#options.topics);
    consumer.topics.trackAll(...topics);
    const metadata = await this.#ask(consumer.metadata({ topics }));
    const offsets = (timestamp: bigint, isolationLevel: number) =>
      this.#ask(consumer.listOffsets({ topics, timestamp, isolationLevel }));
    const isolation =
      tail === undefined ? FetchIsolationLevels.READ_UNCOMMITTED : FetchIsolationLevels.READ_COMMITTED;
    const ends = await offsets(ListOffsetTimestamps.LATEST, isolation);
    const starts = await offsets(ListOffsetTimestamps.EARLIEST, FetchIsolationLevels.READ_UNCOMMITTED);
    // Behind a transaction that is still open, readers see nothing, also not what others have committed since.
    const deadline = performance.now() + STABLE_MS;
    while (tail === undefined) {
      const stable = await offsets(ListOffsetTimestamps.LATEST, FetchIsolationLevels.READ_COMMITTED);
      const behind = topics.find((topic) =>
        (ends.get(topic) ?? []).some((end, partition) => (stable.get(topic)?.[partition] ?? 0n) < end),
      );
      if (behind === undefined) break;
      if (performance.now() > deadline) throw new Error(`a transaction in topic ${behind} does not end`);
      await new Promise((resolve) => setTimeout(resolve, STABLE_PAUSE_MS));
    }
    this.#ranges = new Map(
      topics.map((topic) => {
        const { id = '', partitions = [] } = metadata.topics.get(topic) ?? {};
        return [
          topic,
          (ends.get(topic) ?? []).map((end, partition) => {
            const oldest = starts.get(topic)?.[partition] ?? 0n;
            const start = tail === undefined || end - tail < oldest ? oldest : end - tail;
            return { topicId: id, partition, end, start, leader: partitions[partition]?.leader ?? -1 };
          }),
        ];
      }),
    );
  }

  async *#read(range: Range): AsyncGenerator<ReadRecord> {
    const committed = new CommittedBatches();
    let position = range.start;
    let silentSince = performance.now();
    // What lies before the end is decided; its marker may lie behind.
    while (position < range.end || (committed.undecided ?? range.end) < range.end) {
      const batches = await this.#fetch(range, position);
      if (batches.length === 0 && performance.now() - silentSince > this.#options.timeoutMs)
        throw new Error(
          `nothing comes from offset ${position.toString()} of partition ${String(range.partition)}`,
        );
      for (const batch of batches) {
        for (const ready of committed.add(batch)) yield* recordsOf(ready, range);
      }
      const last = batches.at(-1);
      if (last === undefined) continue;
      position = lastOffsetOf(last) + 1n;
      silentSince = performance.now();
    }
  }

  /** What lies from an offset on, of aborted and open transactions as well. */
  async #fetch({ topicId, partition, leader }: Range, fetchOffset: bigint): Promise<readonly Batch[]> {
    const { FetchIsolationLevels } = await import('@platformatic/kafka');
    const response = await this.#ask(
      this.#consumer.fetch({
        node: leader,
        isolationLevel: FetchIsolationLevels.READ_UNCOMMITTED,
        minBytes: 1,
        maxBytes: FETCH_BYTES,
        maxWaitTime: FETCH_WAIT_MS,
        topics: [
          {
            topicId,
            partitions: [
              {
                partition,
                fetchOffset,
                currentLeaderEpoch: -1,
                lastFetchedEpoch: -1,
                partitionMaxBytes: FETCH_BYTES,
              },
            ],
          },
        ],
      }),
    );
    const found = response.responses
      .filter((topic) => topic.topicId === topicId)
      .flatMap(({ partitions }) => partitions)
      .find(({ partitionIndex }) => partitionIndex === partition);
    return found?.records ?? [];
  }
}

function* recordsOf(batch: Batch, { start, end }: Range): Generator<ReadRecord> {
  for (const { offsetDelta, key, value, headers } of batch.records) {
    const offset = batch.firstOffset + BigInt(offsetDelta);
    if (offset < start || offset >= end) continue;
    yield {
      key: key?.toString('utf8') ?? '',
      value: value?.toString('utf8') ?? null,
      headers: Object.fromEntries(
        headers.flatMap(([name, text]) =>
          name === null || text === null ? [] : [[name.toString('utf8'), text.toString('utf8')]],
        ),
      ),
    };
  }
}
