/**
 * Apache Kafka for tests: a broker per test file, its topics, and kcat as a consumer that shares no code with
 * ours. Where Java, Maven's artifacts or kcat are missing, tests are skipped with the reason, or fail under
 * MSGX_TEST_REQUIRE=kafka.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Admin, Connection, listTransactionsV1 } from '@platformatic/kafka';
import { resolveKafka, startKafka, type Kafka, type KafkaOptions } from '../../scripts/kafka.ts';
import type { Stream } from '../../src/delivery/port.ts';
import { KafkaSink } from '../../src/delivery/sinks/kafka.ts';
import type { KafkaSinkOptions } from '../../src/delivery/sinks/kafka-options.ts';
import { createTopics } from '../../src/delivery/sinks/kafka-topics.ts';
import { startProxy, type Register, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const required = (process.env['MSGX_TEST_REQUIRE'] ?? '').split(',').includes('kafka');

/** Why Kafka is missing, or null. Use as `describe.skipIf(kafkaMissing !== null)`. */
export const kafkaMissing: string | null = await findOut();
if (kafkaMissing !== null && required) throw new Error(`Kafka is required: ${kafkaMissing}`);

async function findOut(): Promise<string | null> {
  try {
    await run('java', ['-version']);
    await run('kcat', ['-V']);
    await resolveKafka();
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? 'unknown') : String(error);
  }
}

/** Ports that are free now, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** A record as kcat prints it. */
export interface ConsumedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where the value is null on the wire. */
  readonly payload: string | null;
  /** Time of the record, ms since 1970: the producer's or the broker's, as its topic is configured. */
  readonly at: number;
}

export class TestKafka {
  readonly #directory: string;
  readonly #options: KafkaOptions;
  readonly #proxied: { readonly port: number; readonly advertisedPort: number };
  readonly #kept: boolean;
  #kafka: Kafka;

  private constructor(
    kafka: Kafka,
    options: KafkaOptions,
    proxied: { readonly port: number; readonly advertisedPort: number },
    kept: boolean,
  ) {
    this.#kept = kept;
    this.#kafka = kafka;
    this.#options = options;
    this.#proxied = proxied;
    this.#directory = options.directory;
  }

  /** Starts a broker with a data directory of its own, or in the given one, which is kept; `dispose` it. */
  static async start(
    further: Pick<KafkaOptions, 'settings' | 'listeners' | 'scram'> & { readonly directory?: string } = {},
  ): Promise<TestKafka> {
    const [port = 0, controllerPort = 0, behind = 0, proxy = 0] = await freePorts(4);
    const proxied = { port: behind, advertisedPort: proxy };
    const options: KafkaOptions = {
      ...further,
      port,
      controllerPort,
      directory: further.directory ?? (await mkdtemp(join(tmpdir(), 'msgx-kafka-'))),
      listeners: [...(further.listeners ?? []), { name: 'PROXIED', protocol: 'PLAINTEXT', ...proxied }],
    };
    const test = new TestKafka(await startKafka(options), options, proxied, further.directory !== undefined);
    await test.#warmUp();
    return test;
  }

  /** The first transaction of a new broker makes its topic of transactions, which takes seconds. */
  async #warmUp(): Promise<void> {
    const target = await this.target();
    const sink = new KafkaSink({ ...target, timeoutMs: 60_000 });
    await sink.send([{ stream: 'msg', key: 'warm', headers: {}, value: '{}' }]);
    await sink.close();
  }

  /** host:port. */
  get broker(): string {
    return this.#kafka.broker;
  }

  /** Kill -9; the data is kept. */
  async kill(): Promise<void> {
    await this.#kafka.kill();
  }

  /** Starts again on the same data and ports. */
  async restart(): Promise<void> {
    this.#kafka = await startKafka(this.#options);
  }

  async dispose(): Promise<void> {
    await this.#kafka.kill();
    if (!this.#kept) await rm(this.#directory, { recursive: true, force: true });
  }

  /** A proxy in front of the broker that clients never get around; stopped when the test ends. */
  async proxy(register?: Register): Promise<{ readonly proxy: TcpProxy; readonly broker: string }> {
    const proxy = await startProxy(
      { host: '127.0.0.1', port: this.#proxied.port },
      this.#proxied.advertisedPort,
      register,
    );
    return { proxy, broker: `127.0.0.1:${String(proxy.port)}` };
  }

  /** Options of a sink with topics and a transactional id of its own; the topics exist. */
  async target(options: { readonly partitions?: number } = {}): Promise<KafkaSinkOptions> {
    const name = randomBytes(4).toString('hex');
    const target: KafkaSinkOptions = {
      brokers: [this.broker],
      topics: { msg: `msg.${name}`, schd: `schd.${name}` },
      transactionalId: `test-${name}`,
      timeoutMs: 20_000,
    };
    await createTopics(target, options);
    return target;
  }

  /** Asks for a change of topics, as their owner does. */
  async #administer(change: (admin: Admin) => Promise<unknown>): Promise<void> {
    const admin = new Admin({ clientId: 'owner', bootstrapBrokers: [this.broker] });
    try {
      await change(admin);
    } finally {
      await admin.close();
    }
  }

  /** Deletes topics and waits until they are gone. */
  async deleteTopics(...topics: readonly string[]): Promise<void> {
    await this.#administer(async (admin) => {
      await admin.deleteTopics({ topics: [...topics] });
      await until('the topics to be gone', async () => {
        const left = new Set(await admin.listTopics());
        return topics.every((topic) => !left.has(topic)) ? true : null;
      });
    });
  }

  /** Creates a topic and waits until the broker serves it. */
  async createTopic(topic: string, partitions: number, policy: 'delete' | 'compact'): Promise<void> {
    await this.#administer(async (admin) => {
      const configs = [{ name: 'cleanup.policy', value: policy }];
      await admin.createTopics({ topics: [topic], partitions, configs });
      await admin.metadata({ topics: [topic], retries: 20 });
    });
  }

  /** Gives a topic more partitions. */
  async grow(topic: string, partitions: number): Promise<void> {
    await this.#administer(async (admin) => {
      const { topics, brokers } = await admin.metadata({ topics: [topic] });
      const further = partitions - (topics.get(topic)?.partitionsCount ?? 0);
      const assignments = Array.from({ length: further }, () => ({ brokerIds: [...brokers.keys()] }));
      await admin.createPartitions({ topics: [{ name: topic, count: partitions, assignments }] });
    });
  }

  /**
   * Waits until each transaction that has been decided shows: a producer is told of it once it is written down that it
   * will be committed, which is before a consumer can read it.
   */
  async #decided(): Promise<void> {
    const connection = new Connection('owner');
    await connection.connect('127.0.0.1', Number(this.broker.split(':')[1]));
    try {
      await until('transactions to end', async () => {
        const states = ['COMMITTING', 'ABORTING'] as const;
        const { transactionStates } = await listTransactionsV1.api.async(
          connection,
          [...states],
          [],
          -1n,
          null,
        );
        return transactionStates.length === 0 ? true : null;
      });
    } finally {
      await connection.close();
    }
  }

  /** Everything in a topic from its beginning, by partition and offset, as read by kcat. */
  async read(
    topic: string,
    isolation: 'read_committed' | 'read_uncommitted' = 'read_committed',
  ): Promise<readonly ConsumedRecord[]> {
    await this.#decided();
    const from = ['-b', this.broker, '-C', '-t', topic, '-o', 'beginning', '-e', '-q', '-J'];
    const { stdout } = await run('kcat', [...from, '-X', `isolation.level=${isolation}`], {
      maxBuffer: 256 * 1024 * 1024,
    });
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map(consumed)
      .toSorted((left, right) => left.partition - right.partition || left.offset - right.offset);
  }

  /** Keys and values of a stream's topic. */
  async values(target: KafkaSinkOptions, stream: Stream = 'msg'): Promise<readonly unknown[]> {
    const records = await this.read(target.topics[stream]);
    return records.map(({ payload }) => (payload === null ? null : (JSON.parse(payload) as unknown)));
  }

  /**
   * The producer epochs of a topic's batches as they lie on the broker's disk, per partition in offset order, also
   * of batches that were never committed; read by Kafka's own tool.
   */
  async producerEpochs(topic: string): Promise<readonly (readonly number[])[]> {
    const classPath = await resolveKafka();
    return Promise.all(
      (await this.#segments(topic)).map(async (files) => {
        const { stdout } = await run(
          'java',
          ['-cp', classPath, 'kafka.tools.DumpLogSegments', '--files', files.join(',')],
          { maxBuffer: 256 * 1024 * 1024 },
        );
        return [...stdout.matchAll(/^baseOffset: .* producerEpoch: (-?\d+) /gm)].map(([, epoch]) =>
          Number(epoch),
        );
      }),
    );
  }

  /** Whether every partition of a topic has been written to, committed or not. */
  async isWrittenEverywhere(topic: string): Promise<boolean> {
    const partitions = await this.#segments(topic);
    const sizes = await Promise.all(
      partitions.map(async (files) => Promise.all(files.map(async (file) => (await stat(file)).size))),
    );
    return sizes.length > 0 && sizes.every((each) => each.some((size) => size > 0));
  }

  /** The files of a topic on the broker's disk, per partition in offset order. */
  async #segments(topic: string): Promise<readonly (readonly string[])[]> {
    const data = join(this.#directory, 'data');
    const partitions = (await readdir(data)).filter((name) => name.replace(/-\d+$/, '') === topic);
    return Promise.all(
      partitions.map(async (partition) =>
        (await readdir(join(data, partition)))
          .filter((name) => name.endsWith('.log'))
          .sort()
          .map((name) => join(data, partition, name)),
      ),
    );
  }

  /** Has kcat write records, `key` and value alike, with librdkafka's own partitioner of this name. */
  async produce(topic: string, keys: readonly string[], partitioner: string): Promise<void> {
    const to = ['-b', this.broker, '-P', '-t', topic, '-K', '\t', '-X', `partitioner=${partitioner}`];
    const writing = run('kcat', to);
    writing.child.stdin?.end(keys.map((key) => `${key}\t${key}\n`).join(''));
    await writing;
  }
}

interface KcatRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  readonly payload: string | null;
  readonly ts: number;
}

function consumed(line: string): ConsumedRecord {
  const { partition, offset, key, headers: flat = [], payload, ts: at } = JSON.parse(line) as KcatRecord;
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? '';
  return { partition, offset, key, headers, payload, at };
}
