/**
 * `msgx bench` (contract, "Benchmark output"): drains of the pump alone and of the whole pipeline in batches of
 * 1 and 500, and the latency of single messages, on an embedded PostgreSQL with durable commits. This process makes
 * the messages and the yardstick; each measurement runs in a process of its own, whose memory is told.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { openResources } from '../service/resources.ts';
import { startEmbedded } from '../store/embedded.ts';
import { migrate } from '../store/migrate.ts';
import { FLIGHTS, INPUTS, type BenchInputs } from './inputs.ts';
import { changeOf, flids, schedule } from './messages.ts';
import { configOf, type Task } from './task.ts';
import { Yardstick } from './yardstick.ts';

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

const execute = promisify(execFile);
/** Longest time of one measurement, ms. */
const TIMEOUT_MS = 150_000;

/** Runs the benchmark; takes about two minutes. Throws an Error where the server's commits are not durable. */
export async function bench(onProgress: (step: string) => void): Promise<BenchReport> {
  const directory = await mkdtemp(join(tmpdir(), 'msgx-bench-'));
  const server = await startEmbedded({ directory });
  const yardstick = await Yardstick.open(server.url);
  let series = 0;
  let rssMb = 0;
  try {
    const run = async (messages: number, commitBatch: 1 | 500, task: Measurement): Promise<unknown> => {
      series += 1;
      const url = await createDatabase(server.url, `bench_${series}`);
      const place = { url, journal: join(directory, `journal-${series}`), commitBatch };
      await fill(place, messages);
      await yardstick.measure();
      const measured = await measure({ ...place, ...task });
      rssMb = Math.max(rssMb, measured.rssMb);
      return measured.result;
    };
    const drain = (kind: 'process' | 'full', batch: 1 | 500) => {
      const messages = INPUTS.messages[`${kind}.b${batch}`];
      onProgress(`drain.${kind}.b${batch}: ${messages} messages`);
      return run(messages, batch, { kind, messages }) as Promise<number>;
    };
    const speeds = {
      process: { b1: await drain('process', 1), b500: await drain('process', 500) },
      full: { b1: await drain('full', 1), b500: await drain('full', 500) },
    };
    const { latencySeconds: seconds } = INPUTS;
    onProgress(`latency at 20 messages/s for ${seconds} s`);
    const at20 = (await run(0, 500, {
      kind: 'latency',
      rate: 20,
      seconds,
    })) as BenchReport['latency']['at20'];
    const { commitsPerSecond, rounds } = yardstick;
    const told = (msgPerSecond: number) => ({ msgPerSecond, ratio: msgPerSecond / commitsPerSecond });
    return {
      inputs: INPUTS,
      yardstick: { commitsPerSecond, rounds },
      drain: {
        process: { b1: told(speeds.process.b1), b500: told(speeds.process.b500) },
        full: { b1: told(speeds.full.b1), b500: told(speeds.full.b500) },
      },
      latency: { at20 },
      rssMb,
    };
  } finally {
    await yardstick.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

type Measurement =
  | { readonly kind: 'process' | 'full'; readonly messages: number }
  | { readonly kind: 'latency'; readonly rate: number; readonly seconds: number };

/** A database of its own for one measurement, with our tables in it. */
async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const own = url.replace(/\/msgx$/, `/${name}`);
  await migrate(own, 'msgx');
  return own;
}

/** Makes the mailbox and writes the schedule and the messages into it; commits in hundreds. */
async function fill(place: Parameters<typeof configOf>[0], messages: number): Promise<void> {
  const resources = await openResources(configOf(place));
  const { mailbox } = resources;
  try {
    const names = flids(FLIGHTS);
    await mailbox.init();
    await mailbox.insert(schedule(FLIGHTS, 1));
    for (let number = 0; number < messages; number += 100) {
      const count = Math.min(100, messages - number);
      await mailbox.insertAll(Array.from({ length: count }, (_, index) => changeOf(names, number + index)));
    }
  } finally {
    await resources.close();
  }
}

/** Runs one measurement in a process of its own. Throws with its last words where it fails. */
async function measure(task: Task): Promise<{ readonly result: unknown; readonly rssMb: number }> {
  const program = fileURLToPath(new URL(`./measure${extname(import.meta.url)}`, import.meta.url));
  const options = { timeout: TIMEOUT_MS, maxBuffer: 1 << 20 };
  const { stdout } = await execute(
    process.execPath,
    [...process.execArgv, program, JSON.stringify(task)],
    options,
  );
  return JSON.parse(stdout) as { result: unknown; rssMb: number };
}
