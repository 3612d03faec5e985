/**
 * Reference data by stamps (decisions.md, "Reference data"). Two registers to a row: its body, written by every
 * message that describes it, and whether it is active, written by every message that names it. A DNLD or RESP
 * leaves a floor on its type: a row last named under the floor is inactive. The rows and the floor end the same
 * in whatever order messages are folded.
 *
 * A load names most of its type again as it was. Such rows are not written: what an active row was last named by is at
 * least the floor, so one whose stamp stands below it was named by the load that left the floor.
 */
import type { MsgId } from './ids.ts';
import { jsonEqual } from './json.ts';
import type { ReferenceRecord } from './message.ts';
import type { ReferenceChange, ReferencePast, ReferenceRow, ReferenceType } from './reference.ts';

/** What a reference message does: load the whole type, describe rows, or deactivate them. */
export type ReferenceOperation = 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL';

/** What a fold did to a type. */
export interface ReferenceFold {
  readonly change: ReferenceChange;
  /** Whether the active rows or their bodies differ. */
  readonly changed: boolean;
  /** Keys for which a newer message holds something else. */
  readonly superseded: readonly string[];
}

/** A type of which nothing is known. */
export const EMPTY_REFERENCE: ReferenceType = { floor: null, rows: new Map() };

/**
 * A row with the stamps it has under the floor of its type. Whoever describes an active row last also named it last,
 * so both stamps are the floor where the stored one is below.
 */
export function underFloor(row: ReferenceRow, floor: MsgId | null): ReferenceRow {
  return row.active && floor !== null && row.stamp < floor ? { ...row, stamp: floor, bodyStamp: floor } : row;
}

/**
 * Folds one message into a type.
 *
 * @param before for DNLD and RESP every row of the type, for the others at least the rows named
 */
export function foldReference(
  before: ReferenceType,
  msgId: MsgId,
  rtype: string,
  operation: ReferenceOperation,
  records: readonly ReferenceRecord[],
): ReferenceFold {
  const whole = operation === 'DNLD' || operation === 'RESP';
  const floor = whole && (before.floor === null || msgId > before.floor) ? msgId : before.floor;
  const written: ReferenceRow[] = [];
  const superseded: string[] = [];

  // Of a key named twice in one package the later record counts.
  const named = new Map(records.map((record) => [record.key, record.body]));
  for (const [key, body] of named) {
    const stored = before.rows.get(key);
    const current = stored === undefined ? undefined : underFloor(stored, before.floor);
    const wanted: Wanted = { msgId, body, active: operation !== 'DEL' };
    const row = foldRow(current, rtype, key, wanted, floor);
    if (row.active !== wanted.active || (wanted.active && !jsonEqual(row.body, body))) superseded.push(key);
    if (stored === undefined || !sameRow(underFloor(stored, floor), row)) written.push(row);
  }
  if (whole && floor !== null) {
    for (const stored of before.rows.values()) {
      if (!stored.active || named.has(stored.rkey)) continue;
      const row = underFloor(stored, before.floor);
      if (row.stamp < floor) written.push({ ...row, active: false });
    }
  }
  return {
    change: { rtype, floor, rows: written, past: pastOf(before, msgId, written) },
    changed: written.some((row) => differsVisibly(before.rows.get(row.rkey), row)),
    superseded,
  };
}

/** What rows had been that were there and now hold something else. */
function pastOf(
  before: ReferenceType,
  msgId: MsgId,
  written: readonly ReferenceRow[],
): readonly ReferencePast[] {
  return written.flatMap((row): ReferencePast[] => {
    const past = before.rows.get(row.rkey);
    if (past === undefined || (past.active === row.active && jsonEqual(past.body, row.body))) return [];
    const { rtype, rkey, body, active } = past;
    return [{ rtype, rkey, msgId, body, active }];
  });
}

/** The type after a change. */
export function applyReference(before: ReferenceType, change: ReferenceChange): ReferenceType {
  const rows = new Map(before.rows);
  for (const row of change.rows) rows.set(row.rkey, row);
  return { floor: change.floor, rows };
}

/** What a message wants of a row. */
interface Wanted {
  readonly msgId: MsgId;
  readonly body: ReferenceRow['body'];
  readonly active: boolean;
}

function foldRow(
  current: ReferenceRow | undefined,
  rtype: string,
  rkey: string,
  wanted: Wanted,
  floor: MsgId | null,
): ReferenceRow {
  const { msgId } = wanted;
  const newest = current === undefined || msgId >= current.stamp;
  const stamp = newest ? msgId : current.stamp;
  return {
    rtype,
    rkey,
    ...bodyOf(current, wanted, newest),
    active: (newest ? wanted.active : current.active) && (floor === null || stamp >= floor),
    stamp,
  };
}

/** A DEL gives a body only to a row that nothing has described: it need not carry more than the key. */
function bodyOf(
  current: ReferenceRow | undefined,
  wanted: Wanted,
  newest: boolean,
): Pick<ReferenceRow, 'body' | 'bodyStamp'> {
  const { msgId, body, active } = wanted;
  if (current === undefined) return { body, bodyStamp: active ? msgId : null };
  const takes = active
    ? current.bodyStamp === null || msgId >= current.bodyStamp
    : current.bodyStamp === null && newest;
  return takes
    ? { body, bodyStamp: active ? msgId : null }
    : { body: current.body, bodyStamp: current.bodyStamp };
}

function sameRow(left: ReferenceRow, right: ReferenceRow): boolean {
  return (
    left.stamp === right.stamp &&
    left.bodyStamp === right.bodyStamp &&
    left.active === right.active &&
    jsonEqual(left.body, right.body)
  );
}

function differsVisibly(before: ReferenceRow | undefined, after: ReferenceRow): boolean {
  if (before === undefined || !before.active) return after.active;
  return !after.active || !jsonEqual(before.body, after.body);
}
