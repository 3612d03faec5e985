/** `msgx demo`: everything embedded, an airport day playing, the console; Ctrl-C stops cleanly, state survives. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import type { Mailbox } from '../../mailbox/port.ts';
import type { DayOptions } from '../../simulator/steps.ts';
import type { Logger } from '../../runtime/logger.ts';
import { print } from '../output.ts';
import { ExpectedFailure, addCommand, untilSignal } from '../shell.ts';

interface DemoOptions {
  readonly listen: string;
  readonly rate: string;
  readonly dir: string;
}

/** Messages of one simulated day; at the default rate it plays for about a quarter of an hour. */
const COUNT = 6_000;
const ZONE = 'Asia/Shanghai';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'demo',
    description:
      'everything embedded: PostgreSQL, a mailbox, a simulated airport day, the pipeline, the console',
    json: false,
  })
    .option('--listen <host:port>', 'address of the console', '127.0.0.1:8080')
    .option('--rate <n>', 'messages per second', '6')
    .option('--dir <folder>', 'where the demo keeps its data', '.msgx/demo')
    .action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  const { configFromObject } = await import('../../config/load.ts');
  const { createLogger } = await import('../../runtime/logger.ts');
  const { startHost } = await import('../host.ts');
  const { withResources } = await import('../resources.ts');
  const rate = Number(options.rate);
  if (!(rate > 0 && rate <= 10_000)) throw new ExpectedFailure('--rate must be a number from 0 to 10000', 2);
  const result = configFromObject({
    airport: 'CTU',
    'time-zone': ZONE,
    database: { url: 'embedded', 'embedded-dir': `${options.dir}/data` },
    mailbox: { url: 'embedded' },
    delivery: { journal: { dir: `${options.dir}/journal` } },
    http: { listen: options.listen },
    // Holes are part of the demo; half a minute of waiting for each would hide everything else.
    pipeline: { 'max-commit-delay': '5s' },
    // The upstream answers some of these, and some not: a minute shows both.
    requests: { 'on-start': ['tomorrow', 'AIRL', 'ARPT', 'GLST', 'DLYL', 'STTS'], timeout: '1m' },
    log: { level: 'warn', format: 'text' },
  });
  if (!result.ok) throw new ExpectedFailure(result.faults, 2);
  const signal = untilSignal();
  const log = createLogger({ ...result.config.log, output: 'stderr' });
  print('starting PostgreSQL …');
  await withResources(result.config, async (resources) => {
    const { mailbox } = resources;
    if (!(await mailbox.isOurs())) await mailbox.init();
    const host = await startHost(resources, log);
    const stop = new AbortController();
    const answers = await AnswerCount.read(options.dir);
    const first = await firstDay(options.dir);
    const days = new Set([first]);
    const playing = playDays(mailbox, { first, days, rate, answers: answers.count }, stop.signal, log);
    const answering = answerRequests(mailbox, days, answers, stop.signal, log);
    print(`console: ${host.server.url}`, 'an airport day is playing; Ctrl-C stops, starting again goes on');
    try {
      await Promise.race([signal, host.ended, playing]);
    } finally {
      print('stopping …');
      stop.abort();
      await Promise.allSettled([playing, answering, host.stop()]);
    }
  });
  print('stopped; the state is kept');
}

interface Play {
  readonly first: string;
  /** Days that were begun; the upstream knows no other. */
  readonly days: Set<string>;
  readonly rate: number;
  /** IDs of the mailbox that answers have used up. */
  readonly answers: bigint;
}

/** Plays the first day from where it was left, then the days after it, until told to stop. */
async function playDays(
  mailbox: Mailbox,
  { first, days, rate, answers }: Play,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const { simulateDay } = await import('../../simulator/day.ts');
  const { play, skipSteps } = await import('../../simulator/writer.ts');
  const { messageOf } = await import('../../runtime/outage.ts');
  const highest = (await mailbox.bounds())?.max ?? 0n;
  // A broken-off day goes on at its step: each step has used up one ID of the mailbox, and each answer.
  let skip = highest > answers ? highest - answers : 0n;
  let number = 0;
  while (!isStopped(signal)) {
    const day = Temporal.PlainDate.from(first).add({ days: number }).toString();
    number += 1;
    days.add(day);
    const steps = [...simulateDay(demoDay(day))];
    const played = skip < BigInt(steps.length) ? skip : BigInt(steps.length);
    skip -= played;
    try {
      await play({ mailbox, steps: skipSteps(steps, played), rate, maxCommitDelayMs: 5_000, signal });
    } catch (error) {
      if (isStopped(signal)) return;
      log.warn({ error: messageOf(error) }, 'the simulated day was broken off');
      await sleep(1_000);
    }
  }
}

function demoDay(day: string): DayOptions {
  return {
    ...{ seed: 'demo', day, count: COUNT, timeZone: ZONE, airport: 'CTU' },
    ...{ duplicates: 0.02, poison: 0.005, holes: 0.003, late: 0.001, unsupported: 0 },
  };
}

/** How many answers the upstream has ever written: kept beside the demo's data. */
class AnswerCount {
  readonly #file: string;
  count: bigint;

  private constructor(file: string, count: bigint) {
    this.#file = file;
    this.count = count;
  }

  static async read(folder: string): Promise<AnswerCount> {
    const { readFile } = await import('node:fs/promises');
    const file = join(folder, 'answers');
    const known = (await readFile(file, 'utf8').catch(() => '')).trim();
    return new AnswerCount(file, /^\d{1,18}$/.test(known) ? BigInt(known) : 0n);
  }

  async add(): Promise<void> {
    const { writeFile } = await import('node:fs/promises');
    this.count += 1n;
    await writeFile(this.#file, this.count.toString());
  }
}

/** Plays the upstream's side of requests: of five it answers three at once or after a while, one twice, one never. */
async function answerRequests(
  mailbox: Mailbox,
  days: ReadonlySet<string>,
  answers: AnswerCount,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const { ScriptedUpstream } = await import('../../simulator/upstream.ts');
  const { plannedRecords } = await import('../../simulator/day.ts');
  const { referencePackages } = await import('../../simulator/reference-data.ts');
  const { messageOf } = await import('../../runtime/outage.ts');
  const packages = new Map(referencePackages().map(({ type, records }) => [type, records]));
  const upstream = new ScriptedUpstream({
    ...{ mailbox, clock: { now: () => Date.now() }, timeZone: ZONE },
    after: await mailbox.withOutbound((outbound) => outbound.highest()),
    behave: ({ outId }) => {
      const turn = Number(outId % 5n);
      if (turn === 4) return { answer: 'never', delayMs: 0, echo: false };
      return { answer: turn === 3 ? 'twice' : 'once', delayMs: turn * 3_000, echo: turn !== 2 };
    },
    schedule: (day) => (days.has(day) ? plannedRecords(demoDay(day)) : []),
    reference: (rtype) => packages.get(rtype) ?? [],
    onAnswer: () => answers.add(),
  });
  while (!isStopped(signal)) {
    await upstream.poll().catch((error: unknown) => {
      if (!isStopped(signal)) log.warn({ error: messageOf(error) }, 'the upstream could not answer');
    });
    await sleep(500, undefined, { signal }).catch(() => undefined);
  }
}

/** Tomorrow at the demo's first start: a demo that is started again another day goes on with the same days. */
async function firstDay(folder: string): Promise<string> {
  const { readFile, writeFile } = await import('node:fs/promises');
  const file = join(folder, 'first-day');
  const known = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (/^\d{4}-\d\d-\d\d$/.test(known)) return known;
  const tomorrow = Temporal.Now.plainDateISO(ZONE).add({ days: 1 }).toString();
  await writeFile(file, tomorrow);
  return tomorrow;
}

/** A call, because the signal changes while others run. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
