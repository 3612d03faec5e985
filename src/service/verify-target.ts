/** What `msgx verify` reads as the target of events: the journal, or the topics. */
import type { Config } from '../config/schema.ts';
import { describe } from '../delivery/sinks/kafka-errors.ts';
import { KafkaReader, type ReadRecord } from '../delivery/sinks/kafka-reader.ts';
import { journalTarget } from '../upkeep/verify/journal.ts';
import {
  TargetUnreadable,
  type Target,
  type TargetReader,
  type TargetRecord,
} from '../upkeep/verify/target.ts';
import { kafkaOptionsOf, topicsOf } from './sink.ts';

/** Newest offsets of a partition that say where it stands; a transaction's marker takes one, too. */
const TAIL_OFFSETS = 64n;
/** Deadline of each answer while a start waits for it, ms. */
const TAIL_TIMEOUT_MS = 3_000;

/** The target that the configuration names. Nothing is opened yet. */
export function verifyTargetOf(config: Config): Target {
  switch (config.delivery.target) {
    case 'journal':
      return journalTarget(config.delivery.journal.dir);
    case 'kafka':
      return kafkaTarget(config);
  }
}

function kafkaTarget(config: Config): Target {
  const { msg, schd } = topicsOf(config);
  return {
    name: `the topics ${msg} and ${schd}`,
    missing: `the topics ${msg} and ${schd} are not both there`,
    open: () => readerOf(KafkaReader.open(kafkaOptionsOf(config))),
    openTail: () => {
      const options = kafkaOptionsOf(config);
      const timeoutMs = Math.min(options.timeoutMs, TAIL_TIMEOUT_MS);
      return readerOf(KafkaReader.open({ ...options, timeoutMs }, TAIL_OFFSETS));
    },
  };
}

async function readerOf(opening: Promise<KafkaReader | null>): Promise<TargetReader | null> {
  const reader = await opening.catch(unreadable);
  if (reader === null) return null;
  return {
    partitions: (stream) =>
      reader.partitions(stream).map((partition) => ({
        trimmed: partition.trimmed,
        records: () => parsed(partition.records()),
      })),
    partitionOf: (stream, key) => reader.partitionOf(stream, key),
    close: () => reader.close(),
  };
}

async function* parsed(records: AsyncIterable<ReadRecord>): AsyncGenerator<TargetRecord> {
  try {
    for await (const { key, value, headers } of records)
      yield { key, value: value === null ? null : objectIn(value), headers };
  } catch (error) {
    unreadable(error);
  }
}

/** What is no JSON object is none of ours: an empty one, which agrees with nothing. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function unreadable(error: unknown): never {
  throw new TargetUnreadable(describe(error), { cause: error });
}
