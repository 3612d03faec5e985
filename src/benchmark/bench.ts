/**
 * `msgx bench` (contract, "Benchmark output"): drains of the pump alone and of the whole pipeline in batches of
 * 1 and 500, and the latency of single messages, on an embedded PostgreSQL with durable commits.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFromObject } from '../config/load.ts';
import { InboxPoller } from '../inbox/poller.ts';
import { seedInboxOrStop } from '../inbox/seeding.ts';
import { Pump } from '../pump/pump.ts';
import { AnchoredClock } from '../runtime/clock.ts';
import { SILENT } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { openResources, type Resources } from '../service/resources.ts';
import { Pipeline } from '../service/pipeline.ts';
import { Rates } from '../service/rates.ts';
import { countMarks, countOutbox, countUnfinished } from '../store/status.ts';
import { startEmbedded } from '../store/embedded.ts';
import { flids, gateChange, schedule } from './messages.ts';
import { Yardstick } from './yardstick.ts';

/** What is measured with; printed with the results. */
export interface BenchInputs {
  readonly flights: number;
  readonly messageBytes: number;
  readonly messages: Readonly<Record<'process.b1' | 'process.b500' | 'full.b1' | 'full.b500', number>>;
  readonly latencySeconds: number;
  readonly pollIntervalMs: number;
  readonly backfillIntervalMs: number;
  readonly flushIntervalMs: number;
  readonly node: string;
}

export interface Drain {
  readonly msgPerSecond: number;
  readonly ratio: number;
}

export interface BenchReport {
  readonly inputs: BenchInputs;
  readonly yardstick: { readonly commitsPerSecond: number; readonly rounds: readonly number[] };
  readonly drain: Readonly<Record<'process' | 'full', Readonly<Record<'b1' | 'b500', Drain>>>>;
  readonly latency: { readonly at20: { readonly p50: number; readonly p99: number; readonly max: number } };
  readonly rssMb: number;
}

const FLIGHTS = 300;
const INPUTS: BenchInputs = {
  flights: FLIGHTS,
  messageBytes: Buffer.byteLength(gateChange('900000', 1, 1)),
  messages: { 'process.b1': 3000, 'process.b500': 10_000, 'full.b1': 2000, 'full.b500': 10_000 },
  latencySeconds: 20,
  pollIntervalMs: 20,
  backfillIntervalMs: 100,
  flushIntervalMs: 200,
  node: process.version,
};

/** Runs the benchmark; takes about two minutes. Throws an Error where the server's commits are not durable. */
export async function bench(onProgress: (step: string) => void): Promise<BenchReport> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-bench-'));
  const server = await startEmbedded({ directory });
  const yardstick = await Yardstick.open(server.url);
  let series = 0;
  try {
    const run = async (kind: 'process' | 'full', batch: 1 | 500): Promise<number> => {
      series += 1;
      const messages = INPUTS.messages[`${kind}.b${batch}`];
      onProgress(`drain.${kind}.b${batch}: ${messages} messages`);
      await yardstick.measure();
      const setup = await openBench(server.url, directory, series, batch);
      try {
        return await (kind === 'process' ? drainPump : drainAll)(setup, messages);
      } finally {
        await setup.close();
      }
    };
    const speeds = {
      process: { b1: await run('process', 1), b500: await run('process', 500) },
      full: { b1: await run('full', 1), b500: await run('full', 500) },
    };
    await yardstick.measure();
    onProgress(`latency at 20 messages/s for ${INPUTS.latencySeconds} s`);
    series += 1;
    const setup = await openBench(server.url, directory, series, 500);
    const at20 = await latency(setup, 20, INPUTS.latencySeconds).finally(() => setup.close());
    const { commitsPerSecond, rounds } = yardstick;
    const drain = (msgPerSecond: number) => ({ msgPerSecond, ratio: msgPerSecond / commitsPerSecond });
    return {
      inputs: INPUTS,
      yardstick: { commitsPerSecond, rounds },
      drain: {
        process: { b1: drain(speeds.process.b1), b500: drain(speeds.process.b500) },
        full: { b1: drain(speeds.full.b1), b500: drain(speeds.full.b500) },
      },
      latency: { at20 },
      rssMb: Math.round(process.resourceUsage().maxRSS / 1024),
    };
  } finally {
    await yardstick.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A pipeline of its own for one measurement: schema, mailbox and journal. */
interface Setup extends Resources {
  readonly clock: AnchoredClock;
}

async function openBench(
  url: string,
  directory: string,
  series: number,
  commitBatch: number,
): Promise<Setup> {
  const database = `bench_${series}`;
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${database}`);
  await client.end();
  const own = url.replace(/\/msgx$/, `/${database}`);
  const result = configFromObject({
    airport: 'CTU',
    database: { url: own },
    mailbox: { url: own },
    delivery: { journal: { dir: join(directory, `journal-${series}`) } },
    pipeline: {
      'commit-batch': commitBatch,
      'poll-interval': `${INPUTS.pollIntervalMs}ms`,
      'backfill-interval': `${INPUTS.backfillIntervalMs}ms`,
    },
    schd: { 'flush-interval': `${INPUTS.flushIntervalMs}ms` },
  });
  if (!result.ok) throw new Error(result.faults.join('; '));
  const { migrate } = await import('../store/migrate.ts');
  await migrate(own, 'msgx');
  const resources = await openResources(result.config);
  await resources.mailbox.init();
  return { ...resources, clock: new AnchoredClock(Date.now()) };
}

/** Writes the schedule and messages into the mailbox; commits in hundreds. */
async function fill(setup: Setup, messages: number): Promise<void> {
  const names = flids(FLIGHTS);
  await setup.mailbox.insert(schedule(FLIGHTS, 1));
  for (let number = 0; number < messages; number += 100) {
    const count = Math.min(100, messages - number);
    await setup.mailbox.insertAll(
      Array.from({ length: count }, (_, index) => changeOf(names, number + index)),
    );
  }
}

function changeOf(names: readonly string[], number: number): string {
  return gateChange(
    names[number % names.length] ?? '',
    Math.floor(number / names.length) + number,
    number + 2,
  );
}

/** Enqueued → terminal: everything is read in first, then the pump runs alone. */
async function drainPump(setup: Setup, messages: number): Promise<number> {
  await fill(setup, messages);
  const { config, database, mailbox, dialect, clock } = setup;
  const { pipeline } = config;
  const metrics = createMetrics();
  const on = { database, mailbox, clock, fence: () => ({ epoch: 0n }), logger: SILENT, metrics };
  await seedInboxOrStop({ ...on, setting: null });
  const poller = new InboxPoller({
    ...on,
    options: { ...pipeline, maxMessageBytes: config.maxMessageBytes },
  });
  while ((await poller.round()).next === 'now');
  const pump = new Pump({
    ...{ database, mailbox, dialect, clock, metrics },
    fence: { epoch: 0n },
    log: SILENT,
    timeZone: config.timeZone,
    operationDayCutoff: config.operationDayCutoff,
    includeDayBoundary: true,
    publication: { vipPersons: false },
    commitBatch: pipeline.commitBatch,
    batchBytes: pipeline.batchBytes,
    maxMessageBytes: config.maxMessageBytes,
    retry: pipeline.retry,
  });
  const started = performance.now();
  while ((await pump.tick()).next === 'now');
  const seconds = (performance.now() - started) / 1_000;
  await expectAllEnded(setup);
  return (messages + 1) / seconds;
}

/** In the mailbox → SENT to the journal and marked: all stations at once, as in service. */
async function drainAll(setup: Setup, messages: number): Promise<number> {
  await fill(setup, messages);
  const pipeline = pipelineOf(setup);
  const started = performance.now();
  pipeline.start();
  try {
    await awaitAllDone(setup, messages + 1);
    return ((messages + 1) * 1_000) / (performance.now() - started);
  } finally {
    await pipeline.stop();
  }
}

function pipelineOf(setup: Setup, onSent?: (value: string, at: number) => void): Pipeline {
  return new Pipeline({
    resources: setup,
    fence: { epoch: 0n },
    clock: setup.clock,
    log: SILENT,
    logOf: () => SILENT,
    metrics: createMetrics(),
    rates: new Rates(),
    pauseOf: () => null,
    onLost: () => undefined,
    onFault: () => undefined,
    ...(onSent === undefined
      ? {}
      : {
          onAccepted: (records) => {
            const at = performance.now();
            for (const { stream, value } of records)
              if (stream === 'msg' && value !== null) onSent(value, at);
          },
        }),
  });
}

async function awaitAllDone(setup: Setup, messages: number): Promise<void> {
  const { database } = setup;
  const deadline = performance.now() + 120_000;
  for (;;) {
    const [left, outbox, marks] = await Promise.all([
      countUnfinished(database),
      countOutbox(database),
      countMarks(database),
    ]);
    const pending = outbox.reduce((sum, target) => sum + target.pending, 0);
    const done = await setup.database.query<{ marked: number }>(MARKED);
    if (done[0]?.marked === messages && left.length === 0 && pending === 0 && marks.owed === 0) return;
    if (performance.now() > deadline) throw new Error('the benchmark does not drain');
    await sleep(10);
  }
}

const MARKED = {
  name: 'bench.marked',
  text: `select count(*)::integer as marked from proc_state where backfill_at is not null`,
};

async function expectAllEnded(setup: Setup): Promise<void> {
  const left = await countUnfinished(setup.database);
  if (left.length > 0)
    throw new Error(`the benchmark's messages did not all succeed: ${JSON.stringify(left)}`);
}

/** Mailbox commit → KAFKA:msg acknowledged by the sink, ms. */
async function latency(
  setup: Setup,
  rate: number,
  seconds: number,
): Promise<{ readonly p50: number; readonly p99: number; readonly max: number }> {
  const committed = new Map<string, number>();
  const acknowledged = new Map<string, number>();
  await setup.mailbox.insert(schedule(FLIGHTS, 1));
  const pipeline = pipelineOf(setup, (value, at) => {
    const id = /"msgId":"(\d+)"/.exec(value)?.[1];
    if (id !== undefined) acknowledged.set(id, at);
  });
  pipeline.start();
  try {
    await awaitAllDone(setup, 1);
    const names = flids(FLIGHTS);
    const started = performance.now();
    for (let number = 0; number < rate * seconds; number++) {
      await sleep(Math.max(0, started + (number * 1_000) / rate - performance.now()));
      const id = await setup.mailbox.insert(changeOf(names, number));
      committed.set(id.toString(), performance.now());
    }
    await awaitAllDone(setup, 1 + rate * seconds);
  } finally {
    await pipeline.stop();
  }
  const delays = [...committed]
    .map(([id, at]) => Math.max(0, (acknowledged.get(id) ?? Number.POSITIVE_INFINITY) - at))
    .sort((left, right) => left - right);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: delays.at(-1) ?? 0 };
}
