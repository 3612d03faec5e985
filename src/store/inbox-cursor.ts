/** The poller's cursor (seed §1, INBOX_CURSOR). One row: no index is needed. */
import { statement, type Queryable } from './statement.ts';
import { toMillisOrNull, toTimestamp } from './time.ts';

/** The cursor; times in milliseconds. */
export interface Cursor {
  /** W: every mailbox ID in (seed, W] is enqueued or released as a hole. */
  readonly watermark: bigint;
  /** When the hole at W + 1 was first seen; null where there is none. */
  readonly holeSince: number | null;
  readonly seededAt: number | null;
  /** W as seeded; nothing at or below it is ever enqueued. */
  readonly seed: bigint;
  readonly scannedAt: number | null;
  /** W at the last completed late scan. */
  readonly scannedWatermark: bigint;
  /** When the mailbox was last read successfully; written at most once a second while nothing comes. */
  readonly polledAt: number | null;
}

interface CursorRow {
  readonly watermark: bigint;
  readonly hole_since: string | null;
  readonly seeded_at: string | null;
  readonly seed: bigint;
  readonly scanned_at: string | null;
  readonly scanned_watermark: bigint;
  readonly polled_at: string | null;
}

const SELECT = statement(
  'cursor.select',
  `select watermark, hole_since, seeded_at, seed, scanned_at, scanned_watermark, polled_at from inbox_cursor`,
);

/** Reads the cursor. */
export async function readCursor(db: Queryable): Promise<Cursor> {
  const [row] = await db.query<CursorRow>(SELECT);
  if (row === undefined) throw new Error('the row of inbox_cursor is missing: run msgx migrate');
  return {
    watermark: row.watermark,
    holeSince: toMillisOrNull(row.hole_since),
    seededAt: toMillisOrNull(row.seeded_at),
    seed: row.seed,
    scannedAt: toMillisOrNull(row.scanned_at),
    scannedWatermark: row.scanned_watermark,
    polledAt: toMillisOrNull(row.polled_at),
  };
}

const ADVANCE = statement(
  'cursor.advance',
  `update inbox_cursor set watermark = $2, hole_since = $3::timestamptz, polled_at = $4::timestamptz
   where watermark = $1 returning 1`,
);

/** Moves W (or only HOLE_SINCE) from the expected W. Throws where the row says another W: somebody else moved it. */
export async function advanceCursor(
  tx: Queryable,
  from: bigint,
  to: { readonly watermark: bigint; readonly holeSince: number | null; readonly polledAt: number },
): Promise<void> {
  const moved = await tx.query(ADVANCE, [
    from,
    to.watermark,
    to.holeSince === null ? null : toTimestamp(to.holeSince),
    toTimestamp(to.polledAt),
  ]);
  if (moved.length !== 1)
    throw new Error(`the watermark is no longer ${from.toString()}: somebody else moved it`);
}

const TOUCH = statement('cursor.touch', `update inbox_cursor set polled_at = $1::timestamptz`);

/** Notes that the mailbox was read and had nothing new. */
export async function touchCursor(tx: Queryable, polledAt: number): Promise<void> {
  await tx.query(TOUCH, [toTimestamp(polledAt)]);
}

const SEED = statement(
  'cursor.seed',
  `update inbox_cursor set watermark = $1, seed = $1, scanned_watermark = $1, seeded_at = $2::timestamptz
   where seeded_at is null and watermark = 0 returning 1`,
);

/** Seeds an untouched cursor; W and the fact of seeding in one statement (seed §4.3). False where it was seeded before. */
export async function seedCursor(tx: Queryable, watermark: bigint, now: number): Promise<boolean> {
  return (await tx.query(SEED, [watermark, toTimestamp(now)])).length === 1;
}

const SCANNED = statement(
  'cursor.scanned',
  `update inbox_cursor set scanned_at = $1::timestamptz, scanned_watermark = $2`,
);

/** Notes a completed late scan and the W it began with. */
export async function recordScan(tx: Queryable, now: number, watermark: bigint): Promise<void> {
  await tx.query(SCANNED, [toTimestamp(now), watermark]);
}

const ANY_MESSAGE = statement(
  'cursor.anyMessage',
  // Any row decides, so the scan ends at once where there is one. A message that is only enqueued does not count:
  // at W = 0 it can only have come through the compat entry, before the inbox had looked (seed §4.4).
  `select exists (select 1 from proc_state where state in ('SUCCEEDED', 'SKIPPED', 'DEAD'))
     or exists (select 1 from proc_state_hst) as present`,
);

/** Whether any message was ever processed here (seed §4.3: an instance with records is not seeded again). */
export async function hasMessages(db: Queryable): Promise<boolean> {
  return (await db.query<{ present: boolean }>(ANY_MESSAGE))[0]?.present === true;
}
