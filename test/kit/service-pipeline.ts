/**
 * A whole pipeline for the scenarios: a schema and a mailbox of its own in fresh databases, a journal in a
 * folder of its own or topics of its own in Kafka, short tiers. It can run in this process, as a child process
 * (msgx-process.ts), or not yet.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startHost, type Host } from '../../src/cli/host.ts';
import { mailboxNames } from '../../src/config/mailbox-names.ts';
import { configFromObject } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Dialect } from '../../src/dialect/port.ts';
import { openMailbox } from '../../src/mailbox/open.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import type { AnchoredClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/logger.ts';
import { topicsOf } from '../../src/service/sink.ts';
import { verifyTargetOf } from '../../src/service/verify-target.ts';
import { dialectOf, openResources, type Resources } from '../../src/service/resources.ts';
import { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { businessDigest, type Digest } from '../../src/upkeep/digest.ts';
import { verify, type VerifyReport } from '../../src/upkeep/verify/index.ts';
import type { TestKafka } from './kafka.ts';
import { grantLeast, mariadbSide, postgresSide, type MailboxSide } from './mailbox-side.ts';
import type { MariadbServer } from './mariadb.ts';
import { createTestDatabase } from './postgres.ts';
import { through, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

/** What stands under `msgx:` in a configuration file, as nested groups. */
export interface Settings {
  readonly [key: string]: unknown;
}

/** Where a test registers what has to be closed: its own context. */
export interface Closing {
  onTestFinished(close: () => Promise<void>): void;
}

/** An event as a consumer finds it, in the journal or in its topic. */
export interface JournalLine {
  readonly topic: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Time of the record in the topic, ms since 1970; absent in the journal. */
  readonly at?: number;
}

/** What is still to be done before everything in the mailbox has gone all the way. */
export interface Standing {
  /** Mailbox rows above the seed that are not enqueued. */
  readonly unread: number;
  /** PENDING and FAILED. */
  readonly unfinished: number;
  readonly finished: number;
  readonly undelivered: number;
  readonly owed: number;
}

/** A running service in this process. */
export interface Running {
  readonly host: Host;
  readonly resources: Resources;
  readonly url: string;
  stop(): Promise<void>;
}

export interface TestPipeline {
  readonly config: Config;
  /** As they would stand in msgx.yaml. */
  readonly settings: Settings;
  /** Folder of the journal and of whatever the test writes. */
  readonly directory: string;
  readonly dialect: Dialect;
  /** The mailbox as its upstream sees it, over connections of the test's own. */
  readonly mailbox: Mailbox;
  /** The mailbox's tables, as their owner sees them. */
  readonly mailboxSide: MailboxSide;
  /** Our own tables. */
  readonly client: pg.Client;
  readonly database: Database;
  /** Starts service and HTTP in this process, as `msgx run` does. */
  start(): Promise<Running>;
  standing(): Promise<Standing>;
  /** Resolves when nothing is left to do. */
  drained(timeoutMs?: number): Promise<void>;
  verifyReport(): Promise<VerifyReport>;
  digest(): Promise<Digest>;
  /** Everything that was told on a stream, in order (of each key): the journal's lines, or what kcat reads. */
  journal(stream: 'msg' | 'schd'): Promise<readonly JournalLine[]>;
  /** Runs a query on our own tables; int8 as text. */
  rows<T extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<readonly T[]>;
  close(): Promise<void>;
}

export interface PipelineOptions {
  /** Put over the defaults of the scenarios, group by group. */
  readonly settings?: Settings;
  /** Databases that are there already; by default both are created. */
  readonly databaseUrl?: string;
  readonly mailboxUrl?: string;
  /** Schema of our own tables. Default msgx. */
  readonly schema?: string;
  /** Where the mailbox is, with exactly the grants that msgx needs. Default: PostgreSQL, as owner of the tables. */
  readonly mariadb?: MariadbServer;
  /** Events go to topics in this broker instead of the journal. */
  readonly kafka?: TestKafka;
  /** Clock of a service in this process; by default as in production. */
  readonly clock?: AnchoredClock;
  /** Told of each line of a service's log in this process. */
  readonly onLog?: (line: string) => void;
  /** What the service reaches its databases through; the test's own sessions go around. */
  readonly proxies?: { readonly database?: TcpProxy; readonly mailbox?: TcpProxy };
}

/** Everything fast: a scenario waits for outcomes, not for intervals. */
const FAST: Settings = {
  airport: 'HGH',
  http: { listen: '127.0.0.1:0' },
  log: { level: 'info', format: 'json' },
  pipeline: {
    'poll-interval': '20ms',
    'max-commit-delay': '300ms',
    'late-scan-interval': '500ms',
    'backfill-interval': '50ms',
    retry: {
      backoff: ['20ms', '20ms', '20ms', '20ms'],
      'capability-backoff': ['20ms', '20ms', '20ms', '20ms'],
    },
  },
  schd: { 'flush-interval': '50ms' },
};

/** Prepares a pipeline without starting it: databases, mailbox tables, configuration. */
export async function createPipeline(options: PipelineOptions = {}): Promise<TestPipeline> {
  const schema = options.schema ?? 'msgx';
  const databaseUrl = options.databaseUrl ?? (await createTestDatabase()).url;
  const { mariadb, kafka, proxies = {} } = options;
  const mailboxSide =
    mariadb === undefined
      ? await postgresSide(options.mailboxUrl)
      : await mariadbSide(mariadb, options.mailboxUrl);
  const directory = await mkdtemp(join(tmpdir(), 'msgx-scenario-'));
  const settings = mergeSettings(
    mergeSettings(FAST, {
      database: { url: proxied(databaseUrl, proxies.database), schema },
      mailbox: { url: proxied(mailboxSide.url, proxies.mailbox) },
      delivery: {
        journal: { dir: join(directory, 'journal') },
        ...(kafka === undefined ? {} : topicsIn(kafka)),
      },
    }),
    options.settings ?? {},
  );
  const config = configOf(settings);
  if (schema !== 'msgx') await migrate(databaseUrl, schema);
  const dialect = await dialectOf(config);
  const names = mailboxNames(dialect.mailbox, config.mailbox.tables);
  // The upstream's own session: it may do what msgx may not.
  const upstreamUrl =
    mariadb === undefined ? mailboxSide.url : mariadb.url(new URL(mailboxSide.url).pathname.slice(1));
  const mailbox = await openMailbox({ url: upstreamUrl, names, timeoutMs: 30_000 });
  if (!(await mailbox.isOurs())) {
    await mailbox.init();
    if (mariadb !== undefined) await grantLeast(mariadb, mailboxSide.url);
  }
  const client = await connect(databaseUrl, schema);
  // Sessions of an audit read files in between and scan.
  const database = new Database({
    url: databaseUrl,
    schema,
    applicationName: 'scenario',
    maxConnections: 2,
    statementTimeoutMs: 120_000,
    idleInTransactionMs: 0,
  });
  const running = new Set<Running>();

  const pipeline: TestPipeline = {
    config,
    settings,
    directory,
    dialect,
    mailbox,
    mailboxSide,
    client,
    database,
    async start() {
      const resources = await openResources(config);
      const { clock, onLog } = options;
      const log =
        onLog === undefined
          ? createLogger({ level: 'silent', format: 'json' })
          : createLogger({ level: 'info', format: 'json', output: { write: onLog } });
      const host = await startHost(resources, log, clock === undefined ? {} : { clock });
      const started: Running = {
        host,
        resources,
        url: host.server.url,
        stop: async () => {
          if (!running.delete(started)) return;
          await host.stop();
          await resources.close();
        },
      };
      running.add(started);
      return started;
    },
    async standing() {
      const { rows } = await client.query<Omit<Standing, 'unread'> & { read: number; seed: string }>(
        `select
           (select count(*)::int from inbox_cursor c,
              (select msg_id from proc_state union all select msg_id from proc_state_hst) p
            where p.msg_id > c.seed) as read,
           (select seed::text from inbox_cursor) as seed,
           (select count(*)::int from proc_state where state in ('PENDING', 'FAILED')) as unfinished,
           (select count(*)::int from proc_state where state not in ('PENDING', 'FAILED')) as finished,
           (select count(*)::int from msg_event where state = 'PENDING') as undelivered,
           (select count(*)::int from proc_state where state not in ('PENDING', 'FAILED')
              and backfill_at is null and backfill_abandoned_at is null and not shadow) as owed`,
      );
      const [own] = rows;
      if (own === undefined) throw new Error('no answer');
      const there = await mailboxSide.count({ above: BigInt(own.seed) });
      const { unfinished, finished, undelivered, owed } = own;
      return { unread: there - own.read, unfinished, finished, undelivered, owed };
    },
    async drained(timeoutMs = 60_000) {
      let standing: Standing | null = null;
      await until(
        'everything to be processed, delivered and marked',
        async () => {
          standing = await pipeline.standing();
          const { unread, unfinished, undelivered, owed } = standing;
          return unread === 0 && unfinished === 0 && undelivered === 0 && owed === 0 ? true : null;
        },
        { timeoutMs, standing: () => standing },
      );
    },
    verifyReport: () =>
      verify({
        database,
        mailbox,
        dialect,
        target: verifyTargetOf(config),
        publication: { vipPersons: config.events.vipPersons },
        cutoff: config.operationDayCutoff,
      }),
    digest: () => businessDigest(database),
    async journal(stream) {
      if (kafka !== undefined) {
        const topic = topicsOf(config)[stream];
        return (await kafka.read(topic)).map(({ key, headers, payload, at }) => ({
          topic,
          key,
          headers,
          at,
          value: payload === null ? null : (JSON.parse(payload) as JournalLine['value']),
        }));
      }
      const text = await readFile(join(config.delivery.journal.dir, `${stream}.jsonl`), 'utf8');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JournalLine);
    },
    async rows<T extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) {
      return (await client.query<T>(sql, [...values])).rows;
    },
    async close() {
      await Promise.allSettled([...running].map((started) => started.stop()));
      await Promise.allSettled([mailbox.close(), database.close(), client.end(), mailboxSide.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return pipeline;
}

/** Prepares a pipeline for one test; closed, with all that runs on it, when the test ends. */
export async function preparePipeline(
  closing: Closing,
  options: PipelineOptions = {},
): Promise<TestPipeline> {
  const pipeline = await createPipeline(options);
  closing.onTestFinished(() => pipeline.close());
  return pipeline;
}

/** The same, running in this process. */
export async function startPipeline(
  closing: Closing,
  options: PipelineOptions = {},
): Promise<TestPipeline & { readonly running: Running }> {
  const pipeline = await preparePipeline(closing, options);
  const running = await pipeline.start();
  return { ...pipeline, running };
}

function configOf(settings: Settings): Config {
  const result = configFromObject(settings);
  if (!result.ok) throw new Error(result.faults.join('\n'));
  return result.config;
}

async function connect(url: string, schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  // A database is dropped under sessions that a failing test left open.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

function proxied(url: string, proxy: TcpProxy | undefined): string {
  return proxy === undefined ? url : through(url, proxy);
}

/** Topics of the pipeline's own, made by its first start. */
function topicsIn(kafka: TestKafka): Settings {
  const name = randomBytes(4).toString('hex');
  return {
    target: 'kafka',
    kafka: { brokers: [kafka.broker], 'topic-msg': `msg.${name}`, 'topic-schd': `schd.${name}` },
  };
}

/** Settings with others over them; groups are merged, values replaced. */
export function mergeSettings(under: Settings, over: Settings): Settings {
  const result: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isGroup(before) && isGroup(value) ? mergeSettings(before, value) : value;
  }
  return result;
}

function isGroup(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
