/**
 * Apache Kafka itself, one broker in KRaft mode, for tests and for trying things out: the artifacts come from
 * Maven into `.msgx/kafka`, the JVM is the one in PATH. `npm run kafka:start [-- --port 9092 --data DIRECTORY]`
 * runs it until Ctrl-C.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Admin } from '@platformatic/kafka';

const run = promisify(execFile);

const VERSION = '4.0.0';
const HOME = resolve(import.meta.dirname, '..', '.msgx', 'kafka');
const READY_MS = 90_000;
const STOP_MS = 20_000;
/** A stable identity lets a data directory be opened again. */
const CLUSTER_ID = 'bXNneC1rYWZrYS10ZXN0cw';

/** A further listener of the broker beside the plain one. */
export interface Listener {
  /** Upper-case name, unique. */
  readonly name: string;
  readonly port: number;
  /** Port that clients are told; a proxy's, for example. Default `port`. */
  readonly advertisedPort?: number;
  readonly protocol: 'PLAINTEXT' | 'SASL_SSL' | 'SASL_PLAINTEXT' | 'SSL';
}

export interface KafkaOptions {
  /** Port of the plain listener on 127.0.0.1; the controller takes `controllerPort`. */
  readonly port: number;
  readonly controllerPort: number;
  /** Configuration, log segments and the broker's log; kept. */
  readonly directory: string;
  readonly listeners?: readonly Listener[];
  /** Further lines of server.properties. */
  readonly settings?: Readonly<Record<string, string>>;
  /** SCRAM users of a directory's first start: `SCRAM-SHA-256=[name=…,password=…]`. */
  readonly scram?: readonly string[];
}

export interface Kafka {
  /** host:port of the plain listener. */
  readonly broker: string;
  readonly pid: number;
  /** Ends when the broker does. */
  readonly exited: Promise<void>;
  /** Shuts down cleanly. */
  stop(): Promise<void>;
  /** Kill -9. */
  kill(): Promise<void>;
}

/** Class path of the broker; fetches it with Maven the first time. Throws an Error that says what is missing. */
export async function resolveKafka(): Promise<string> {
  const directory = join(HOME, VERSION);
  if (!existsSync(directory)) {
    await mkdir(HOME, { recursive: true });
    const building = await mkdtemp(join(HOME, 'fetching-'));
    try {
      await writeFile(join(building, 'pom.xml'), pom());
      const target = join(building, 'libs');
      const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${target}`];
      await run('mvn', ['-q', '-B', '-f', join(building, 'pom.xml'), ...goal], { timeout: 280_000 });
      // Whole or not there, also where two processes fetch at once.
      await rename(target, directory).catch((error: unknown) => {
        if (!existsSync(directory)) throw error;
      });
    } finally {
      await rm(building, { recursive: true, force: true });
    }
  }
  return join(directory, '*');
}

function pom(): string {
  const dependency = (group: string, artifact: string, version: string) =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  return `<project><modelVersion>4.0.0</modelVersion>
<groupId>msgx</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${dependency('org.apache.kafka', 'kafka_2.13', VERSION)}${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}</dependencies>
</project>`;
}

/** Starts a broker and waits until it answers. It ends with this process at the latest. */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const classPath = await resolveKafka();
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true });
  const properties = join(directory, 'server.properties');
  await writeFile(properties, serverProperties(options, directory));
  if (!existsSync(join(directory, 'data', 'meta.properties'))) {
    const scram = (options.scram ?? []).flatMap((user) => ['--add-scram', user]);
    const format = ['format', '-t', CLUSTER_ID, '-c', properties, ...scram];
    await run('java', [...jvm(classPath), 'kafka.tools.StorageTool', ...format]);
  }
  const logFile = join(directory, 'broker.log');
  const log = openSync(logFile, 'a');
  const child = spawn('java', [...jvm(classPath), 'kafka.Kafka', properties], {
    stdio: ['ignore', log, log],
    // Ctrl-C reaches us alone, so that we stop the broker and wait for it.
    detached: true,
  });
  closeSync(log);
  const killWithUs = () => child.kill('SIGKILL');
  // Its input ends with us however we end, also by kill -9, where no hook of ours runs.
  const guard = spawn('sh', ['-c', 'cat >/dev/null; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const exited = once(child, 'exit').then(() => {
    guard.kill('SIGKILL');
  });
  const broker = `127.0.0.1:${String(options.port)}`;
  try {
    await ready(broker, child);
  } catch (error) {
    child.kill('SIGKILL');
    const tail = (await readFile(logFile, 'utf8')).split('\n').slice(-15).join('\n');
    throw new Error(`Kafka did not start: ${String(error)}\n${tail}`, { cause: error });
  }
  return {
    broker,
    pid: child.pid ?? 0,
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(killWithUs, STOP_MS);
      await exited;
      clearTimeout(timer);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function jvm(classPath: string): string[] {
  const logging = [
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-Dorg.slf4j.simpleLogger.showDateTime=true',
  ];
  return [
    '-Xms128m',
    '-Xmx512m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    ...logging,
    '-cp',
    classPath,
  ];
}

function serverProperties(options: KafkaOptions, directory: string): string {
  const plain: Listener = { name: 'PLAIN', port: options.port, protocol: 'PLAINTEXT' };
  const all = [plain, ...(options.listeners ?? [])];
  const at = (name: string, port: number) => `${name}://127.0.0.1:${String(port)}`;
  const settings: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${String(options.controllerPort)}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAIN',
    listeners: [
      ...all.map(({ name, port }) => at(name, port)),
      at('CONTROLLER', options.controllerPort),
    ].join(','),
    'advertised.listeners': all
      .map(({ name, port, advertisedPort }) => at(name, advertisedPort ?? port))
      .join(','),
    'listener.security.protocol.map': [
      'CONTROLLER:PLAINTEXT',
      ...all.map(({ name, protocol }) => `${name}:${protocol}`),
    ].join(','),
    'log.dirs': join(directory, 'data'),
    'auto.create.topics.enable': 'false',
    'num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    ...options.settings,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** Waits until the broker has registered itself and answers. */
async function ready(broker: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the process has ended');
    const admin = new Admin({
      clientId: 'msgx-ready',
      bootstrapBrokers: [broker],
      retries: 0,
      connectTimeout: 2_000,
      requestTimeout: 2_000,
    });
    try {
      const { brokers } = await admin.metadata({ topics: [] });
      if (brokers.size > 0) return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    } finally {
      await admin.close();
    }
    if (performance.now() > deadline) throw new Error(`no answer within ${String(READY_MS)} ms`);
    await sleep(100);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '9092' },
      data: { type: 'string', default: join(HOME, 'data') },
    },
  });
  const port = Number(values.port);
  const kafka = await startKafka({ port, controllerPort: port + 1, directory: values.data });
  console.log(`Apache Kafka ${VERSION} on ${kafka.broker}, data in ${values.data}; Ctrl-C stops it`);
  const stop = () => void kafka.stop();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  await kafka.exited;
  console.log('stopped; the data is kept');
}
