/** "Did you mean …?": the known name nearest to one that is not known. */
import { distance } from 'fastest-levenshtein';

/**
 * The candidate nearest to a name by edit distance, null only where there is none. A name that is right
 * but stands in the wrong group (`msgx.claim-batch`) finds the one with the same last part.
 */
export function nearest(name: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const whole = distance(name, candidate);
    // Two edits are charged for the wrong group; the whole distance breaks ties.
    const inOtherGroup = distance(lastPart(name), lastPart(candidate)) + 2 + whole / 1_000;
    const score = Math.min(whole, inOtherGroup);
    if (score < bestScore) [best, bestScore] = [candidate, score];
  }
  return best;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
