/**
 * The rules of the watermark (seed §4.1, decisions.md "Watermark details"). Pure: what was read and the time
 * come in, what to record, release and enqueue comes out. IDs are BigInt, holes are ranges and never expanded.
 */

/** A range of IDs, both ends included. */
export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** A hole above W and what is known of it; time in milliseconds. */
export interface Hole extends Range {
  readonly firstSeenAt: number;
  /** Writers of the mailbox table when it was first seen; null where that cannot be known. */
  readonly writers: readonly string[] | null;
}

/** What one statement saw of the IDs in (after, through]: everything there that is in no gap exists. */
export interface Observation {
  readonly after: bigint;
  readonly through: bigint;
  /** Ascending, disjoint, inside (after, through]. */
  readonly gaps: readonly Range[];
}

/** Reads ascending rows above `after` as an observation. */
export function observe(after: bigint, rows: readonly { readonly id: bigint }[]): Observation {
  const gaps: Range[] = [];
  let before = after;
  for (const { id } of rows) {
    if (id > before + 1n) gaps.push({ from: before + 1n, to: id - 1n });
    before = id;
  }
  return { after, through: before, gaps };
}

/** The open holes after an observation. */
export interface Reconciled {
  /** Known holes, shrunk or split by what has been filled; each keeps its own first sight. */
  readonly kept: readonly Hole[];
  /** Ranges missing now that were in no known hole: they are first seen now. */
  readonly fresh: readonly Range[];
}

/**
 * Compares known holes with what was observed (ascending, disjoint observations). A known hole outside every
 * observation is kept as it is; inside, only its part that is still missing is.
 */
export function reconcile(known: readonly Hole[], observations: readonly Observation[]): Reconciled {
  const kept: Hole[] = [];
  const fresh: Range[] = [];
  let at = 0;
  /** The rest of the known hole at `at`, where an observation ended inside it. */
  let rest: Hole | undefined = known[0];
  const next = () => {
    at += 1;
    rest = known[at];
  };
  const keepBefore = (bound: bigint) => {
    while (rest !== undefined && rest.from < bound) {
      if (rest.to < bound) {
        kept.push(rest);
        next();
      } else {
        kept.push({ ...rest, to: bound - 1n });
        rest = { ...rest, from: bound };
      }
    }
  };
  const dropBefore = (bound: bigint) => {
    while (rest !== undefined && rest.from < bound) {
      if (rest.to < bound) next();
      else rest = { ...rest, from: bound };
    }
  };
  for (const { after, through, gaps } of observations) {
    keepBefore(after + 1n);
    for (const gap of gaps) {
      dropBefore(gap.from);
      let from = gap.from;
      while (from <= gap.to) {
        if (rest === undefined || rest.from > gap.to) {
          fresh.push({ from, to: gap.to });
          break;
        }
        if (rest.from > from) fresh.push({ from, to: rest.from - 1n });
        const to: bigint = rest.to < gap.to ? rest.to : gap.to;
        kept.push({ ...rest, to });
        from = to + 1n;
        if (rest.to <= gap.to) next();
        else rest = { ...rest, from };
      }
    }
    dropBefore(through + 1n);
  }
  while (rest !== undefined) {
    kept.push(rest);
    next();
  }
  return { kept: joined(kept), fresh };
}

/** A hole cut at the edge of an observation and kept on both sides is one hole again. */
function joined(holes: readonly Hole[]): readonly Hole[] {
  const result: Hole[] = [];
  for (const hole of holes) {
    const last = result.at(-1);
    const same =
      last !== undefined &&
      last.to + 1n === hole.from &&
      last.firstSeenAt === hole.firstSeenAt &&
      last.writers === hole.writers;
    if (same) result[result.length - 1] = { ...last, to: hole.to };
    else result.push(hole);
  }
  return result;
}

/** When a hole may be released; durations in milliseconds. */
export interface ReleaseRules {
  readonly maxCommitDelayMs: number;
  readonly maxHoleHoldMs: number;
  /**
   * elapsed: wait max-commit-delay in any case. proved: release as soon as all writers have ended, for
   * mailboxes that assign IDs inside the inserting transaction.
   */
  readonly mode: 'elapsed' | 'proved';
}

export type Verdict =
  | {
      readonly kind: 'release';
      /** A writer still lives, but max-hole-hold is over. */
      readonly forced: boolean;
    }
  /** Too young, or held by a living writer; `until` is when time alone would change the verdict. */
  | { readonly kind: 'wait'; readonly held: boolean; readonly until: number };

/**
 * Judges one hole.
 * @param living the writers of the mailbox table now; null where they cannot be known: the clock alone decides.
 */
export function judge(
  hole: Hole,
  now: number,
  rules: ReleaseRules,
  living: ReadonlySet<string> | null,
): Verdict {
  const ripeAt = hole.firstSeenAt + rules.maxCommitDelayMs;
  const known = hole.writers !== null && living !== null;
  if (rules.mode === 'elapsed' || !known) {
    if (now < ripeAt) return { kind: 'wait', held: false, until: ripeAt };
  }
  if (known && hole.writers.some((writer) => living.has(writer))) {
    const overdueAt = hole.firstSeenAt + Math.max(rules.maxHoleHoldMs, rules.maxCommitDelayMs);
    return now < overdueAt
      ? { kind: 'wait', held: true, until: overdueAt }
      : { kind: 'release', forced: true };
  }
  return { kind: 'release', forced: false };
}

/** How far W may go. */
export interface Plan<R> {
  /** The new W: the last row taken, or the old W. */
  readonly watermark: bigint;
  /** Rows at or below the new W, ascending. */
  readonly taken: readonly R[];
  /** Holes that W passes: they are to be released. */
  readonly crossed: readonly Hole[];
  /** Holes of the gap that stopped it; empty where all rows were taken. */
  readonly stoppedBy: readonly Hole[];
}

/**
 * Counts up from W over the rows read and stops at the first gap that is not covered by holes which may be
 * passed. A gap is passed to the row that follows it and never further (seed §4.1).
 * @param rows ascending, above W. @param holes open holes, ascending.
 */
export function plan<R extends { readonly id: bigint }>(
  watermark: bigint,
  rows: readonly R[],
  holes: readonly Hole[],
  passable: (hole: Hole) => boolean,
): Plan<R> {
  const taken: R[] = [];
  const crossed: Hole[] = [];
  let bound = watermark;
  let at = 0;
  for (const row of rows) {
    const inGap: Hole[] = [];
    let covered = bound;
    for (let hole = holes[at]; hole !== undefined && hole.from < row.id; hole = holes[++at]) {
      if (hole.from === covered + 1n && hole.to < row.id) covered = hole.to;
      inGap.push(hole);
    }
    if (covered !== row.id - 1n || !inGap.every(passable)) {
      return { watermark: bound, taken, crossed, stoppedBy: inGap };
    }
    crossed.push(...inGap);
    taken.push(row);
    bound = row.id;
  }
  return { watermark: bound, taken, crossed, stoppedBy: [] };
}

/** A plan cut after its first rows, for the bounds of a batch. */
export function cut<R extends { readonly id: bigint }>(whole: Plan<R>, rows: number): Plan<R> {
  if (rows >= whole.taken.length) return whole;
  const taken = whole.taken.slice(0, rows);
  const watermark = taken.at(-1)?.id;
  if (watermark === undefined) throw new RangeError('a plan is cut after at least one row');
  return { watermark, taken, crossed: whole.crossed.filter(({ to }) => to < watermark), stoppedBy: [] };
}

/** The hole at W + 1, which HOLE_SINCE mirrors. */
export function holeAbove(watermark: bigint, holes: readonly Hole[]): Hole | null {
  return holes.find(({ from, to }) => from <= watermark + 1n && watermark + 1n <= to) ?? null;
}
