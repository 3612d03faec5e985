/** Driving work that is done in steps: at once, or with pauses in which others have the thread. */
import type { DecodeOutcome } from '../domain/message.ts';
import type { Dialect } from './port.ts';

/** Does all steps. */
export function atOnce<T>(steps: Iterator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Does all steps, with a pause between two of them.
 *
 * @param pause whether it waits at all is its own matter
 */
export async function withPauses<T>(steps: Iterator<unknown, T>, pause: () => Promise<void>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

/** Decodes with a pause wherever the dialect allows one. */
export async function decodePausing(
  dialect: Pick<Dialect, 'decode' | 'decodeInSteps'>,
  text: string,
  pause: () => Promise<void>,
): Promise<DecodeOutcome> {
  return dialect.decodeInSteps === undefined
    ? dialect.decode(text)
    : withPauses(dialect.decodeInSteps(text), pause);
}
