/** The heap of V8 while much is held for a short time. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let holders = 0;
let collect: (() => void) | null = null;

/**
 * Runs work that holds much for a short time, as a large message does, without leaving a large heap behind: the young
 * generation keeps its size, and what the work has left is collected at its end. V8 by itself doubles the young
 * generation, up to 128 MiB, when most of what is new outlives a collection, and lets the old one grow to several times
 * of what lives. Collecting takes some 50 ms; small messages are worked on outside of this.
 */
export async function withSteadyHeap<T>(work: () => Promise<T>): Promise<T> {
  if (holders++ === 0) setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await work();
  } finally {
    if (--holders === 0) setFlagsFromString('--semi-space-growth-factor=2');
    collectGarbage();
  }
}

/** Collects now what is no longer held, at a moment when that is much. */
export function collectGarbage(): void {
  if (collect === null) {
    // V8's own function, which Node shows only where it is asked to.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
