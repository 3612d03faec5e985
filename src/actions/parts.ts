/** The things that an action is for, in parts of a transaction or a trial each. */
import { chunksOf } from '../store/chunks.ts';

/**
 * Those that are named, each once, in the order of their IDs; without names all that there are when their turn comes.
 *
 * @param next the first IDs behind one, ascending, at most `size`
 */
export async function* partsOf(
  named: readonly bigint[] | 'all',
  size: number,
  next: (after: bigint, size: number) => Promise<readonly bigint[]>,
): AsyncGenerator<readonly bigint[]> {
  if (named !== 'all') {
    yield* chunksOf(
      [...new Set(named)].sort((left, right) => (left < right ? -1 : 1)),
      size,
    );
    return;
  }
  for (let after = -1n; ;) {
    const part = await next(after, size);
    const last = part.at(-1);
    if (last === undefined) return;
    yield part;
    after = last;
  }
}
