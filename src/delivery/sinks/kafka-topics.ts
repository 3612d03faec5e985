/** The topics: created where missing, and checked for what would lose events. */
import type { Admin } from '@platformatic/kafka';
import { messageOf } from '../../runtime/outage.ts';
import { within } from './deadline.ts';
import { describe } from './kafka-errors.ts';
import { clientOptions, hasCode, type KafkaSinkOptions } from './kafka-options.ts';
import { TopicFault, partitionsChanged, topicVanished, type PartitionMemory } from './kafka-partitions.ts';

/** One line of a check, of the form that `msgx check` prints. */
export interface TopicCheck {
  readonly what: string;
  readonly result: 'ok' | 'warning' | 'failed';
  /** For ok what was found, else what to do. */
  readonly message: string;
}

/** Whether the brokers answer within the deadline. Never throws. */
export async function brokersAnswer(options: KafkaSinkOptions): Promise<boolean> {
  try {
    return await withAdmin(options, async (admin) => (await admin.metadata({ topics: [] })).brokers.size > 0);
  } catch {
    return false;
  }
}

/**
 * Creates the topics that are missing, with the brokers' own numbers of partitions and replicas; the one of the
 * states is compacted. Existing ones are left as they are.
 */
export async function createTopics(
  options: KafkaSinkOptions,
  shape: { readonly partitions?: number } = {},
): Promise<void> {
  await withAdmin(options, async (admin) => {
    const existing = new Set(await admin.listTopics());
    for (const [topic, policy] of policiesOf(options)) {
      if (!existing.has(topic)) await createTopic(admin, topic, policy, shape);
    }
    await settled(admin, options);
  });
}

/**
 * Makes the topics ready for a producer: creates those that this pipeline has never used, stores the numbers of
 * partitions at their first use, and gives them. Throws TopicFault where a topic used before is gone (it is not
 * for us to replace behind an operator's back, and what it held has to be sent again) or has another number.
 */
export async function prepareTopics(
  options: KafkaSinkOptions,
  memory: PartitionMemory,
): Promise<ReadonlyMap<string, number>> {
  return withAdmin(options, async (admin) => {
    const existing = new Set(await admin.listTopics());
    for (const [topic, policy] of policiesOf(options)) {
      if (existing.has(topic)) continue;
      const stored = await memory.stored(topic);
      if (stored !== null) throw new TopicFault(topicVanished(topic, stored));
      await createTopic(admin, topic, policy);
    }
    const counts = await settled(admin, options);
    for (const [topic, found] of counts) {
      const stored = await memory.fix(topic, found);
      if (stored !== found) throw new TopicFault(partitionsChanged(topic, stored, found));
    }
    return counts;
  });
}

/** The numbers of partitions of the topics that exist. Throws where the brokers do not answer. */
export async function countPartitions(options: KafkaSinkOptions): Promise<ReadonlyMap<string, number>> {
  return withAdmin(options, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const topics = Object.values(options.topics).filter((topic) => existing.has(topic));
    return topics.length === 0 ? new Map() : countsOf(await admin.metadata({ topics }));
  });
}

/** Numbers of partitions in the metadata of a client. */
export function countsOf(metadata: {
  readonly topics: ReadonlyMap<string, { readonly partitionsCount: number }>;
}): ReadonlyMap<string, number> {
  return new Map([...metadata.topics].map(([topic, { partitionsCount }]) => [topic, partitionsCount]));
}

function policiesOf({ topics }: KafkaSinkOptions): readonly (readonly [string, 'delete' | 'compact'])[] {
  return [
    [topics.msg, 'delete'],
    [topics.schd, 'compact'],
  ];
}

async function createTopic(
  admin: Admin,
  topic: string,
  policy: 'delete' | 'compact',
  shape: { readonly partitions?: number } = {},
): Promise<void> {
  try {
    const configs = [{ name: 'cleanup.policy', value: policy }];
    await admin.createTopics({ topics: [topic], configs, ...shape });
  } catch (error) {
    if (!hasCode(error, 'TOPIC_ALREADY_EXISTS')) throw error;
  }
}

/** The brokers learn of a new topic one after the other. */
async function settled(admin: Admin, { topics }: KafkaSinkOptions): Promise<ReadonlyMap<string, number>> {
  return countsOf(await admin.metadata({ topics: [topics.msg, topics.schd], retries: 20 }));
}

/**
 * Checks the topics; a line for each. Never throws.
 *
 * @param stored numbers of partitions at the first start, by topic; a topic never used has none
 */
export async function checkTopics(
  options: KafkaSinkOptions,
  stored: ReadonlyMap<string, number> = new Map(),
): Promise<readonly TopicCheck[]> {
  const { msg, schd } = options.topics;
  try {
    return await withAdmin(options, async (admin) => {
      const existing = new Set(await admin.listTopics());
      const check = (stream: 'msg' | 'schd', topic: string) =>
        checkTopic(admin, existing, stream, topic, stored.get(topic) ?? null);
      return [await check('msg', msg), await check('schd', schd)];
    });
  } catch (error) {
    return [
      {
        what: 'delivery',
        result: 'failed',
        message: `Kafka at ${options.brokers.join(', ')}: ${describe(error)}`,
      },
    ];
  }
}

async function checkTopic(
  admin: Admin,
  existing: ReadonlySet<string>,
  stream: 'msg' | 'schd',
  topic: string,
  stored: number | null,
): Promise<TopicCheck> {
  const what = `topic ${topic}`;
  if (!existing.has(topic)) {
    if (stored !== null) return { what, result: 'failed', message: topicVanished(topic, stored) };
    const kind = stream === 'schd' ? 'compacted, ' : '';
    return {
      what,
      result: 'warning',
      message: `missing: will be created, ${kind}with the brokers' defaults`,
    };
  }
  const { topics } = await admin.metadata({ topics: [topic] });
  const count = topics.get(topic)?.partitionsCount ?? 0;
  if (stored !== null && stored !== count) {
    return { what, result: 'failed', message: partitionsChanged(topic, stored, count) };
  }
  const partitions = `${String(count)} partitions`;
  let policies: readonly string[];
  try {
    policies = await cleanupPolicies(admin, topic);
  } catch (error) {
    return {
      what,
      result: 'warning',
      message: `${partitions}; cleanup.policy cannot be read: ${messageOf(error)}`,
    };
  }
  const found = `${partitions}, cleanup.policy=${policies.join(',')}`;
  const compacted = policies.includes('compact');
  if (stream === 'msg') {
    return compacted
      ? { what, result: 'failed', message: `${found}: compaction drops changes; set cleanup.policy=delete` }
      : { what, result: 'ok', message: found };
  }
  if (!compacted) {
    return { what, result: 'failed', message: `${found}: states would expire; set cleanup.policy=compact` };
  }
  return policies.includes('delete')
    ? {
        what,
        result: 'warning',
        message: `${found}: states older than retention.ms expire; set cleanup.policy=compact`,
      }
    : { what, result: 'ok', message: found };
}

async function cleanupPolicies(admin: Admin, topic: string): Promise<readonly string[]> {
  const { ConfigResourceTypes } = await import('@platformatic/kafka');
  const [described] = await admin.describeConfigs({
    resources: [
      { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic, configurationKeys: ['cleanup.policy'] },
    ],
  });
  const policy = described?.configs.find(({ name }) => name === 'cleanup.policy')?.value ?? '';
  return policy.split(',').map((name) => name.trim());
}

/** A connection of its own for one question, within the deadline of a send. */
async function withAdmin<T>(options: KafkaSinkOptions, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const library = await import('@platformatic/kafka');
  const admin = new library.Admin({ ...clientOptions(options), retries: 0 });
  try {
    return await within(options.timeoutMs, ask(admin));
  } finally {
    const sockets = [...admin.connections].map(
      ([, { socket }]) => socket as { destroy(): unknown } | undefined,
    );
    admin.close().catch(() => undefined);
    for (const socket of sockets) socket?.destroy();
  }
}
