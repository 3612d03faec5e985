/** The numbers of partitions that must not change: kept in our database, compared with what the brokers say. */
import { acceptPartitions } from '../actions/republish.ts';
import type { ActionOutcome, Operator } from '../actions/outcome.ts';
import type { Config } from '../config/schema.ts';
import { describe } from '../delivery/sinks/kafka-errors.ts';
import { partitionsChanged, type PartitionMemory } from '../delivery/sinks/kafka-partitions.ts';
import { countPartitions } from '../delivery/sinks/kafka-topics.ts';
import type { Clock } from '../domain/clock.ts';
import type { Database } from '../store/database.ts';
import type { Fence } from '../store/transaction.ts';
import { fixPartitionCount, selectPartitionCounts } from '../store/partition-count.ts';
import { kafkaOptionsOf } from './sink.ts';

/** How long a start waits for the brokers, ms: one that cannot reach them goes on, and delivery says so. */
const START_MS = 5_000;

/** The memory of the active instance: only it stores. */
export function partitionMemory(database: Database, fence: Fence, clock: Clock): PartitionMemory {
  return {
    stored: async (topic) => (await selectPartitionCounts(database)).get(topic) ?? null,
    fix: (topic, partitions) =>
      database.transaction((tx) => fixPartitionCount(tx, topic, partitions, clock.now()), { fence }),
  };
}

/** Numbers as the brokers give them now, of the topics that exist. Throws where they do not answer. */
async function foundPartitions(config: Config): Promise<ReadonlyMap<string, number>> {
  const options = kafkaOptionsOf(config);
  return countPartitions({ ...options, timeoutMs: Math.min(options.timeoutMs, START_MS) });
}

/**
 * One line with the way out where a topic has another number of partitions than stored; null where none has, or
 * where the brokers do not answer. Throws Outage where our own database is not available.
 */
export async function changedPartitions(config: Config, database: Database): Promise<string | null> {
  if (config.delivery.target !== 'kafka') return null;
  const stored = await selectPartitionCounts(database);
  if (stored.size === 0) return null;
  const found = await foundPartitions(config).catch(() => new Map<string, number>());
  for (const [topic, count] of found) {
    const before = stored.get(topic);
    if (before !== undefined && before !== count) return partitionsChanged(topic, before, count);
  }
  return null;
}

/** An operator's wish to go on with the numbers of partitions that the topics have now. Throws Outage. */
export async function acceptFoundPartitions(
  config: Config,
  database: Database,
  operator: Operator,
): Promise<ActionOutcome> {
  if (config.delivery.target !== 'kafka') {
    return {
      outcome: 'refused',
      message: `delivery.target is ${config.delivery.target}: there are no partitions`,
    };
  }
  let found: ReadonlyMap<string, number>;
  try {
    found = await foundPartitions(config);
  } catch (error) {
    const brokers = config.delivery.kafka.brokers.join(', ');
    return { outcome: 'refused', message: `Kafka at ${brokers}: ${describe(error)}` };
  }
  return acceptPartitions(database, found, operator);
}
