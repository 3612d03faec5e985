/** When jobs run, how large their batches are and how long they rest. Pure. */

/** A run begins at each full interval, ms: small runs often, so that none is ever large. */
export const INTERVAL_MS = 3_600_000;
/** After this a run is begun again that ended for now: what it waits for is over within minutes, ms. */
export const LATER_MS = 60_000;
const RETRY_FIRST_MS = 60_000;
/** Share of the time that a job works at most: it rests this many times as long as a batch took. */
const REST_FACTOR = 4;
const REST_LEAST_MS = 50;

/** The next full interval after a moment, ms. */
export function nextRun(now: number, intervalMs = INTERVAL_MS): number {
  return (Math.floor(now / intervalMs) + 1) * intervalMs;
}

/** When a job that has failed so many times in a row is tried again, ms: after a minute, doubling up to the interval. */
export function nextTry(now: number, failures: number, intervalMs = INTERVAL_MS): number {
  return now + Math.min(RETRY_FIRST_MS * 2 ** Math.min(failures - 1, 30), intervalMs);
}

/** Rest after a batch that took so long, ms. */
export function restAfter(tookMs: number): number {
  return Math.max(REST_LEAST_MS, tookMs * REST_FACTOR);
}

/** Size of the next batch: half where the last one took too long, a quarter more where it was quick. */
export function nextSize(
  size: number,
  tookMs: number,
  bounds: { readonly aimMs: number; readonly least: number; readonly most: number },
): number {
  if (tookMs > bounds.aimMs) return Math.max(bounds.least, Math.floor(size / 2));
  return tookMs < bounds.aimMs / 2 ? Math.min(bounds.most, Math.ceil(size * 1.25)) : size;
}

/** Unfinished messages, and age of a head that could be processed in ms, from which on the line has precedence. */
export const BUSY = { backlog: 200, waitingMs: 1_000 } as const;

/** Whether the line is behind: then upkeep waits. A head that waits for its next attempt keeps nobody. */
export function isBusy(
  load: { readonly backlog: number; readonly waitingSince: number | null },
  now: number,
): boolean {
  if (load.waitingSince === null) return false;
  return load.backlog >= BUSY.backlog || now - load.waitingSince > BUSY.waitingMs;
}
