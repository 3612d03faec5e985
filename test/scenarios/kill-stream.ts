/**
 * What the kill points are tried on: a day in three portions, each of which has what every point needs, and the same
 * outcome whatever is killed in between. All three are played into one mailbox, one after the other.
 */
import type { Step } from '../../src/simulator/steps.ts';
import type { TestPipeline } from '../kit/service-pipeline.ts';
import { until } from '../kit/until.ts';
import { daySteps, playInto } from './simulated.ts';
import { remarkText, scheduleText } from './texts.ts';

/** Every point is tried once in each. */
export const PORTIONS = 3;

/** Longest time to drain: up to three processes may be killed in one portion, and four started. */
const DRAIN_MS = 120_000;

export interface Portion {
  readonly steps: readonly Step[];
  /** The ID of a hole among the steps; its message comes when everything else has ended. */
  readonly hole: bigint;
  readonly late: string;
  /** Sent to the compat entry when that has ended, too. */
  readonly sent: string;
  /** Messages up to the end of the portion, and the last ID. */
  readonly messages: number;
  readonly last: bigint;
}

/** The portions of the stream. Each step uses up one ID, and so does the message that is sent. */
export function killStream(): readonly Portion[] {
  // A seed whose day has, in each third, what is not added below.
  const day = daySteps({
    seed: '28',
    count: 105,
    duplicates: 0.06,
    poison: 0.07,
    unsupported: 0.06,
    holes: 0.06,
  });
  const length = Math.ceil(day.length / PORTIONS);
  let messages = 0;
  let last = 0n;
  return Array.from({ length: PORTIONS }, (_, index): Portion => {
    const schedule: Step = { kind: 'message', text: scheduleText(), note: { about: 'schedule' } };
    const steps = [schedule, ...day.slice(index * length, (index + 1) * length)];
    const hole = last + 1n + BigInt(steps.findIndex(({ kind }) => kind === 'hole'));
    messages += steps.filter(({ kind }) => kind !== 'hole').length + 2;
    last += BigInt(steps.length) + 1n;
    const word = `portion ${String(index)}`;
    return {
      steps,
      hole,
      late: remarkText(`late, ${word}`),
      sent: remarkText(`sent, ${word}`),
      messages,
      last,
    };
  });
}

/** How many steps of a portion are of a kind, or of the error class that poison has. */
export function countOf({ steps }: Portion, kind: string): number {
  return steps.filter((step) => {
    if (step.kind === 'hole') return kind === 'hole';
    return kind === step.note.about || (step.note.about === 'poison' && kind === step.note.errorClass);
  }).length;
}

/**
 * Plays a portion to its end, whatever becomes of the process that reads it meanwhile.
 * @param options.from the first step that is not in the mailbox yet; `url` is that of the process that serves now
 */
export async function playPortion(
  pipeline: TestPipeline,
  portion: Portion,
  options: { readonly from: number; readonly rate: number; readonly url: () => Promise<string> },
): Promise<void> {
  await playInto(pipeline, portion.steps.slice(options.from), options.rate);
  await pipeline.drained(DRAIN_MS);
  await pipeline.mailboxSide.insertAt(portion.hole, portion.late);
  await pipeline.drained(DRAIN_MS);
  await send(pipeline, portion, options.url);
  await pipeline.drained(DRAIN_MS);
}

/** Sends as a client does that repeats what got no answer, unless the mailbox has it. */
async function send(
  pipeline: TestPipeline,
  { sent, last }: Portion,
  url: () => Promise<string>,
): Promise<void> {
  await until('the message to be taken', async () => {
    const answered = await fetch(`${await url()}/cminmsgs/send`, {
      method: 'POST',
      body: sent,
      headers: { 'content-type': 'application/xml' },
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return true;
    return (await pipeline.mailbox.bounds())?.max === last ? true : null;
  });
}
