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
import type { Facts, Finding } from './checker/facts.ts';
import { faultsOf, type Counts } from './faults.ts';
import { Instance } from './instance.ts';
import { startParts, type Parts } from './parts.ts';
import { readFacts } from './read-facts.ts';
import { planFaults, quotaFor } from './schedule.ts';
import { StubbornUpstream } from './upstream.ts';
import { watch, type Watch } from './watch.ts';

export interface TortureOptions {
  readonly minutes: number;
  readonly seed: string;
  /** Messages per second. */
  readonly rate: number;
  /** Logs, data of the servers and findings. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

export interface TortureReport {
  readonly counts: Counts & { readonly takeovers: number };
  readonly written: number;
  readonly processed: number;
  /** What the checker found, or `msgx verify`, and quotas that were not reached. */
  readonly findings: readonly string[];
}

const SHARES = { duplicates: 0.02, poison: 0.01, holes: 0.004, late: 0.006, unsupported: 0.003 };
const PROGRESS_MS = 10_000;
/** How long msgx may take after the last fault, ms. */
const DRAIN_MS = 180_000;
const HELD_MS = 5_000;
const MOST_SHOWN = 20;

/** Runs it; throws where the run itself could not be made, e.g. nothing is drained in time. */
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
  try {
    await Promise.all([
      faults.run(),
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
    await heal(instances);
    const pipeline = await parts.reopen();
    closing.onTestFinished(() => pipeline.close());
    await pipeline.drained(DRAIN_MS);
    tell(`${progressLine(writing.played, watching)}; drained, checking`);
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
  } finally {
    clearInterval(progress);
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
async function heal(instances: readonly Instance[]): Promise<void> {
  for (const { wiring } of instances) {
    for (const proxy of Object.values(wiring.proxies)) {
      proxy.heal();
      proxy.cut();
    }
  }
  await sleep(0);
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

/** Times at which another instance than the one before became active. */
function takeoversOf(instances: readonly Instance[]): number {
  const order = instances
    .flatMap((instance) => instance.epochs().map((epoch) => ({ epoch, name: instance.name })))
    .toSorted((left, right) => (left.epoch < right.epoch ? -1 : 1));
  return order.filter(({ name }, index) => index > 0 && order[index - 1]?.name !== name).length;
}

/** A process that ended though nobody had killed it, or complained: no fault of a server or the network may do that. */
function endsOf(instances: readonly Instance[]): readonly string[] {
  return instances.flatMap((instance) => [
    ...instance.ownEnds.map(
      ({ code, signal, stderr }) =>
        `msgx ${instance.name} ended by itself: ${signal ?? String(code)} ${stderr}`,
    ),
    ...instance.stderr().map((text) => `msgx ${instance.name} wrote to stderr: ${text}`),
  ]);
}

async function stopAll(instances: readonly Instance[]): Promise<readonly string[]> {
  const ends = await Promise.all(instances.map((instance) => instance.stop()));
  return ends.flatMap((end, index) =>
    end === '0' ? [] : [`msgx ${instances[index]?.name ?? ''} was stopped and ended with ${end}`],
  );
}

/** The run was gentler than it says. */
function missed(counts: TortureReport['counts'], minutes: number): readonly string[] {
  const quota = quotaFor(minutes);
  const { kills, servers, network, takeovers } = counts;
  const done = { ...servers, kill: kills, network, takeover: takeovers };
  const names = Object.keys(quota) as (keyof typeof quota)[];
  return names.flatMap((name) =>
    done[name] < quota[name]
      ? [`quota of ${name} missed: ${String(done[name])} of ${String(quota[name])}`]
      : [],
  );
}

function summary(
  say: (line: string) => void,
  {
    counts,
    facts,
    upstream,
    watching,
    findings,
  }: {
    counts: TortureReport['counts'];
    facts: Facts;
    upstream: StubbornUpstream;
    watching: Watch;
    findings: readonly string[];
  },
): void {
  const { kills, servers, network, freezes, lostAnswers, clocks, takeovers } = counts;
  const late = facts.messages.filter(({ late }) => late).length;
  const again = facts.changes.length - new Set(facts.changes.map(({ eventId }) => eventId)).size;
  const rows = {
    'kills of msgx': kills,
    'kills of MariaDB': servers.mariadb,
    'kills of PostgreSQL': servers.postgres,
    'kills of Kafka': servers.kafka,
    'network faults': network,
    'SIGSTOP and SIGCONT': freezes,
    'answers to commits lost': lostAnswers,
    'clock jumps': clocks,
    takeovers,
    'messages written': facts.mailbox.length,
    'writes repeated by the upstream': upstream.repeats,
    'messages processed': facts.messages.filter(({ terminalSeq }) => terminalSeq !== null).length,
    'of them late': late,
    'changes told': facts.changes.length,
    'of them again': again,
    'looks for early marks': watching.looks,
    findings: findings.length,
  };
  for (const [name, value] of Object.entries(rows)) say(`${name.padEnd(32)} ${String(value).padStart(7)}`);
  for (const line of findings.slice(0, MOST_SHOWN)) say(`  ${line}`);
  if (findings.length > MOST_SHOWN) say(`  and ${String(findings.length - MOST_SHOWN)} more in findings.txt`);
}

function lineOf({ kind, subject, detail }: Finding): string {
  return `${kind}: ${subject}: ${detail}`;
}

function progressLine(played: Played | null, { progress }: Watch): string {
  const { finished, undelivered } = progress;
  return `${String(played?.messages ?? 0)} written, ${String(finished)} processed, ${String(undelivered)} to be told`;
}
