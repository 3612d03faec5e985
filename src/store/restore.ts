/** What is known of a restore of our database from a backup (seed §9.2): notes, version floors, marks of rows. */
import { statement, type Queryable } from './statement.ts';
import { toTimestamp } from './time.ts';

/** What a note speaks of: mailbox IDs, event IDs, or our SEQN. */
export type NoteKind = 'messages' | 'events' | 'requests';

const ADD_NOTE = statement(
  'restore.addNote',
  `insert into restore_note (noted_at, kind, known, seen) values ($1, $2, $3, $4)`,
);

/** Notes what the database knew, and what was seen outside. */
export async function addNote(
  tx: Queryable,
  note: { readonly kind: NoteKind; readonly known: bigint; readonly seen: bigint; readonly now: number },
): Promise<void> {
  await tx.query(ADD_NOTE, [toTimestamp(note.now), note.kind, note.known, note.seen]);
}

const CEILING = statement(
  'restore.ceiling',
  // A handful of rows at most.
  `select coalesce(max(seen), 0) as id from restore_note where kind = 'messages'`,
);

/** The highest mailbox ID known to have been processed before a restore; 0 where there was none. */
export async function restoreCeiling(db: Queryable): Promise<bigint> {
  return (await db.query<{ id: bigint }>(CEILING))[0]?.id ?? 0n;
}

const LAST_EVENT_ID = statement(
  'restore.lastEventId',
  `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('msg_event', 'event_id')::regclass), 0) as id`,
);

/** The highest event ID that was ever given, 0 before the first: never below one that was told. */
export async function lastEventId(db: Queryable): Promise<bigint> {
  return (await db.query<{ id: bigint }>(LAST_EVENT_ID))[0]?.id ?? 0n;
}

const RAISE_EVENT_IDS = statement(
  'restore.raiseEventIds',
  `select setval(pg_get_serial_sequence('msg_event', 'event_id')::regclass, $1)
   where $1 > coalesce(pg_sequence_last_value(pg_get_serial_sequence('msg_event', 'event_id')::regclass), 0)`,
);

/** Lets event IDs go on above one. A rollback does not undo it. */
export async function raiseEventIds(tx: Queryable, above: bigint): Promise<void> {
  await tx.query(RAISE_EVENT_IDS, [above]);
}

/** A version of a flight that was told. */
export interface ToldVersion {
  readonly flid: string;
  readonly version: number;
}

const FORGOTTEN = statement(
  'restore.forgotten',
  // Primary keys of all three tables. greatest passes over nulls.
  `select t.flid, t.version from unnest($1::text[], $2::integer[]) as t (flid, version)
   left join flight_schd f on f.flid = t.flid
   left join flight_schd_hst h on h.flid = t.flid
   left join lateral (select max(version) as version from version_floor where flid = t.flid) v on true
   where t.version > greatest(f.version, h.version, v.version, 0)`,
);

/** Those of the versions that the database does not know. */
export async function forgottenVersions(
  db: Queryable,
  told: readonly ToldVersion[],
): Promise<readonly ToldVersion[]> {
  if (told.length === 0) return [];
  return db.query<ToldVersion>(FORGOTTEN, [told.map(({ flid }) => flid), told.map(({ version }) => version)]);
}

const ADD_FLOORS = statement(
  'restore.addFloors',
  `insert into version_floor (flid, version, noted_at)
   select flid, version, $3::timestamptz from unnest($1::text[], $2::integer[]) as t (flid, version)
   on conflict (flid, version) do nothing`,
);

/** Stores versions above which the next ones lie. */
export async function addFloors(tx: Queryable, floors: readonly ToldVersion[], now: number): Promise<void> {
  if (floors.length === 0) return;
  await tx.query(ADD_FLOORS, [
    floors.map(({ flid }) => flid),
    floors.map(({ version }) => version),
    toTimestamp(now),
  ]);
}

const SELECT_FLOORS = statement(
  'restore.floors',
  // The whole table, once per start; flights by primary key.
  `select v.flid, max(v.version) as version from version_floor v
   where not exists (select from flight_schd f where f.flid = v.flid and f.version > v.version)
   group by v.flid`,
);

/** The floors that flights have not passed yet. */
export async function selectFloors(db: Queryable): Promise<readonly ToldVersion[]> {
  return db.query<ToldVersion>(SELECT_FLOORS);
}

const OWN_ROWS = statement(
  'restore.ownRows',
  // Primary keys of both tables from the given ID downwards.
  `select exists (
     select from (
       (select msg_id, marked_at_intake, shadow from proc_state where msg_id <= $1 order by msg_id desc limit 500)
       union all
       (select msg_id, marked_at_intake, shadow from proc_state_hst where msg_id <= $1 order by msg_id desc limit 500)
       order by msg_id desc limit 500
     ) newest where not marked_at_intake and not shadow
   ) as present`,
);

/** Whether the newest messages at or below an ID came unmarked, one at least: else a former system has set the marks. */
export async function cameUnmarked(db: Queryable, upTo: bigint): Promise<boolean> {
  return (await db.query<{ present: boolean }>(OWN_ROWS, [upTo]))[0]?.present === true;
}

const UNFINISHED = statement(
  'restore.unfinished',
  // proc_state_unfinished.
  `select msg_id as id from proc_state
   where state in ('PENDING', 'FAILED') and msg_id > $1 and not marked_at_intake and not replayed and not restored
   order by msg_id limit $2`,
);

/** Messages after an ID that have not ended and whose rows should carry no mark, ascending. */
export async function selectUnfinishedAfter(
  db: Queryable,
  after: bigint,
  limit: number,
): Promise<readonly bigint[]> {
  return (await db.query<{ id: bigint }>(UNFINISHED, [after, limit])).map(({ id }) => id);
}

const MARK_RESTORED = statement(
  'restore.markRestored',
  // proc_state_unfinished, by the IDs.
  `update proc_state set restored = true where msg_id = any ($1::bigint[]) and state in ('PENDING', 'FAILED')`,
);

/** Says of messages that they had ended before the restore. */
export async function markRestored(tx: Queryable, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await tx.query(MARK_RESTORED, [ids]);
}

const UNSETTLED = statement(
  'restore.unsettled',
  // version_floor_unsettled.
  `select flid, max(version) as version from version_floor where settled_at is null
   group by flid order by flid limit $1`,
);

/** Floors that have not been settled, the highest of each flight. */
export async function selectUnsettled(db: Queryable, limit: number): Promise<readonly ToldVersion[]> {
  return db.query<ToldVersion>(UNSETTLED, [limit]);
}

const RESTORED_UNFINISHED = statement(
  'restore.restoredUnfinished',
  // proc_state_unfinished.
  `select exists (select from proc_state where state in ('PENDING', 'FAILED') and restored) as present`,
);

/** Whether a message that had ended before the restore still has to. */
export async function hasRestoredUnfinished(db: Queryable): Promise<boolean> {
  return (await db.query<{ present: boolean }>(RESTORED_UNFINISHED))[0]?.present === true;
}

const SETTLE = statement(
  'restore.settle',
  // version_floor_unsettled.
  `update version_floor set settled_at = $2::timestamptz where flid = any ($1::text[]) and settled_at is null`,
);

/** Notes that these flights need nothing more. */
export async function settleFloors(tx: Queryable, flids: readonly string[], now: number): Promise<void> {
  if (flids.length > 0) await tx.query(SETTLE, [flids, toTimestamp(now)]);
}

const OUTBOUND = statement(
  'restore.outbound',
  // Both tables whole: what was sent to the upstream is few.
  `select greatest((select max(out_id) from req_track), (select max(out_id) from error_report), 0) as id,
     (select last from outbound_counter) as last`,
);

/** What is known of COUTMSGS: the highest ID of a row of ours, and our last SEQN, 0 before the first. */
export async function knownOutbound(db: Queryable): Promise<{ readonly id: bigint; readonly last: number }> {
  const [row] = await db.query<{ id: bigint; last: number }>(OUTBOUND);
  if (row === undefined) throw new Error('the row of outbound_counter is missing');
  return row;
}

const SET_SEQUENCE = statement('restore.setSequence', `update outbound_counter set last = $1`);

/** Lets our SEQN go on behind one. */
export async function setSequence(tx: Queryable, last: number): Promise<void> {
  await tx.query(SET_SEQUENCE, [last]);
}
