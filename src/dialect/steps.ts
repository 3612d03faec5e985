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
 * Decodes with a pause wherever the dialect allows one.
 *
 * @param pause called between two steps; whether it waits at all is its own matter
 */
export async function decodePausing(
  dialect: Pick<Dialect, 'decode' | 'decodeInSteps'>,
  text: string,
  pause: () => Promise<void>,
): Promise<DecodeOutcome> {
  if (dialect.decodeInSteps === undefined) return dialect.decode(text);
  const steps = dialect.decodeInSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}
