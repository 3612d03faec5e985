/**
 * Holes in the mailbox's IDs, as ranges that are never expanded (decisions.md, "Watermark details"). Open
 * ones lie above W, released ones at or below it; ranges never overlap.
 */
import { statement, type Queryable } from './statement.ts';
import { toMillis, toTimestamp } from './time.ts';

/** An open hole; both ends included, times in milliseconds. */
export interface OpenHole {
  readonly from: bigint;
  readonly to: bigint;
  readonly firstSeenAt: number;
  /** Writers of the mailbox table at first sight; null where that cannot be known. */
  readonly writers: readonly string[] | null;
}

/** A hole as it is to be stored. */
export interface HoleRow extends OpenHole {
  readonly releasedAt: number | null;
  readonly foundAt: number | null;
  /** Missing already when the cursor was seeded. */
  readonly past: boolean;
}

interface StoredHole {
  readonly from: bigint;
  readonly to: bigint;
  readonly first_seen_at: string;
  readonly writers: string[] | null;
  readonly released_at: string | null;
}

const SELECT_OPEN = statement(
  'hole.open',
  // inbox_hole_open, in its order.
  `select from_id as "from", to_id as "to", first_seen_at, writers, released_at
   from inbox_hole where released_at is null and from_id <= $1 order by from_id`,
);

/** Open holes that begin at or below an ID (default: all), ascending. */
export async function selectOpenHoles(db: Queryable, upTo?: bigint): Promise<readonly OpenHole[]> {
  const rows = await db.query<StoredHole>(SELECT_OPEN, [upTo ?? 9_223_372_036_854_775_807n]);
  return rows.map(openHole);
}

function openHole(row: StoredHole): OpenHole {
  return { from: row.from, to: row.to, firstSeenAt: toMillis(row.first_seen_at), writers: row.writers };
}

const SELECT_RELEASED = statement(
  'hole.released',
  // inbox_hole_released: what was released since then.
  `select from_id as "from", to_id as "to", first_seen_at, writers, released_at
   from inbox_hole
   where released_at >= $1::timestamptz and found_at is null and not past and to_id > $2
   order by from_id`,
);

/** Holes released since a time, not found since, that reach above the seed; ascending. */
export async function selectReleasedHoles(
  db: Queryable,
  since: number,
  above: bigint,
): Promise<readonly OpenHole[]> {
  return (await db.query<StoredHole>(SELECT_RELEASED, [toTimestamp(since), above])).map(openHole);
}

const SELECT_AT = statement(
  'hole.at',
  // Primary key: the last hole that begins at or below each ID; ranges never overlap.
  `select distinct on (h.from_id) h.from_id as "from", h.to_id as "to", h.first_seen_at, h.writers, h.released_at
   from unnest($1::bigint[]) as u (id)
   cross join lateral (
     select * from inbox_hole where from_id <= u.id order by from_id desc limit 1
   ) h
   where h.to_id >= u.id and h.released_at is not null and h.found_at is null and not h.past
   order by h.from_id`,
);

/** The released holes in which the given IDs lie. */
export async function selectReleasedAt(
  db: Queryable,
  ids: readonly bigint[],
): Promise<readonly (OpenHole & { readonly releasedAt: number })[]> {
  const rows = await db.query<StoredHole>(SELECT_AT, [ids]);
  return rows.map((row) => ({ ...openHole(row), releasedAt: toMillis(row.released_at ?? '') }));
}

const DELETE = statement(
  'hole.delete',
  // Primary key.
  `delete from inbox_hole where from_id = any ($1::bigint[])`,
);

/** Removes holes by their first IDs: they were filled, or are stored anew with other ends. */
export async function deleteHoles(tx: Queryable, from: readonly bigint[]): Promise<void> {
  if (from.length > 0) await tx.query(DELETE, [from]);
}

const INSERT = statement(
  'hole.insert',
  // Writers stand in one text: arrays of arrays must be of equal length.
  `insert into inbox_hole (from_id, to_id, first_seen_at, writers, released_at, found_at, past)
   select from_id, to_id, first_seen_at, string_to_array(writers, ' '), released_at, found_at, past
   from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::timestamptz[], $6::timestamptz[],
     $7::boolean[]) as u (from_id, to_id, first_seen_at, writers, released_at, found_at, past)`,
);

/** Stores holes. */
export async function insertHoles(tx: Queryable, holes: readonly HoleRow[]): Promise<void> {
  if (holes.length === 0) return;
  await tx.query(INSERT, [
    holes.map(({ from }) => from),
    holes.map(({ to }) => to),
    holes.map(({ firstSeenAt }) => toTimestamp(firstSeenAt)),
    holes.map(({ writers }) => (writers === null ? null : writers.join(' '))),
    holes.map(({ releasedAt }) => (releasedAt === null ? null : toTimestamp(releasedAt))),
    holes.map(({ foundAt }) => (foundAt === null ? null : toTimestamp(foundAt))),
    holes.map(({ past }) => past),
  ]);
}
