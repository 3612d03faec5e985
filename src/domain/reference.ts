/** Reference data: rows with stamps under the floor of their type (decisions.md, "Reference data"). */
import type { MsgId } from './ids.ts';
import type { JsonObject } from './json.ts';

/** A row of ref_master. */
export interface ReferenceRow {
  readonly rtype: string;
  readonly rkey: string;
  readonly body: JsonObject;
  readonly active: boolean;
  /** The message that last said whether the row is active. */
  readonly stamp: MsgId;
  /**
   * The message that last gave the body. A DEL names a row without describing it and so leaves the body alone;
   * null where only DELs have named the row and `body` is what the newest of them carried.
   */
  readonly bodyStamp: MsgId | null;
}

/** What is known of one type: the floor that the newest DNLD or RESP left, and rows. */
export interface ReferenceType {
  readonly floor: MsgId | null;
  readonly rows: ReadonlyMap<string, ReferenceRow>;
}

/** What one message did to one type: the new floor and the rows written. */
export interface ReferenceChange {
  readonly rtype: string;
  readonly floor: MsgId | null;
  readonly rows: readonly ReferenceRow[];
}
