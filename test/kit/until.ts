/** Waiting for something to become true, by asking again; never a fixed sleep. */
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 20;

/**
 * Asks until the answer is not null and gives it. Throws after the deadline with what was waited for and the
 * last word of `standing`, so that a failure says how far things had come.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null> | T | null,
  options: { readonly timeoutMs?: number; readonly standing?: () => unknown } = {},
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) {
      const standing = options.standing === undefined ? '' : `: ${JSON.stringify(options.standing())}`;
      throw new Error(`waited ${String(timeoutMs)} ms for ${what}${standing}`);
    }
    await sleep(PAUSE_MS);
  }
}
