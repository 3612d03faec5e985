/**
 * Rows per statement. One statement would do for any number, but its parameters are put into text in one go, and
 * meanwhile nothing else runs in this process: not even the renewal of the lease.
 */
export const CHUNK_ROWS = 2_000;

/** Cuts rows into parts for one statement each, in order; one part where they are few, none where there are none. */
export function* chunksOf<T>(rows: readonly T[], size = CHUNK_ROWS): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}
