/**
 * Events to Kafka (decisions.md, "One active instance", "Delivery"). A batch is one transaction of one producer,
 * accepted after its commit and not before, so that it counts as a whole or not at all. Any failure ends the
 * producer; the next batch begins with a new one, which has the broker fence the old. Nothing is connected
 * before the first batch, so that a standby fences nobody.
 *
 * Being fenced is an Outage, not a lost lease: the broker says the same when it has aborted a transaction that
 * took us too long. Who is active is told by the lease, which every new producer asks (`confirmActive`).
 */
import { LostLease, Outage } from '../../runtime/outage.ts';
import type { SendOutcome, Sink, SinkRecord } from '../port.ts';
import { DeadlinePassed, within } from './deadline.ts';
import { KafkaClient } from './kafka-client.ts';
import { describe, refusalOf } from './kafka-errors.ts';
import type { KafkaSinkOptions } from './kafka-options.ts';
import { TopicFault, partitionsInProcess, type PartitionMemory } from './kafka-partitions.ts';
import { brokersAnswer, prepareTopics } from './kafka-topics.ts';

/** Above it a record is refused here: a broker closes the connection on a request of 100 MB without a word. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;
/** For ending the transaction of a refused batch, ms. A new producer ends it too. */
const ABORT_MS = 1_000;

/** Set where the deadline has passed: nothing may come of what is still underway. */
interface Attempt {
  over: boolean;
}

export class KafkaSink implements Sink {
  readonly kind = 'kafka';
  readonly #options: KafkaSinkOptions;
  readonly #partitions: PartitionMemory;
  #client: KafkaClient | null = null;
  #closed = false;
  /** Rejected at the close: what is underway is given up. */
  readonly #closing = Promise.withResolvers<never>();
  /** Ends with the last batch begun: one transaction at a time. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: KafkaSinkOptions) {
    this.#options = options;
    this.#partitions = options.partitions ?? partitionsInProcess();
    this.#closing.promise.catch(() => undefined);
  }

  async send(records: readonly SinkRecord[]): Promise<SendOutcome> {
    if (this.#closed) throw closed();
    if (records.length === 0) return { outcome: 'accepted' };
    for (const record of records) {
      const fault = faultOf(record);
      if (fault !== null) return { outcome: 'refused', reason: fault };
    }
    const turn = this.#tail.then(() => this.#deliver(records));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async probe(): Promise<boolean> {
    return !this.#closed && (await brokersAnswer(this.#options));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.reject(closed());
    await this.#tail;
    this.#drop();
  }

  async #deliver(records: readonly SinkRecord[]): Promise<SendOutcome> {
    if (this.#closed) throw closed();
    const attempt: Attempt = { over: false };
    try {
      await within(
        this.#options.timeoutMs,
        Promise.race([this.#attempt(records, attempt), this.#closing.promise]),
      );
      return { outcome: 'accepted' };
    } catch (error) {
      attempt.over = true;
      const reason = refusalOf(error);
      const client = this.#client;
      // An abort that fails or hangs is made up for by the next producer; where a topic is at fault, that one may be
      // long in coming, and readers would wait for it.
      if ((reason !== null || error instanceof TopicFault) && client !== null)
        await within(ABORT_MS, client.abort()).catch(() => undefined);
      this.#drop();
      if (reason !== null) return { outcome: 'refused', reason: `the broker refused the batch: ${reason}` };
      if (error instanceof LostLease || error instanceof Outage) throw error;
      throw new Outage('delivery', new Error(explain(error, client), { cause: error }));
    }
  }

  async #attempt(records: readonly SinkRecord[], attempt: Attempt): Promise<void> {
    const client = this.#client ?? (await this.#begin(attempt));
    await client.deliver(records);
  }

  async #begin(attempt: Attempt): Promise<KafkaClient> {
    // Before each producer: the topics may have gone, changed, or been made anew since the one before.
    const partitions = await prepareTopics(this.#options, this.#partitions);
    const client = await KafkaClient.create(this.#options, partitions);
    // Behind its deadline an attempt must not begin a producer: the next batch has begun one.
    if (attempt.over) throw new DeadlinePassed('too late');
    this.#client = client;
    await client.open();
    return client;
  }

  #drop(): void {
    this.#client?.destroy();
    this.#client = null;
  }
}

function closed(): Outage {
  return new Outage('delivery', new Error('the sink is closed'));
}

function faultOf({ key, value }: SinkRecord): string | null {
  if (key === '') return 'the key is empty';
  if (value === '') return 'the value is empty: a tombstone is null';
  const bytes = value === null ? 0 : Buffer.byteLength(value);
  return bytes > MAX_RECORD_BYTES
    ? `the value has ${String(bytes)} bytes, more than ${String(MAX_RECORD_BYTES)}`
    : null;
}

/** A deadline alone says little: what the client was retrying says why. */
function explain(error: unknown, client: KafkaClient | null): string {
  const last = client?.lastError ?? null;
  return error instanceof DeadlinePassed && last !== null
    ? `${error.message}: ${describe(last)}`
    : describe(error);
}
