/**
 * Rests between the pieces of a long action: the stations work on the same thread and in the same database, and what flows
 * must not wait for an operator (performance.md, "A replay beside the line").
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Longest rest, ms: an operator waits. */
const MOST_MS = 200;

/**
 * Makes a function to be called behind each piece of work; it rests as long as the piece took.
 *
 * @param leastMs shortest rest, for what a piece sets off elsewhere
 */
export function pacer(leastMs: number): () => Promise<void> {
  let since = performance.now();
  return async () => {
    const took = performance.now() - since;
    await sleep(Math.min(MOST_MS, Math.max(leastMs, took)));
    since = performance.now();
  };
}
