/** Opens the sink that the configuration names. */
import type { Config } from '../config/schema.ts';
import type { Sink } from '../delivery/port.ts';
import { JournalSink } from '../delivery/sinks/journal.ts';
import { KafkaSink } from '../delivery/sinks/kafka.ts';
import { transactionalIdOf, type KafkaSinkOptions } from '../delivery/sinks/kafka-options.ts';
import type { PartitionMemory } from '../delivery/sinks/kafka-partitions.ts';

/** Topic names with the airport filled in (contract, `delivery.kafka.topic-*`). */
export function topicsOf(config: Config): { readonly msg: string; readonly schd: string } {
  const name = (topic: string) => topic.replaceAll('{airport}', config.airport);
  return { msg: name(config.delivery.kafka.topicMsg), schd: name(config.delivery.kafka.topicSchd) };
}

/** How the Kafka sink connects (contract, `delivery.kafka.*`). */
export function kafkaOptionsOf(config: Config): KafkaSinkOptions {
  const { kafka, timeoutMs } = config.delivery;
  const { mechanism, username, password } = kafka.sasl;
  const topics = topicsOf(config);
  return {
    brokers: kafka.brokers,
    topics,
    transactionalId: transactionalIdOf({
      schema: config.database.schema,
      airport: config.airport,
      topic: topics.msg,
    }),
    timeoutMs,
    tls: kafka.tls ? {} : null,
    // The configuration requires both with a mechanism.
    sasl: mechanism === 'none' ? null : { mechanism, username: username ?? '', password: password ?? '' },
  };
}

/** What the sink asks of the instance that opens it; a tool has none of it. */
export interface SinkOwner {
  /** Throws LostLease where this instance is not the active one any more. */
  readonly confirmActive?: () => Promise<void>;
  /** The numbers of partitions that must not change. */
  readonly partitions?: PartitionMemory;
}

/** Opens the sink; nothing is connected before the first send. */
export function openSink(config: Config, owner: SinkOwner = {}): Sink {
  switch (config.delivery.target) {
    case 'journal':
      return new JournalSink({
        directory: config.delivery.journal.dir,
        topics: topicsOf(config),
        timeoutMs: config.delivery.timeoutMs,
      });
    case 'kafka':
      return new KafkaSink({ ...kafkaOptionsOf(config), ...owner });
  }
}
