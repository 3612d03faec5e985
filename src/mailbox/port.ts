/**
 * The public port for the shared mailbox: tables that others own (seed §4). At most 3 connections,
 * autocommit reads, never a lock on rows or tables. Every call has a deadline; every call throws Outage where
 * the mailbox is not available, and the driver's error where it refused this very statement.
 * A module path may provide another adapter by exporting `openMailbox(options): Promise<Mailbox>`.
 */
import type { MsgId } from '../domain/ids.ts';

/** A range of IDs, both ends included. */
export interface IdRange {
  readonly from: MsgId;
  readonly to: MsgId;
}

/** What the inbox needs to know of a row without reading its text. */
export interface MailboxRow {
  readonly id: MsgId;
  /** Length of the text in bytes as the database counts them; null where the text is NULL. */
  readonly bytes: number | null;
  /** CMINMSGS_DATE_RECEIVED as ISO 8601 text, for people and reconciliation only; null where NULL. */
  readonly receivedAt: string | null;
  /** Whether the processing mark is set. */
  readonly marked: boolean;
}

/** Result of the look-ahead over IDs alone: gaps between rows that exist, from one statement. */
export interface LookAhead {
  /** Missing ranges above `after`, each followed by an existing row, ascending. */
  readonly gaps: readonly IdRange[];
  /** Highest ID seen; null where there is no row above `after`. */
  readonly through: MsgId | null;
  /** Rows seen. */
  readonly rows: number;
}

/** What became of one mark (seed §6.2). */
export type MarkResult = 'marked' | 'already-marked' | 'missing';

/** An insert whose transaction is still open: for the simulator's holes and late commits. */
export interface OpenInsert {
  readonly id: MsgId;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** A row of the outbound table. */
export interface OutboundRow {
  readonly id: bigint;
  /** Null where the text is NULL. */
  readonly text: string | null;
}

/** The outbound table while its named lock is held (decisions.md, "Requests"). */
export interface Outbound {
  /** Highest ID; 0 where the table is empty. */
  highest(): Promise<bigint>;
  /** Rows with ID > after, ascending, at most limit, those committed before the lock was taken and our own. */
  rowsAfter(after: bigint, limit: number): Promise<readonly OutboundRow[]>;
  /** Inserts a message with its ROUTINGID, null for none; it is committed when the work ends. */
  insert(text: string, routing: string | null): Promise<bigint>;
}

/** One line of `msgx check`. */
export interface CheckLine {
  readonly what: string;
  readonly result: 'ok' | 'warning' | 'failed';
  /** For ok what was found, else what to do. */
  readonly message: string;
}

export interface Mailbox {
  /** Name of the mailbox's database, as `--mailbox-name` must repeat it. */
  readonly name: string;
  /** `postgres` or `mysql`, for people. */
  readonly kind: string;

  /** Rows with ID > after, ascending, at most limit (seed §4.1; relies on the primary key). */
  rowsAfter(after: bigint, limit: number): Promise<readonly MailboxRow[]>;
  /** Looks over at most limit IDs > after in one statement and gives the gaps (decisions.md, "Watermark details"). */
  lookAhead(after: bigint, limit: number): Promise<LookAhead>;
  /**
   * Rows that exist in the disjoint ranges now, ascending, at most `limit` (default: all); for the re-read
   * before a release and for the late scan.
   */
  rowsIn(ranges: readonly IdRange[], limit?: number): Promise<readonly MailboxRow[]>;
  /** Texts of rows; an ID missing from the result has no row, null is a NULL text. */
  texts(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string | null>>;
  /** Lowest and highest ID, null where the mailbox is empty. */
  bounds(): Promise<{ readonly min: MsgId; readonly max: MsgId } | null>;
  /** The IDs missing between min and max at or below `upTo`; for seeding with `max`. */
  gapsUpTo(upTo: bigint): Promise<readonly IdRange[]>;

  /**
   * Calls back when a commit of new rows was announced, until another callback or null takes its place. A hint alone:
   * announcements get lost, and none comes where the mailbox's owner announces nothing; reading on time stays the rule.
   * Absent where the database knows no such thing.
   */
  onInsert?(callback: (() => void) | null): void;

  /**
   * Writers that may still fill a hole: tokens without spaces, each naming one transaction that holds the
   * inbound table for writing now; a transaction may have several, and keeps at least one to its end. Null where this cannot be known (the caller then goes by the clock, and says so once).
   */
  writers(): Promise<readonly string[] | null>;

  /** Sets the mark with the mailbox's own CURRENT_TIMESTAMP where it is NULL; never overwrites (seed §6.2). */
  mark(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, MarkResult>>;

  /** Inserts a message and commits. */
  insert(text: string): Promise<MsgId>;
  /** Inserts several messages in order, in one transaction. */
  insertAll(texts: readonly string[]): Promise<readonly MsgId[]>;
  /** Inserts a message and leaves the transaction open, on a connection of its own. */
  openInsert(text: string): Promise<OpenInsert>;

  /**
   * Works on the outbound table in one transaction, holding a named lock of the mailbox's database: no two sessions
   * do so at once, and whoever gets the lock sees all that was inserted under it before, also by a session whose
   * client has given up waiting. The lock is no lock on rows or tables and ends with the session at the latest.
   * Throws Outage where it cannot be had within the deadline; what the work throws undoes its insert.
   */
  withOutbound<T>(work: (outbound: Outbound) => Promise<T>): Promise<T>;

  /** Whether `mailbox init` made this mailbox (its marker table is there). */
  isOurs(): Promise<boolean>;
  /** Creates empty inbound and outbound tables and the marker. Throws MailboxExists where a table is there. */
  init(): Promise<void>;
  /** Columns and grants, one line each. */
  check(): Promise<readonly CheckLine[]>;
  /** Whether the mailbox answers at all, within the deadline. */
  probe(): Promise<boolean>;
  close(): Promise<void>;
}

/** `mailbox init` found tables of that name. */
export class MailboxExists extends Error {
  override readonly name = 'MailboxExists';
}
