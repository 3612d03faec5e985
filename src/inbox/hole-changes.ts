/** What a round changes in the stored holes: a pure difference between before and after. */
import type { HoleRow } from '../store/inbox-hole.ts';
import type { Hole } from './watermark.ts';

export interface HoleChanges {
  /** First IDs of stored holes that go, or are stored anew with other ends or another state. */
  readonly remove: readonly bigint[];
  readonly insert: readonly HoleRow[];
  readonly none: boolean;
}

/**
 * @param known open holes as stored. @param open those open after the round. @param released those that W passed.
 */
export function holeChanges(
  known: readonly Hole[],
  open: readonly Hole[],
  released: readonly Hole[],
  now: number,
): HoleChanges {
  const unchanged = new Map(known.map((hole) => [hole.from, hole]));
  const insert: HoleRow[] = [];
  const stays = new Set<bigint>();
  for (const hole of open) {
    const stored = unchanged.get(hole.from);
    if (stored?.to === hole.to && stored.firstSeenAt === hole.firstSeenAt) stays.add(hole.from);
    else insert.push({ ...hole, releasedAt: null, foundAt: null, past: false });
  }
  for (const hole of released) insert.push({ ...hole, releasedAt: now, foundAt: null, past: false });
  const remove = known.filter(({ from }) => !stays.has(from)).map(({ from }) => from);
  return { remove, insert, none: remove.length === 0 && insert.length === 0 };
}
