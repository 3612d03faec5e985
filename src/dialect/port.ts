/**
 * The public port for message dialects (dialect.md: "A dialect is a plug-in"). A module path in
 * `msgx.dialect` must export `createDialect(options): Dialect`.
 */
import type { DecodeOutcome } from '../domain/message.ts';
import type { NameRules } from '../domain/names.ts';

/** What a dialect needs to know of the airport. */
export interface DialectOptions {
  /** IANA zone of the airport, e.g. Asia/Shanghai. */
  readonly timeZone: string;
  /** HH:mm; part of the profile hash, because it decides the operation day. */
  readonly operationDayCutoff: string;
  /** Upper bound of a message in UTF-8 bytes; beyond: MALFORMED too-large. */
  readonly maxMessageBytes: number;
  /** Deepest element allowed; MSG is depth 1; beyond: MALFORMED too-deep. */
  readonly maxDepth: number;
  /** TYPE or TYPE/STYP to be ignored (`msgx.rules.ignore`); null for the profile's own list. */
  readonly ignore: readonly string[] | null;
  /** Reference types (`msgx.rules.reference`); null for the profile's own list. */
  readonly reference: readonly string[] | null;
}

/** An outgoing message (dialect.md, "Outbound, into COUTMSGS"). */
export type OutboundMessage =
  /** Daily schedule wanted; from and until are ISO 8601 with offset. */
  | { readonly kind: 'schedule-request'; readonly from: string; readonly until: string }
  | { readonly kind: 'reference-request'; readonly rtype: string }
  | {
      readonly kind: 'error-report';
      /** META of the offending message, as far as it is known. */
      readonly sequence: string;
      readonly type: string;
      readonly subtype: string;
      readonly errorClass: string;
      readonly description: string;
    };

/** Envelope of an outgoing message. */
export interface OutboundHeader {
  readonly sender: string;
  readonly sequence: string;
  /** ISO 8601 with the airport's offset. */
  readonly dttm: string;
}

/** Decoding and encoding of one upstream's messages. Implementations are pure: no I/O, no clock. */
export interface Dialect {
  readonly name: string;
  /** Hash of everything that decides how a text is judged, zone and cutoff included (proc_state.profile_hash). */
  readonly profileHash: string;
  /** Reference types it reads, `rules.reference` considered: those that can be requested. */
  readonly referenceTypes: readonly string[];
  /** Mailbox names of this dialect's family; configuration overrides them. */
  readonly mailbox: MailboxNames;
  /** Where reference data has the names of a flight's codes; absent where this dialect cannot say. */
  readonly names?: NameRules;
  /** Total: never throws, every text ends in a named outcome. */
  decode(text: string): DecodeOutcome;
  /**
   * What `decode` does, in steps: between two of them the caller may let others have the thread, because a text
   * of some megabytes takes seconds and the lease is renewed on the same thread. A step should stay well below a
   * second. Absent where the dialect cannot stop in the middle.
   */
  decodeInSteps?(text: string): Iterator<undefined, DecodeOutcome>;
  /**
   * Bytes from a file or HTTP to text: BOM, then XML declaration, else UTF-8.
   * A null text means: not valid in its charset, or a charset we do not know.
   */
  toText(
    bytes: Uint8Array,
  ):
    | { readonly text: string; readonly charset: string }
    | { readonly text: null; readonly reason: string; readonly charset: string };
  /** Encodes an outgoing message as XML text. */
  encode(header: OutboundHeader, message: OutboundMessage): string;
}

/** Names of the mailbox tables and columns (dialect.md, "Mailbox tables"). */
export interface MailboxNames {
  readonly inbound: {
    readonly table: string;
    readonly id: string;
    readonly text: string;
    readonly received: string;
    readonly processed: string;
    readonly status: string;
  };
  readonly outbound: {
    readonly table: string;
    readonly id: string;
    readonly text: string;
    readonly inserted: string;
    readonly routing: string;
  };
}
