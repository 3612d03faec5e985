/** The parts of a torture run: servers of its own that may be killed, in a folder that is kept until all is well. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '../../src/store/migrate.ts';
import { freePorts, TestKafka } from '../kit/kafka.ts';
import { startMariadb, type MariadbServer } from '../kit/mariadb.ts';
import { startOwnPostgres, type OwnPostgres } from '../kit/own-postgres.ts';
import { createPipeline, type Settings, type TestPipeline } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, through, type TcpProxy } from '../kit/tcp-proxy.ts';
import { SERVERS, type Link, type Server } from './schedule.ts';

/** What an instance reaches its servers through, a proxy each. */
export interface Wiring {
  readonly proxies: Readonly<Record<Link, TcpProxy>>;
  /** Over the pipeline's own: URLs that lead through the proxies. */
  readonly settings: Settings;
}

export interface Parts {
  readonly folder: string;
  readonly pipeline: TestPipeline;
  readonly mariadb: MariadbServer;
  /** Wirings of two instances. */
  readonly wirings: readonly [Wiring, Wiring];
  /** Kill -9, away for a while, and back. */
  killAndRestart(server: Server, downMs: number): Promise<void>;
  /** The pipeline with sessions of its own that no fault has touched. */
  reopen(): Promise<TestPipeline>;
  stop(): Promise<void>;
}

/** Small batches and short waits: faults find everything underway, and outages are noticed soon. */
const SETTINGS: Settings = {
  mailbox: { timeout: '2s' },
  pipeline: {
    'claim-batch': 50,
    'commit-batch': 20,
    'backfill-batch': 50,
    'max-commit-delay': '500ms',
    'max-hole-hold': '3s',
    'late-scan-interval': '1s',
  },
  delivery: { batch: 50, timeout: '4s' },
  schd: { 'flush-limit': 50 },
};

/** Starts the servers and prepares the pipeline. @param folder where everything is written */
export async function startParts(folder: string): Promise<Parts> {
  const [portA = 0, portB = 0, told = 0, toldB = 0] = await freePorts(4);
  const directories = Object.fromEntries(SERVERS.map((name) => [name, join(folder, name)]));
  await Promise.all(Object.values(directories).map((directory) => mkdir(directory, { recursive: true })));
  const [mariadb, postgres, kafka] = await Promise.all([
    startMariadb([], directories['mariadb']),
    startOwnPostgres(directories['postgres'] ?? folder),
    TestKafka.start({
      directory: directories['kafka'] ?? folder,
      // The broker's clock says when a record was appended; those of the producers are set.
      settings: { 'log.message.timestamp.type': 'LogAppendTime' },
      listeners: [
        { name: 'A', protocol: 'PLAINTEXT', port: portA, advertisedPort: told },
        { name: 'B', protocol: 'PLAINTEXT', port: portB, advertisedPort: toldB },
      ],
    }),
  ]);
  await migrate(postgres.url, 'msgx');
  const options = { databaseUrl: postgres.url, mariadb, kafka };
  const pipeline = await createPipeline({ ...options, settings: SETTINGS });
  const { topicMsg, topicSchd } = pipeline.config.delivery.kafka;
  const topics = { delivery: { kafka: { 'topic-msg': topicMsg, 'topic-schd': topicSchd } } };
  const wire = (port: number, advertised: number) =>
    wiring(pipeline, postgres, { host: '127.0.0.1', port }, advertised);
  return {
    folder,
    pipeline,
    mariadb,
    wirings: [await wire(portA, told), await wire(portB, toldB)],
    killAndRestart: (server, downMs) => killAndRestart({ mariadb, postgres, kafka }, server, downMs),
    reopen: () =>
      createPipeline({
        ...options,
        mailboxUrl: pipeline.mailboxSide.url,
        settings: {
          ...SETTINGS,
          ...topics,
          delivery: { ...(SETTINGS['delivery'] as Settings), ...topics.delivery },
        },
      }),
    stop: async () => {
      await pipeline.close();
      await Promise.allSettled([mariadb.stop(), postgres.stop(), kafka.dispose()]);
    },
  };
}

async function killAndRestart(
  { mariadb, postgres, kafka }: { mariadb: MariadbServer; postgres: OwnPostgres; kafka: TestKafka },
  server: Server,
  downMs: number,
): Promise<void> {
  switch (server) {
    case 'mariadb':
      await mariadb.restart('SIGKILL', downMs);
      return;
    case 'postgres':
      await postgres.killAndRestart(downMs);
      return;
    case 'kafka':
      await kafka.kill();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await kafka.restart();
  }
}

async function wiring(
  pipeline: TestPipeline,
  postgres: OwnPostgres,
  broker: { readonly host: string; readonly port: number },
  advertised: number,
): Promise<Wiring> {
  const { url: mailboxUrl } = pipeline.mailboxSide;
  const [database, mailbox, kafka] = await Promise.all([
    startProxy(targetOf(postgres.url)),
    startProxy(targetOf(mailboxUrl)),
    startProxy(broker, advertised),
  ]);
  return {
    proxies: { database, mailbox, kafka },
    settings: {
      database: { url: through(postgres.url, database) },
      mailbox: { url: through(mailboxUrl, mailbox) },
      delivery: { kafka: { brokers: [`127.0.0.1:${String(advertised)}`] } },
    },
  };
}
