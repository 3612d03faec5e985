/** The vocabulary of the simulator: what a day is asked for and what it consists of. */

/** What a day is made from. The same input gives the same steps. */
export interface DayOptions {
  readonly seed: string;
  /** yyyy-MM-dd: the operation day of the flights. */
  readonly day: string;
  /** Messages, holes not counted. */
  readonly count: number;
  /** IANA zone of the airport. */
  readonly timeZone: string;
  /** IATA code of the airport. Default HGH. */
  readonly airport?: string;
  /** Shares of count, 0 to 1. */
  readonly duplicates: number;
  readonly poison: number;
  /** Rolled-back inserts, on top of count. */
  readonly holes: number;
  /** Messages committed after later IDs; half of them beyond max-commit-delay. */
  readonly late: number;
  readonly unsupported: number;
}

/** The classes that poison is made of, in equal parts. */
export type PoisonClass = 'MALFORMED' | 'CODEC_ERROR' | 'PROTOCOL';

/** What a message is, for people and tests. */
export type Note =
  | { readonly about: BaseKind }
  /** A repeat of an earlier message's identity, with the same or with other content. */
  | { readonly about: 'duplicate'; readonly changed: boolean }
  | { readonly about: 'poison'; readonly errorClass: PoisonClass; readonly what: string }
  | { readonly about: 'unsupported' };

/** Kinds of the messages that make the day; `no-match` names a flight that is deleted or was never there. */
export type BaseKind =
  'reference' | 'schedule' | 'ad-hoc' | 'operation' | 'deletion' | 'no-match' | 'ignored';

/** One thing to do with the mailbox. Each step uses up one mailbox ID. */
export type Step =
  | { readonly kind: 'message'; readonly text: string; readonly note: Note }
  /** An insert that is rolled back. */
  | { readonly kind: 'hole' }
  | {
      readonly kind: 'late';
      readonly text: string;
      readonly note: Note;
      /** Held beyond max-commit-delay, else committed soon. */
      readonly beyondDelay: boolean;
      /** Messages with later IDs that are committed first. */
      readonly after: number;
    };

/** Most messages of one day: beyond, a sender's counter would come round within it. */
export const MAX_COUNT = 900_000;

/** One message of the day before it has its counter and its place. */
export interface Draft {
  /** Second of the day at which it is sent. */
  readonly at: number;
  /** 0 belongs to every day, 1 and 2 are left out first where a day must be shorter. */
  readonly priority: 0 | 1 | 2;
  readonly kind: BaseKind;
  readonly sender: 'AODB' | 'ACDM';
  readonly type: string;
  readonly subtype: string;
  readonly payload: string;
}
