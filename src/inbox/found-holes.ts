/** Splits released holes by the rows that turned up in them. Pure. */
import type { HoleRow, OpenHole } from '../store/inbox-hole.ts';

/**
 * The rows that take the place of released holes: what is still missing stays released, what was found is
 * marked so. @param ids ascending; each lies in one of the holes or in none.
 */
export function foundInHoles(
  holes: readonly (OpenHole & { readonly releasedAt: number })[],
  ids: readonly bigint[],
  foundAt: number,
): readonly HoleRow[] {
  return holes.flatMap((hole) => {
    const parts: HoleRow[] = [];
    const add = (from: bigint, to: bigint, at: number | null) => {
      if (from > to) return;
      const last = parts.at(-1);
      if (at !== null && last?.foundAt === at && last.to + 1n === from) {
        parts[parts.length - 1] = { ...last, to };
      } else {
        parts.push({ ...hole, from, to, foundAt: at, past: false });
      }
    };
    let next = hole.from;
    for (const id of ids) {
      if (id < hole.from || id > hole.to) continue;
      add(next, id - 1n, null);
      add(id, id, foundAt);
      next = id + 1n;
    }
    add(next, hole.to, null);
    return parts;
  });
}
