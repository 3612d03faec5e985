/**
 * A torture run: a simulated day at speed through real servers and two instances of msgx, faults every few seconds, then
 * everything is healed, and the checker and `msgx verify` look at what is left.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { randomStream } from '../../src/simulator/random.ts';
import { play, type Played } from '../../src/simulator/writer.ts';
import { msgx } from '../cli/kit.ts';
import type { Closing, TestPipeline } from '../kit/service-pipeline.ts';
import { daySteps } from '../scenarios/simulated.ts';
import { check } from './checker/check.ts';
import { faultsOf } from './faults.ts';
import { Instance } from './instance.ts';
import { endsOf, lineOf, missed, summary, takeoversOf, type Done } from './outcome.ts';
import { startParts, type Parts } from './parts.ts';
import { readFacts } from './read-facts.ts';
import { planFaults, quotaFor } from './schedule.ts';
import { StubbornUpstream } from './upstream.ts';
import { watch, type Watch } from './watch.ts';

export interface TortureOptions {
  /** May be a fraction. */
  readonly minutes: number;
  readonly seed: string;
  /** Messages per second. */
  readonly rate: number;
  /** Logs, data of the servers and findings. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface TortureReport {
  readonly counts: Done;
  readonly written: number;
  readonly processed: number;
  /** What the checker found, or `msgx verify`, and quotas that were not reached. */
  readonly findings: readonly string[];
}

const SHARES = { duplicates: 0.02, poison: 0.01, holes: 0.004, late: 0.006, unsupported: 0.003 };
const PROGRESS_MS = 10_000;
/** How long nothing may move after the last fault, ms; how long all of it takes is the machine's business. */
const STILL_MS = 120_000;
const LOOK_MS = 100;
const HELD_MS = 5_000;

/** Runs it; throws where it does not come to an end, e.g. because msgx does nothing more. */
export async function torture(closing: Closing, options: TortureOptions): Promise<TortureReport> {
  const { minutes, seed, rate, folder, say } = options;
  const start = performance.now();
  const tell = (line: string) =>
    say(`[${((performance.now() - start) / 1_000).toFixed(1).padStart(6)} s] ${line}`);
  await mkdir(folder, { recursive: true });
  say(`seed ${seed}, ${String(minutes)} min, ${String(rate)} messages/s, ${folder}`);
  say(`shares of the messages: ${JSON.stringify(SHARES)}; quota: ${JSON.stringify(quotaFor(minutes))}`);
  tell('starting MariaDB, PostgreSQL and Kafka');
  const parts = await startParts(folder);
  closing.onTestFinished(() => parts.stop());
  const instances = instancesOf(closing, parts, seed);
  closing.onTestFinished(async () => {
    for (const instance of instances) await instance.writeLogs(folder);
  });
  for (const instance of instances) await instance.start();
  const watching = watch(parts);
  closing.onTestFinished(() => watching.stop());

  const faults = faultsOf(planFaults(seed, minutes), parts, instances, tell);
  const upstream = new StubbornUpstream(parts.pipeline.mailbox);
  const steps = daySteps({ ...SHARES, seed, count: Math.round(rate * 60 * minutes) });
  const writing = { played: null as Played | null };
  const progress = setInterval(() => tell(progressLine(writing.played, watching)), PROGRESS_MS);
  const stopping = new AbortController();
  const faulting = faults.run(stopping.signal);
  try {
    await Promise.all([
      faulting,
      play({
        mailbox: upstream,
        steps,
        rate,
        // Those beyond it are held far longer than msgx waits, so that it has passed their IDs by then.
        maxCommitDelayMs: HELD_MS,
        onProgress: (played) => (writing.played = played),
      }),
    ]);
    tell(`${progressLine(writing.played, watching)}; healing`);
    heal(instances);
    const pipeline = await parts.reopen();
    closing.onTestFinished(() => pipeline.close());
    await drained(pipeline);
    clearInterval(progress);
    tell('everything is processed, told and marked; checking');
    await watching.stop();
    // The checker leaves no time to the proxies.
    const stopped = await stopAll(instances);
    const facts = await readFacts(pipeline, {
      acknowledged: upstream.acknowledged,
      seenMarkedEarly: [...watching.early],
    });
    const found = check(facts);
    const verified = await verifyLines(pipeline, folder);
    const counts = { ...faults.counts, takeovers: takeoversOf(instances) };
    const findings = [
      ...found.map(lineOf),
      ...verified,
      ...endsOf(instances),
      ...stopped,
      ...missed(counts, minutes),
    ];
    await writeFile(join(folder, 'findings.txt'), findings.map((line) => `${line}\n`).join(''));
    const processed = facts.messages.filter(({ terminalSeq }) => terminalSeq !== null).length;
    summary(say, { counts, facts, upstream, watching, findings });
    return { counts, written: facts.mailbox.length, processed, findings };
  } catch (error) {
    tell(`broken off: ${String(error)}; done until then: ${JSON.stringify(faults.counts)}`);
    throw error;
  } finally {
    clearInterval(progress);
    // Nothing may be started behind the back of those who stop the servers.
    stopping.abort();
    await faulting;
  }
}

/** Jumps to and fro, from seconds to months. */
function instancesOf(closing: Closing, parts: Parts, seed: string): readonly [Instance, Instance] {
  const random = randomStream(seed, 'clocks');
  const jumps = () =>
    Array.from(
      { length: 50 },
      () => random.pick([-1, 1]) * random.pick([2_000, 90_000, 7_200_000, 8_000_000_000]),
    );
  const [left, right] = parts.wirings;
  return [
    new Instance(closing, parts, 'A', left, jumps()),
    new Instance(closing, parts, 'B', right, jumps()),
  ];
}

/** All cables are in, nobody sleeps. */
function heal(instances: readonly Instance[]): void {
  for (const { wiring } of instances) {
    for (const proxy of Object.values(wiring.proxies)) {
      proxy.heal();
      proxy.cut();
    }
  }
}

/** Waits until nothing is left to do, as long as anything moves. */
async function drained(pipeline: TestPipeline): Promise<void> {
  let moved = { at: performance.now(), standing: '' };
  for (;;) {
    const { unread, unfinished, finished, undelivered, owed } = await pipeline.standing();
    if (unread === 0 && unfinished === 0 && undelivered === 0 && owed === 0) return;
    const standing = JSON.stringify({ unread, unfinished, finished, undelivered, owed });
    if (standing !== moved.standing) moved = { at: performance.now(), standing };
    else if (performance.now() - moved.at > STILL_MS)
      throw new Error(`nothing has moved for ${String(STILL_MS / 1_000)} s: ${standing}`);
    await sleep(LOOK_MS);
  }
}

/** `msgx verify` as an operator calls it, around the proxies. */
async function verifyLines(pipeline: TestPipeline, folder: string): Promise<readonly string[]> {
  await writeFile(join(folder, 'msgx.yaml'), stringify({ msgx: pipeline.settings }));
  const { code, stdout, stderr } = await msgx(['verify', '--json', '-c', 'msgx.yaml'], { cwd: folder });
  await writeFile(join(folder, 'verify.json'), stdout);
  if (stderr !== '') return [`msgx verify: ${stderr.trim()}`];
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly {
      readonly invariant: number;
      readonly answer: string;
      readonly notes: readonly string[];
    }[];
  };
  const open = findings.filter(({ answer }) => answer !== 'checked');
  const lines = open.map(
    ({ invariant, answer, notes }) => `msgx verify: ${String(invariant)} ${answer}: ${notes.join('; ')}`,
  );
  return lines.length === 0 && code !== 0 ? [`msgx verify ended with ${String(code)}`] : lines;
}

async function stopAll(instances: readonly Instance[]): Promise<readonly string[]> {
  const ends = await Promise.all(instances.map((instance) => instance.stop()));
  return ends.flatMap((end, index) =>
    end === '0' ? [] : [`msgx ${instances[index]?.name ?? ''} was stopped and ended with ${end}`],
  );
}

function progressLine(played: Played | null, { progress }: Watch): string {
  const { finished, undelivered } = progress;
  return `${String(played?.messages ?? 0)} written, ${String(finished)} processed, ${String(undelivered)} to be told`;
}
