/**
 * Lets others have the thread during long work: the lease is renewed on it, and a session that idles in its
 * transaction is ended by the server (decisions.md, "One active instance, fenced").
 */
import { setImmediate } from 'node:timers/promises';

/** Longest stretch of work before a pause, ms. */
const STRETCH_MS = 50;

/**
 * Makes a function to be called between pieces of work; it pauses when enough time has passed.
 *
 * @param keepAlive what to do in each pause, e.g. a trivial statement on the open transaction
 */
export function breather(keepAlive: () => Promise<unknown> = async () => undefined): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < STRETCH_MS) return;
    await setImmediate();
    await keepAlive();
    since = performance.now();
  };
}
