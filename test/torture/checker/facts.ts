/** What a run leaves behind, as far as the checker looks at it: mailbox, own tables, topics. Read-only and complete. */

/** A row of the mailbox. */
export interface MailboxRow {
  readonly id: bigint;
  readonly text: string | null;
  /** When it was marked by the mailbox's clock, ms since 1970, in whole seconds; null where it is not. */
  readonly markedAt: number | null;
}

/** A row of proc_state. */
export interface MessageRow {
  readonly id: bigint;
  readonly state: string;
  readonly errorClass: string | null;
  /** `reason` or `last_error`, whichever the state uses. */
  readonly reason: string | null;
  /** It came after its ID had been passed. */
  readonly late: boolean;
  /** Order in which messages ended; null where it has not. */
  readonly terminalSeq: bigint | null;
  /** ms since 1970. */
  readonly terminalAt: number | null;
}

/** A row of flight_schd. */
export interface FlightRow {
  readonly flid: string;
  readonly version: number;
  readonly deleted: boolean;
  /** yyyy-MM-dd. */
  readonly operationDay: string;
  readonly state: unknown;
}

/** A row of ref_master. */
export interface ReferenceRow {
  readonly rtype: string;
  readonly rkey: string;
  readonly active: boolean;
  readonly body: unknown;
}

/** A row of msg_event, KAFKA:msg. */
export interface EventRow {
  readonly eventId: string;
  readonly flid: string;
  readonly version: number;
  readonly state: string;
  /** ms since 1970; null where it was not sent. */
  readonly sentAt: number | null;
}

/** A record as a consumer reads it, in the order of its partition. */
export interface Told {
  readonly key: string;
  /** `ce_id`. */
  readonly eventId: string;
  /** When the broker appended it, ms since 1970; null where that is not known. */
  readonly at: number | null;
  readonly value: Readonly<Record<string, unknown>> | null;
}

export interface Facts {
  /** IANA zone of the airport. */
  readonly timeZone: string;
  readonly mailbox: readonly MailboxRow[];
  /** IDs of which the mailbox told its upstream that they are committed. */
  readonly acknowledged: ReadonlySet<bigint>;
  /** IDs that were seen marked in the mailbox while they had not ended, during the run. */
  readonly seenMarkedEarly: readonly bigint[];
  readonly messages: readonly MessageRow[];
  /** Ranges of IDs that were passed as empty, both ends included. */
  readonly released: readonly { readonly from: bigint; readonly to: bigint }[];
  readonly flights: readonly FlightRow[];
  readonly reference: readonly ReferenceRow[];
  readonly events: readonly EventRow[];
  /** KAFKA:msg. */
  readonly changes: readonly Told[];
  /** KAFKA:schd. */
  readonly states: readonly Told[];
}

/** What may be found. */
export type FindingKind =
  /** Written by the upstream or owed to consumers, and not there. */
  | 'lost'
  /** Applied twice, or told again though the first telling was recorded. */
  | 'duplicated'
  /** Processed or told in another order than that of the messages of a key. */
  | 'reordered'
  /** Another end of a message than the rules give it. */
  | 'wrong-outcome'
  /** Another state of a flight or of reference data than the rules give it, stored or told. */
  | 'wrong-state'
  | 'unmarked'
  /** Marked before it had ended. */
  | 'marked-early'
  /** Versions of a flight that are not 1, 2, 3 … to the stored one. */
  | 'version-gap'
  /** There, and no message says so. */
  | 'invented';

export interface Finding {
  readonly kind: FindingKind;
  /** `message 17`, `flight 700001`, `event 4`. */
  readonly subject: string;
  /** One line. */
  readonly detail: string;
}
