/** The topics: created where missing, and checked for what would lose events. */
import type { Admin } from '@platformatic/kafka';
import { messageOf } from '../../runtime/outage.ts';
import { within } from './deadline.ts';
import { describe } from './kafka-errors.ts';
import { clientOptions, hasCode, type KafkaSinkOptions } from './kafka-options.ts';

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
    const { msg, schd } = options.topics;
    for (const [topic, policy] of [
      [msg, 'delete'],
      [schd, 'compact'],
    ] as const) {
      if (existing.has(topic)) continue;
      try {
        const configs = [{ name: 'cleanup.policy', value: policy }];
        await admin.createTopics({ topics: [topic], configs, ...shape });
      } catch (error) {
        if (!hasCode(error, 'TOPIC_ALREADY_EXISTS')) throw error;
      }
    }
    // The brokers learn of a new topic one after the other.
    await admin.metadata({ topics: [msg, schd], retries: 20 });
  });
}

/** Checks the topics; a line for each. Never throws. */
export async function checkTopics(options: KafkaSinkOptions): Promise<readonly TopicCheck[]> {
  const { msg, schd } = options.topics;
  try {
    return await withAdmin(options, async (admin) => {
      const existing = new Set(await admin.listTopics());
      return [await checkTopic(admin, existing, 'msg', msg), await checkTopic(admin, existing, 'schd', schd)];
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
): Promise<TopicCheck> {
  const what = `topic ${topic}`;
  if (!existing.has(topic)) {
    const kind = stream === 'schd' ? 'compacted, ' : '';
    return {
      what,
      result: 'warning',
      message: `missing: will be created, ${kind}with the brokers' defaults`,
    };
  }
  const { topics } = await admin.metadata({ topics: [topic] });
  const partitions = `${String(topics.get(topic)?.partitionsCount ?? 0)} partitions`;
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
