/** `msgx demo`: everything embedded, an airport day playing, the console; Ctrl-C stops cleanly, state survives. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Temporal } from 'temporal-polyfill';
import type { Mailbox } from '../../mailbox/port.ts';
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
    const playing = playDays(mailbox, await firstDay(options.dir), rate, stop.signal, log);
    print(`console: ${host.server.url}`, 'an airport day is playing; Ctrl-C stops, starting again goes on');
    try {
      await Promise.race([signal, host.ended, playing]);
    } finally {
      print('stopping …');
      stop.abort();
      await Promise.allSettled([playing, host.stop()]);
    }
  });
  print('stopped; the state is kept');
}

/** Plays the first day from where it was left, then the days after it, until told to stop. */
async function playDays(
  mailbox: Mailbox,
  first: string,
  rate: number,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const { simulateDay } = await import('../../simulator/day.ts');
  const { play, skipSteps } = await import('../../simulator/writer.ts');
  const { messageOf } = await import('../../runtime/outage.ts');
  const highest = (await mailbox.bounds())?.max ?? 0n;
  // A broken-off day goes on at its step: each step has used up one ID of the mailbox.
  let skip = highest;
  let number = 0;
  while (!isStopped(signal)) {
    const day = Temporal.PlainDate.from(first).add({ days: number }).toString();
    number += 1;
    const steps = [
      ...simulateDay({
        ...{ seed: 'demo', day, count: COUNT, timeZone: ZONE, airport: 'CTU' },
        ...{ duplicates: 0.02, poison: 0.005, holes: 0.003, late: 0.001, unsupported: 0 },
      }),
    ];
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
