/** The whole pipeline in this process, driven round by round with a clock moved by hand. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Backfill } from '../../src/backfill/backfill.ts';
import { Delivery } from '../../src/delivery/delivery.ts';
import { JournalSink } from '../../src/delivery/sinks/journal.ts';
import type { Dialect } from '../../src/dialect/port.ts';
import { loadDialect } from '../../src/dialect/registry.ts';
import { InboxPoller } from '../../src/inbox/poller.ts';
import { seedInboxOrStop } from '../../src/inbox/seeding.ts';
import type { Mailbox } from '../../src/mailbox/port.ts';
import { openPostgresMailbox } from '../../src/mailbox/postgres.ts';
import { Pump } from '../../src/pump/pump.ts';
import { ManualClock } from '../../src/runtime/clock.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { Database } from '../../src/store/database.ts';
import { journalTarget } from '../../src/upkeep/verify/journal.ts';
import { verify, type VerifyOptions, type VerifyReport } from '../../src/upkeep/verify/index.ts';
import { MAILBOX_NAMES } from './mailbox.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export const TIME_ZONE = 'Asia/Shanghai';
export const START = Date.parse('2026-03-14T00:00:00Z');

/** What the stations of a test pipeline can be told otherwise. */
export interface PipelineSettings {
  readonly shadow?: boolean;
  readonly vipPersons?: boolean;
  readonly commitBatch?: number;
}

export interface TestPipeline {
  readonly db: TestDatabase;
  readonly mailbox: Mailbox;
  readonly dialect: Dialect;
  readonly clock: ManualClock;
  /** The folder of the journal. */
  readonly directory: string;
  /** One statement of the test on our own schema or, as `public`, the mailbox. */
  query<T extends object = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  /** Writes texts into the mailbox; returns their IDs. */
  send(...texts: readonly string[]): Promise<readonly bigint[]>;
  /** Rounds of every station. */
  round(stations?: readonly Station[]): Promise<void>;
  /** Rounds, the clock moving on, until nothing is pending or owed at these stations. */
  drain(stations?: readonly Station[]): Promise<void>;
  verify(options?: Partial<VerifyOptions>): Promise<VerifyReport>;
  /** Closes everything and drops the database. */
  close(): Promise<void>;
}

export type Station = 'inbox' | 'pump' | 'delivery' | 'backfill';
const STATIONS: readonly Station[] = ['inbox', 'pump', 'delivery', 'backfill'];

/** The built-in dialect as a configuration without settings of its own loads it. */
export async function testDialect(timeZone = TIME_ZONE): Promise<Dialect> {
  return loadDialect('sis', {
    timeZone,
    operationDayCutoff: '00:00',
    maxMessageBytes: 8 * 1024 * 1024,
    maxDepth: 64,
    ignore: ['LDM', 'REGN', 'RSTA', 'EROR'],
    reference: null,
  });
}

/** A pipeline over a fresh database whose mailbox lies in the schema `public`. */
export async function createPipeline(settings: PipelineSettings = {}): Promise<TestPipeline> {
  const db = await createTestDatabase();
  const mailbox = await openPostgresMailbox({ url: db.url, names: MAILBOX_NAMES, timeoutMs: 10_000 });
  await mailbox.init();
  return wire(db, mailbox, await mkdtemp(join(tmpdir(), 'msgx-pipeline-')), settings);
}

/** A pipeline that was closed with `freeze`, to be copied as often as wanted. */
export interface FrozenPipeline {
  thaw(): Promise<TestPipeline>;
  drop(): Promise<void>;
}

/** Stops a pipeline and keeps its database and journal as a template. */
export async function freeze(pipeline: TestPipeline): Promise<FrozenPipeline> {
  await pipeline.mailbox.close();
  await pipeline.db.disconnect();
  return {
    thaw: async () => {
      const db = await createTestDatabase({ copyOf: pipeline.db.name });
      const directory = await mkdtemp(join(tmpdir(), 'msgx-pipeline-'));
      await cp(pipeline.directory, directory, { recursive: true });
      await rm(join(directory, 'writer.lock'), { recursive: true, force: true });
      const mailbox = await openPostgresMailbox({ url: db.url, names: MAILBOX_NAMES, timeoutMs: 10_000 });
      return wire(db, mailbox, directory, {}, pipeline.clock.now());
    },
    drop: async () => pipeline.close(),
  };
}

async function wire(
  db: TestDatabase,
  mailbox: Mailbox,
  directory: string,
  settings: PipelineSettings,
  now = START,
): Promise<TestPipeline> {
  const { database, client } = db;
  const clock = new ManualClock(now);
  const metrics = createMetrics();
  const dialect = await testDialect();
  const shadow = settings.shadow ?? false;
  const publication = { vipPersons: settings.vipPersons ?? false };
  const common = { database, fence: null, clock, metrics, log: SILENT };
  const inboxOn = { database, mailbox, clock, metrics, fence: () => null, logger: SILENT };
  const maxMessageBytes = 8 * 1024 * 1024;
  const poller = new InboxPoller({
    ...inboxOn,
    options: {
      claimBatch: 500,
      batchBytes: 16 * 1024 * 1024,
      maxMessageBytes,
      maxCommitDelayMs: 30_000,
      maxHoleHoldMs: 900_000,
      holeRelease: 'elapsed',
      pollIntervalMs: 500,
      shadow,
    },
  });
  const pump = new Pump({
    ...common,
    mailbox,
    dialect,
    timeZone: TIME_ZONE,
    operationDayCutoff: '00:00',
    includeDayBoundary: true,
    publication,
    commitBatch: settings.commitBatch ?? 500,
    batchBytes: 16 * 1024 * 1024,
    maxMessageBytes,
    retry: {
      maxAttempts: 5,
      backoffMs: [1_000, 5_000, 30_000, 120_000],
      capabilityBackoffMs: [1_000, 1_000, 1_000, 1_000],
    },
  });
  const sink = new JournalSink({
    directory,
    topics: { msg: 'flight.msg', schd: 'flight.schd' },
    timeoutMs: 30_000,
  });
  const delivery = new Delivery({
    ...common,
    sink,
    airport: 'HGH',
    timeZone: TIME_ZONE,
    publication,
    batch: 500,
    retry: { maxAttempts: 3, backoffMs: [1_000, 1_000] },
    flushLimit: 500,
    flushIntervalMs: 1_000,
  });
  const backfill = new Backfill({
    ...common,
    mailbox,
    batch: 500,
    deadlineMs: 24 * 3_600_000,
    alarmAttempts: 20,
    shadow,
  });
  const rounds: Readonly<Record<Station, () => Promise<{ readonly next: string }>>> = {
    inbox: () => poller.round(),
    pump: () => pump.tick(),
    delivery: () => delivery.round(),
    backfill: () => backfill.round(),
  };
  const query = async <T extends object>(sql: string, values: readonly unknown[] = []) =>
    (await client.query<T>(sql, [...values])).rows;
  let seeded = false;
  const round = async (stations: readonly Station[] = STATIONS) => {
    if (!seeded) await seedInboxOrStop({ ...inboxOn, setting: null });
    seeded = true;
    for (const station of stations) while ((await rounds[station]()).next === 'now');
  };
  const drain = async (stations: readonly Station[] = STATIONS) => {
    for (let turn = 0; turn < 1_000; turn++) {
      await round(stations);
      const [left] = await query<Record<Station, number>>(LEFT);
      if (left === undefined || stations.every((station) => left[station] === 0)) return;
      clock.advance(1_000);
    }
    throw new Error('the pipeline does not drain');
  };
  const auditing = new Database({ url: db.url, schema: 'msgx', maxConnections: 2, idleInTransactionMs: 0 });
  return {
    db,
    mailbox,
    dialect,
    clock,
    directory,
    query,
    send: (...texts) => mailbox.insertAll(texts),
    round,
    drain,
    verify: (options = {}) =>
      verify({
        database: auditing,
        mailbox,
        dialect,
        target: journalTarget(directory),
        publication,
        cutoff: '00:00',
        ...options,
      }),
    close: async () => {
      await Promise.allSettled([sink.close(), mailbox.close(), auditing.close()]);
      await db.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const LEFT = `select
  (case when (select watermark from inbox_cursor) < coalesce((select max(cminmsgs_id) from cminmsgs), 0)
    then 1 else 0 end) as inbox,
  (select count(*)::integer from proc_state where state in ('PENDING', 'FAILED')) as pump,
  (select count(*)::integer from msg_event where state = 'PENDING') as delivery,
  (select count(*)::integer from proc_state where state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and not shadow
    and backfill_at is null and backfill_abandoned_at is null) as backfill`;

const DAY = new URL('../fixtures/day/', import.meta.url);

/** Writes the example day into the mailbox with its IDs; ID 7 stays a hole. */
export async function sendExampleDay(pipeline: TestPipeline): Promise<void> {
  for (const file of readdirSync(DAY)
    .filter((name) => name.endsWith('.xml'))
    .sort()) {
    const text = readFileSync(new URL(file, DAY), 'utf8');
    await pipeline.query('insert into cminmsgs (cminmsgs_id, cminmsgs_clob_msg) values ($1, $2)', [
      Number(file.slice(0, 3)),
      text,
    ]);
  }
  await pipeline.query(`select setval(pg_get_serial_sequence('cminmsgs', 'cminmsgs_id'), 38)`);
}

/** A plain session on a pipeline's database, for locks and open transactions; ended by the caller. */
export async function session(url: string, schema = 'msgx'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema},public` });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
