/**
 * Reference data by stamps (decisions.md, "Reference data"). Two registers to a row: its body, written by every
 * message that describes it, and whether it is active, written by every message that names it. A DNLD or RESP
 * leaves a floor on its type: a row last named under the floor is inactive. The rows and the floor end the same
 * in whatever order messages are folded.
 */
import type { MsgId } from './ids.ts';
import { jsonEqual } from './json.ts';
import type { ReferenceRecord } from './message.ts';
import type { ReferenceChange, ReferenceRow, ReferenceType } from './reference.ts';

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
  const written = new Map<string, ReferenceRow>();
  const superseded: string[] = [];

  // Of a key named twice in one package the later record counts.
  for (const { key, body } of new Map(records.map((record) => [record.key, record])).values()) {
    const current = before.rows.get(key);
    const wanted: Wanted = { msgId, body, active: operation !== 'DEL' };
    const row = foldRow(current, rtype, key, wanted, floor);
    if (row.active !== wanted.active || (wanted.active && !jsonEqual(row.body, body))) superseded.push(key);
    if (current === undefined || !sameRow(current, row)) written.set(key, row);
  }
  if (whole && floor !== null) {
    for (const row of before.rows.values()) {
      if (row.active && row.stamp < floor && !written.has(row.rkey)) {
        written.set(row.rkey, { ...row, active: false });
      }
    }
  }
  const rows = [...written.values()];
  return {
    change: { rtype, floor, rows },
    changed: rows.some((row) => differsVisibly(before.rows.get(row.rkey), row)),
    superseded,
  };
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
