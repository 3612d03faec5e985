/**
 * What invariant 6 reads: the target of events, as a consumer sees it. The audit knows partitions and records; how
 * they are read is the business of whoever provides them.
 */

export type Stream = 'msg' | 'schd';

/** A record as a consumer gets it; null value is a tombstone. */
export interface TargetRecord {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Headers by name; those that are no text are missing. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A sequence in which the order of records means something. */
export interface TargetPartition {
  /** Whether older records may have been there and are gone: by retention, or by a rotation of files. */
  readonly trimmed: boolean;
  /** Oldest first, up to where the stream ended when it was opened. May throw TargetUnreadable. */
  records(): AsyncIterable<TargetRecord>;
}

/** Both streams, opened: what is sent from now on is not read. */
export interface TargetReader {
  /** The partitions of a stream. */
  partitions(stream: Stream): readonly TargetPartition[];
  /** In which of its partitions the records of a key stand. */
  partitionOf(stream: Stream, key: string): number;
  close(): Promise<void>;
}

/** Where events went. */
export interface Target {
  /** For people, e.g. `the journal in DIRECTORY`. */
  readonly name: string;
  /** Said where it is not there. */
  readonly missing: string;
  /** Takes the ends of both streams; null where there is no target yet. May throw TargetUnreadable. */
  open(): Promise<TargetReader | null>;
  /**
   * The same with the newest records of each partition alone, at once and with a short deadline: behind a transaction
   * that is still open nothing is waited for.
   */
  openTail(): Promise<TargetReader | null>;
}

/** The target cannot be read, or not to its end; the message says why. */
export class TargetUnreadable extends Error {
  override readonly name = 'TargetUnreadable';
}
