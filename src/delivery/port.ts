/**
 * The public port for where events go (seed §8). A sink takes a batch as one unit: all of it or none of it.
 * A module path may provide another one by exporting `openSink(options): Promise<Sink>`.
 */

/** The two streams of events. */
export type Stream = 'msg' | 'schd';

/** One record on its way out. */
export interface SinkRecord {
  readonly stream: Stream;
  /** FLID. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; null is a tombstone and is written as a literal null. */
  readonly value: string | null;
}

/**
 * What became of a batch. `refused`: the target answered and will not take it (one record may be at fault:
 * the caller repeats record by record, so that a refusal is charged to its own event). An unreachable or
 * silent target throws Outage('delivery'): nobody is charged, the batch may or may not have arrived.
 */
export type SendOutcome =
  { readonly outcome: 'accepted' } | { readonly outcome: 'refused'; readonly reason: string };

export interface Sink {
  readonly kind: string;
  /** Sends the records in order and returns when they are durable at the target. Throws Outage. */
  send(records: readonly SinkRecord[]): Promise<SendOutcome>;
  /** Whether the target answers, within the deadline. */
  probe(): Promise<boolean>;
  /** Lets go of the target; what waits for its answer is given up, as an Outage. */
  close(): Promise<void>;
}
