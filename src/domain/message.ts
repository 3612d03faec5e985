/**
 * What a dialect hands to the domain: messages as fields and values. No element names, no XML
 * (dialect.md, "Domain, store and events know fields only").
 */
import type { ListName, ScalarPath } from './fields.ts';
import type { Flid } from './ids.ts';
import type { JsonObject } from './json.ts';

/** Value of a scalar or an attribute. Times are ISO 8601 text with the airport's offset. */
export type FieldValue = string | number | null;

/** One entry of a collection: every attribute of the catalogue, nested as published, null where not known. */
export type Entry = JsonObject;

/**
 * One thing that a record says about its flight, in document order; later ones of a message win over
 * earlier ones. A register that is not written is unchanged (dialect.md, "Merge rules").
 */
export type Write =
  | { readonly kind: 'scalar'; readonly field: ScalarPath; readonly value: FieldValue }
  /** Replaces the collection as a whole, in the order given; an empty list clears it. */
  | { readonly kind: 'list'; readonly field: ListName; readonly entries: readonly Entry[] }
  /** Sets the delay of one code. */
  | {
      readonly kind: 'delay';
      readonly code: string;
      readonly value: {
        readonly start: string | null;
        readonly minutes: number | null;
        readonly remark: string | null;
      };
    }
  /** Clears all delays: the floor under every delay code. */
  | { readonly kind: 'delays-cleared' }
  /** Push-back at a stand; null clears. */
  | {
      readonly kind: 'push';
      readonly stand: string;
      readonly value: { readonly time: string; readonly indicator: string | null } | null;
    }
  /** Time of the tractor at a stand; null clears. */
  | { readonly kind: 'tractor'; readonly stand: string; readonly value: string | null };

/** One record about one flight. */
export interface FlightPatch {
  readonly flid: Flid;
  readonly writes: readonly Write[];
}

/** One record of reference data. `key` is RKEY, `body` the whole record. */
export interface ReferenceRecord {
  readonly key: string;
  readonly body: JsonObject;
}

/** META of a message. */
export interface Header {
  readonly sender: string;
  /** As compared: trimmed, leading zeros stripped. */
  readonly sequence: string;
  /** DTTM as ISO 8601 with the airport's offset. */
  readonly dttm: string;
  readonly type: string;
  readonly subtype: string;
  /** Our own SEQN echoed in a response (RSEQ); null where there is none. */
  readonly echo: string | null;
}

/** The body of a message, by kind: the first-class dispatch key of seed §2. */
export type Body =
  | {
      readonly kind: 'schedule';
      readonly subtype: 'DNLD' | 'RESP' | 'ADFT';
      /** RECS as written, null where missing. */
      readonly declared: string | null;
      readonly records: readonly FlightPatch[];
    }
  | { readonly kind: 'operation'; readonly subtype: string; readonly records: readonly FlightPatch[] }
  | { readonly kind: 'deletion'; readonly flids: readonly Flid[] }
  | {
      readonly kind: 'reference';
      readonly rtype: string;
      readonly operation: 'DNLD' | 'RESP' | 'ADD' | 'UPD' | 'DEL';
      readonly declared: string | null;
      readonly records: readonly ReferenceRecord[];
    }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsupported' };

/** A message the dialect understood. */
export interface DecodedMessage {
  readonly header: Header;
  readonly body: Body;
  /** SHA-256 (hex) of the canonical payload, META excepted (decisions.md, "Identities"). */
  readonly contentHash: string;
  /** Paths of elements the profile does not know, once each, e.g. `SCHD/FLTR/ABCD`. */
  readonly unknownElements: readonly string[];
  /** Push or tractor records that name no stand and therefore write nothing. */
  readonly unmatchedStands: number;
}

/** One fault found while decoding. Line and column are 1-based, null where there is no place. */
export interface Fault {
  /** As in the contract, e.g. `bad-value:APPT`. */
  readonly reason: string;
  /** One line for people; never the value of a personal field. */
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** What became of a text: total, every text ends in one of these (dialect.md, decisions.md "Order of judgement"). */
export type DecodeOutcome =
  | { readonly outcome: 'decoded'; readonly message: DecodedMessage }
  | {
      readonly outcome: 'malformed' | 'codec-error';
      /** The first fault decides; all of them are in `faults`. */
      readonly reason: string;
      readonly faults: readonly [Fault, ...Fault[]];
      /** META as far as it could be read; null where it could not. */
      readonly header: Partial<Header> | null;
      /** Of a schedule: the scheduled times that could be read, ISO 8601, so that its days can be requested again. */
      readonly scheduledTimes?: readonly string[];
    };
