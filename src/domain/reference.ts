/** Reference data: rows with stamps under the floor of their type (decisions.md, "Reference data"). */
import type { MsgId } from './ids.ts';
import type { JsonObject } from './json.ts';

/** A row of ref_master. */
export interface ReferenceRow {
  readonly rtype: string;
  readonly rkey: string;
  readonly body: JsonObject;
  readonly active: boolean;
  /**
   * The message that last said whether the row is active. Of an active row it may stand below the floor of its type:
   * it is the floor then, see `underFloor` in reference-fold.ts. So is `bodyStamp`.
   */
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

/** What a row was before a message changed its body or whether it is active. */
export interface ReferencePast {
  readonly rtype: string;
  readonly rkey: string;
  /** The message that changed it. */
  readonly msgId: MsgId;
  readonly body: JsonObject;
  readonly active: boolean;
}

/** What one message did to one type: the new floor, the rows written, and what those that were there had been. */
export interface ReferenceChange {
  readonly rtype: string;
  readonly floor: MsgId | null;
  readonly rows: readonly ReferenceRow[];
  readonly past: readonly ReferencePast[];
}
