/** `msgx simulate`: a day of the airport into the mailbox, as its upstream would write it. */
import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { Temporal } from 'temporal-polyfill';
import type { Played } from '../../simulator/writer.ts';
import type { DayOptions } from '../../simulator/steps.ts';
import { complain, print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, untilSignal, withConfig, type CommonOptions } from '../shell.ts';

interface SimulateOptions extends CommonOptions {
  readonly count: number;
  readonly rate: number;
  readonly seed?: string;
  readonly day?: string;
  readonly duplicates: number;
  readonly poison: number;
  readonly holes: number;
  readonly late: number;
  readonly unsupported: number;
  readonly mailboxName?: string;
}

/** Pause between two lines of progress on a terminal, ms. */
const PROGRESS_MS = 2_000;

export function register(program: Command): void {
  addCommand(program, {
    usage: 'simulate',
    description: "write a simulated airport day into the mailbox, the demo's traffic",
  })
    .option('--count <n>', 'messages', wholeNumber, 2_000)
    .option('--rate <n>', 'messages per second; 0 = as fast as it can', rate, 0)
    .option('--seed <text>', 'the same seed and day give the same messages (default: random, printed)')
    .option('--day <date>', "operation day, YYYY-MM-DD (default: tomorrow in the airport's zone)")
    .option('--duplicates <share>', 'repeats of earlier messages', share, 0.02)
    .option('--poison <share>', 'MALFORMED, CODEC_ERROR and PROTOCOL in equal parts', share, 0.01)
    .option('--holes <share>', 'rolled-back inserts, on top of count', share, 0.005)
    .option('--late <share>', 'committed after later IDs, half of them beyond max-commit-delay', share, 0)
    .option('--unsupported <share>', 'messages of a type that nothing processes', share, 0)
    .option('--mailbox-name <database>', "the mailbox's name, where 'mailbox init' did not make it")
    .action(simulate);
}

async function simulate(options: SimulateOptions): Promise<void> {
  const { config } = withConfig(options);
  const { simulateDay } = await import('../../simulator/day.ts');
  const { play } = await import('../../simulator/writer.ts');
  const { withMailbox, refuseForeign } = await import('../mailbox-access.ts');
  const { count, duplicates, poison, holes, late, unsupported } = options;
  const { timeZone, airport } = config;
  const day = options.day ?? Temporal.Now.plainDateISO(timeZone).add({ days: 1 }).toString();
  const seed = options.seed ?? String(randomInt(1_000_000_000));
  const asked: DayOptions = {
    ...{ seed, day, count, timeZone, airport },
    ...{ duplicates, poison, holes, late, unsupported },
  };
  const steps = stepsOf(simulateDay, asked);
  // From here on: a server that is being started for this must be stopped again.
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  await withMailbox(config, async ({ mailbox }) => {
    await refuseForeign(mailbox, options.mailboxName);
    const started = performance.now();
    const played = await play({
      mailbox,
      steps,
      rate: options.rate,
      maxCommitDelayMs: config.pipeline.maxCommitDelayMs,
      signal: stop.signal,
      onProgress: progress(count, started),
    });
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    report({ seed, day, seconds, played, json: options.json === true });
  });
}

/** A day that cannot be is a fault of the command line. */
function stepsOf<T>(make: (asked: DayOptions) => T, asked: DayOptions): T {
  try {
    return make(asked);
  } catch (error) {
    if (error instanceof RangeError) throw new ExpectedFailure(error.message, 2, { cause: error });
    throw error;
  }
}

function report(result: { seed: string; day: string; seconds: number; played: Played; json: boolean }): void {
  const { seed, day, seconds, played, json } = result;
  const { messages, holes, late, firstId, lastId, stopped } = played;
  if (json) {
    printJson({ seed, day, messages, holes, late, firstId, lastId, seconds, stopped });
    return;
  }
  print(
    `seed ${seed}, day ${day}${stopped ? ' (stopped before its end)' : ''}`,
    `${messages} messages, ${late} of them late, and ${holes} holes in ${seconds} s`,
    `IDs ${firstId?.toString() ?? '–'} to ${lastId?.toString() ?? '–'}`,
  );
}

/** A line of progress now and then, on a terminal only. */
function progress(count: number, started: number): (played: Played) => void {
  let next = started + PROGRESS_MS;
  return ({ messages, held }) => {
    if (!process.stderr.isTTY || performance.now() < next) return;
    next = performance.now() + PROGRESS_MS;
    complain(`${messages} of ${count} messages${held > 0 ? `, ${held} held open` : ''}`);
  };
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a whole number from 1');
  return Number(text);
}

function rate(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1e6)) throw new InvalidArgumentError('a number from 0');
  return value;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('a share from 0 to 1');
  return value;
}
