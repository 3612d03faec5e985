/**
 * One producer of a transactional id, from its fencing of all earlier ones to its first failure. It is never
 * repaired: after any failure the numbering of its batches and the state of its transaction are uncertain, and
 * only a new one begins from what the broker knows.
 */
import { failpoint } from '#failpoint';
import type { MessageToProduce, Producer } from '@platformatic/kafka';
import type { SinkRecord, Stream } from '../port.ts';
import { clientOptions, hasCode, type KafkaSinkOptions } from './kafka-options.ts';
import { TopicFault, partitionsChanged } from './kafka-partitions.ts';
import { countsOf } from './kafka-topics.ts';

/**
 * Most bytes of one request, except for a single larger record. The broker's limit of a batch is 1 MiB unless
 * configured otherwise; a batch above it would be refused for no record's fault.
 */
const REQUEST_BYTES = 512 * 1024;
/** Length of a record beside key, value and headers, at most. */
const RECORD_OVERHEAD = 64;
/**
 * How long the broker keeps an open transaction of ours, ms: longer than a hiccup, so that it does not fence us
 * while we are alive, and short, because readers wait for it.
 */
const TRANSACTION_MS = { least: 10_000, most: 60_000 };

/**
 * Retries of one batch, at rests of 250 ms: enough for a change of leader; a longer outage is handed to the
 * station, which pauses, says so, and can be stopped meanwhile.
 */
const MOST_RETRIES = 8;

type Transaction = Awaited<ReturnType<Producer['beginTransaction']>>;

export class KafkaClient {
  readonly #options: KafkaSinkOptions;
  readonly #producer: Producer;
  /** What the topics must have. */
  readonly #partitions: ReadonlyMap<string, number>;
  readonly #failing = Promise.withResolvers<never>();
  #transaction: Transaction | null = null;
  #retries = 0;
  #lastError: Error | null = null;

  private constructor(
    options: KafkaSinkOptions,
    partitions: ReadonlyMap<string, number>,
    create: (onRetry: (error: Error) => void) => Producer,
  ) {
    this.#options = options;
    this.#partitions = partitions;
    this.#producer = create((error) => this.#onRetry(error));
    this.#failing.promise.catch(() => undefined);
  }

  /**
   * Loads the library and makes a client; nothing is connected yet. `partitions` are the numbers that the topics must
   * keep.
   */
  static async create(
    options: KafkaSinkOptions,
    partitions: ReadonlyMap<string, number>,
  ): Promise<KafkaClient> {
    const { createProducer } = await import('./kafka-producer.ts');
    return new KafkaClient(options, partitions, (onRetry) =>
      createProducer({
        ...clientOptions(options, onRetry),
        transactionalId: options.transactionalId,
        timeout: Math.min(Math.max(options.timeoutMs, TRANSACTION_MS.least), TRANSACTION_MS.most),
      }),
    );
  }

  /** What stood in the way most recently, or null. */
  get lastError(): Error | null {
    return this.#lastError;
  }

  /**
   * Takes the transactional id over: the broker fences every earlier producer of it and ends their transactions,
   * aborting those without a commit. Only then is the lease asked: whoever takes it later fences us.
   */
  async open(): Promise<void> {
    const { confirmActive } = this.#options;
    await this.#unlessFailing(this.#producer.metadata({ topics: [...this.#partitions.keys()] }));
    this.#transaction = await this.#unlessFailing(this.#begin());
    await confirmActive?.();
  }

  /** Sends a batch as one transaction; it is durable and visible when this returns. */
  async deliver(records: readonly SinkRecord[]): Promise<void> {
    await this.#unlessFailing(this.#deliver(records));
    this.#retries = 0;
    this.#lastError = null;
  }

  async #deliver(records: readonly SinkRecord[]): Promise<void> {
    const transaction = this.#transaction ?? (await this.#begin());
    this.#transaction = transaction;
    // Asked while the records are on their way: a topic may have been changed or made anew since the batch before, and
    // the client's own picture of it is minutes old. Without the commit nobody reads them.
    const unchanged = this.#confirmPartitions();
    unchanged.catch(() => undefined);
    // One request after the other: in order, and at most one is in flight.
    for (const messages of requestsOf(records, this.#options.topics)) await transaction.send({ messages });
    await unchanged;
    failpoint('kafka.produced');
    await transaction.commit();
    failpoint('kafka.committed');
    this.#transaction = null;
  }

  async #confirmPartitions(): Promise<void> {
    const found = countsOf(
      await this.#producer.metadata({ topics: [...this.#partitions.keys()], forceUpdate: true }),
    );
    for (const [topic, stored] of this.#partitions) {
      const count = found.get(topic) ?? 0;
      if (count !== stored) throw new TopicFault(partitionsChanged(topic, stored, count));
    }
  }

  /** Ends an open transaction, so that readers need not wait for the broker to do it. */
  async abort(): Promise<void> {
    await this.#transaction?.abort();
  }

  /** Drops all connections at once, also those that do not answer. What is underway ends with an error. */
  destroy(): void {
    const sockets = [...this.#producer.connections].map(([, connection]) => connection.socket as Socket);
    this.#producer.close(true).catch(() => undefined);
    for (const socket of sockets) socket?.destroy();
  }

  #onRetry(error: Error): void {
    this.#lastError = error;
    if (hasCode(error, 'CONCURRENT_TRANSACTIONS')) return;
    this.#retries += 1;
    if (this.#retries > MOST_RETRIES) this.#failing.reject(error);
  }

  #unlessFailing<T>(work: Promise<T>): Promise<T> {
    // Where retrying has been given up, nobody hears how the work ends.
    work.catch(() => undefined);
    return Promise.race([work, this.#failing.promise]);
  }

  /**
   * -1 for both asks for a new epoch whatever it was before. The library's default of 0 claims to be a certain
   * earlier producer, and the broker answers PRODUCER_FENCED as soon as that is not so.
   */
  #begin(): Promise<Transaction> {
    return this.#producer.beginTransaction({ producerId: -1n, producerEpoch: -1 });
  }
}

/** A connection that is not yet attempted has none. */
type Socket = { destroy(): unknown } | undefined;

/** The records in their order, cut into requests. */
function* requestsOf(
  records: readonly SinkRecord[],
  topics: Readonly<Record<Stream, string>>,
): Generator<MessageToProduce[]> {
  let messages: MessageToProduce[] = [];
  let bytes = 0;
  for (const record of records) {
    const { message, length } = messageOf(record, topics[record.stream]);
    if (messages.length > 0 && bytes + length > REQUEST_BYTES) {
      yield messages;
      messages = [];
      bytes = 0;
    }
    messages.push(message);
    bytes += length;
  }
  if (messages.length > 0) yield messages;
}

function messageOf(
  record: SinkRecord,
  topic: string,
): { readonly message: MessageToProduce; readonly length: number } {
  const key = Buffer.from(record.key);
  // Without a value the record is written with a length of -1, which is null on the wire.
  const value = record.value === null ? null : Buffer.from(record.value);
  const headers = new Map(
    Object.entries(record.headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
  );
  let length = RECORD_OVERHEAD + key.length + (value?.length ?? 0);
  for (const [name, text] of headers) length += name.length + text.length + 10;
  return { message: { topic, key, headers, ...(value === null ? {} : { value }) }, length };
}
