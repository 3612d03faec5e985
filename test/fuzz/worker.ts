/** Judges inputs one after another; the parent thread watches, so that a hang ends somewhere. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { createMetaXmlDialect } from '../../src/dialect/meta-xml/dialect.ts';
import { loadProfile } from '../../src/dialect/meta-xml/profile.ts';
import { simulateDay } from '../../src/simulator/day.ts';
import { Generator } from './generate.ts';
import { judge, type Judgement } from './judge.ts';

/** What the parent says. */
export interface WorkerTask {
  readonly seed: string;
  readonly from: number;
  /** Inputs at most. */
  readonly count: number;
  readonly minutes: number;
  /** The number under way, and when it began (ms of Date.now() modulo 2^31). */
  readonly pulse: SharedArrayBuffer;
}

/** What it hears at the end, or at the first fault. */
export interface WorkerResult {
  readonly inputs: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly longestMs: number;
  readonly longestAt: number;
  readonly bytes: number;
  readonly bytesAt: number;
  readonly failed: { readonly index: number; readonly fault: string } | null;
}

export const PULSE_MODULUS = 2 ** 31;

/** Options as in production, and messages of a simulated day to start from. */
export async function parts(seed: string): Promise<{
  dialect: ReturnType<typeof createMetaXmlDialect>;
  generator: Generator;
}> {
  const profile = await loadProfile('sis');
  const dialect = createMetaXmlDialect(profile, {
    timeZone: 'Asia/Shanghai',
    operationDayCutoff: '00:00',
    maxMessageBytes: 8 * 1024 * 1024,
    maxDepth: 64,
    ignore: null,
    reference: null,
  });
  const day = simulateDay({
    seed,
    day: '2026-03-14',
    count: 600,
    timeZone: 'Asia/Shanghai',
    airport: 'HGH',
    duplicates: 0,
    poison: 0.1,
    holes: 0,
    late: 0,
    unsupported: 0.02,
  });
  const samples = [...day].flatMap((step) => (step.kind === 'hole' ? [] : [step.text]));
  return { dialect, generator: new Generator(seed, profile, samples) };
}

async function run({ seed, from, count, minutes, pulse }: WorkerTask): Promise<WorkerResult> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { dialect, generator } = await parts(seed);
  const beat = new Int32Array(pulse);
  const until = performance.now() + minutes * 60_000;
  const outcomes: Record<string, number> = {};
  let longest = { ms: 0, at: from };
  let most = { bytes: 0, at: from };
  let inputs = 0;
  const result = (failed: WorkerResult['failed']): WorkerResult => ({
    inputs,
    outcomes,
    longestMs: longest.ms,
    longestAt: longest.at,
    bytes: most.bytes,
    bytesAt: most.at,
    failed,
  });
  for (let index = from; inputs < count && performance.now() < until; index += 1, inputs += 1) {
    const input = generator.input(index);
    Atomics.store(beat, 0, index);
    Atomics.store(beat, 1, Date.now() % PULSE_MODULUS);
    let judgements: readonly Judgement[];
    try {
      judgements = judge(dialect, input, collect);
    } catch (error) {
      return result({ index, fault: `thrown: ${String(error)}` });
    }
    for (const { fault, outcome, stepMs, bytes } of judgements) {
      if (fault !== null) return result({ index, fault });
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (stepMs > longest.ms) longest = { ms: stepMs, at: index };
      if (bytes !== null && bytes > most.bytes) most = { bytes, at: index };
    }
  }
  return result(null);
}

if (parentPort !== null) parentPort.postMessage(await run(workerData as WorkerTask));
