/** Simulated days for the scenarios, as `msgx simulate` plays them. */
import { simulateDay } from '../../src/simulator/day.ts';
import type { DayOptions, Step } from '../../src/simulator/steps.ts';
import { play, type Played } from '../../src/simulator/writer.ts';
import type { TestPipeline } from '../kit/service-pipeline.ts';

/** The default shares of `msgx simulate`. */
const DEFAULTS: DayOptions = {
  seed: '1',
  day: '2026-03-14',
  count: 3_000,
  timeZone: 'Asia/Shanghai',
  airport: 'HGH',
  duplicates: 0.02,
  poison: 0.01,
  holes: 0.005,
  late: 0,
  unsupported: 0,
};

/** The steps of a day, default shares unless told otherwise. */
export function daySteps(options: Partial<DayOptions> = {}): readonly Step[] {
  return [...simulateDay({ ...DEFAULTS, ...options })];
}

/** Plays steps into the pipeline's mailbox. @param rate messages per second; 0 = as fast as it can */
export async function playInto(
  pipeline: TestPipeline,
  steps: Iterable<Step>,
  rate = 0,
  signal?: AbortSignal,
): Promise<Played> {
  return play({
    mailbox: pipeline.mailbox,
    steps,
    rate,
    maxCommitDelayMs: pipeline.config.pipeline.maxCommitDelayMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A number from the environment, for the long variant of a scenario. */
export function sized(variable: string, fallback: number): number {
  const text = process.env[variable];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${variable} must be a whole number`);
  return value;
}
