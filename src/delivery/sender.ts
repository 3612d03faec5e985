/**
 * The one sender of both targets: a batch as a whole, and where the target refuses it, record by record, so
 * that a refusal is charged to its own event and to no other (decisions.md, "A system's outage is not a
 * message's failure").
 */
import { failpoint } from '#failpoint';
import type { Clock } from '../domain/clock.ts';
import { LostLease, Outage, messageOf } from '../runtime/outage.ts';
import type { SendOutcome, Sink, SinkRecord } from './port.ts';

/** A record together with the row that it comes from. */
export interface Outgoing<T> {
  readonly row: T;
  readonly record: SinkRecord;
}

/** What became of a batch: rows in neither list were not tried. */
export interface Sent<T> {
  readonly accepted: readonly T[];
  readonly refused: readonly { readonly row: T; readonly reason: string }[];
  /** Where the target went away in between; what is listed still holds and has to be recorded first. */
  readonly outage: Outage | null;
}

export class Sender {
  readonly #sink: Sink;
  readonly #clock: Clock;
  #lastAckAt: number | null = null;

  constructor(sink: Sink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** When the target last accepted something, ms; null where it has not yet. */
  get lastAckAt(): number | null {
    return this.#lastAckAt;
  }

  /**
   * Sends in order. A refused record stops its key for this call. Throws Outage where nothing is known of any
   * record: the batch may or may not have arrived.
   */
  async send<T>(batch: readonly Outgoing<T>[]): Promise<Sent<T>> {
    const whole = await this.#try(batch.map(({ record }) => record));
    if (whole.outcome === 'accepted') {
      return { accepted: batch.map(({ row }) => row), refused: [], outage: null };
    }
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      failpoint('refusal.charging');
      return { accepted: [], refused: [{ row: only.row, reason: whole.reason }], outage: null };
    }
    return this.#oneByOne(batch);
  }

  async #oneByOne<T>(batch: readonly Outgoing<T>[]): Promise<Sent<T>> {
    const accepted: T[] = [];
    const refused: { row: T; reason: string }[] = [];
    const stopped = new Set<string>();
    for (const { row, record } of batch) {
      if (stopped.has(record.key)) continue;
      try {
        const outcome = await this.#try([record]);
        if (outcome.outcome === 'accepted') {
          accepted.push(row);
        } else {
          failpoint('refusal.charging');
          stopped.add(record.key);
          refused.push({ row, reason: outcome.reason });
        }
      } catch (error) {
        if (!(error instanceof Outage)) throw error;
        return { accepted, refused, outage: error };
      }
    }
    return { accepted, refused, outage: null };
  }

  async #try(records: readonly SinkRecord[]): Promise<SendOutcome> {
    try {
      const outcome = await this.#sink.send(records);
      if (outcome.outcome === 'accepted') this.#lastAckAt = this.#clock.now();
      return outcome;
    } catch (error) {
      if (error instanceof Outage || error instanceof LostLease) throw error;
      // A sink that neither refuses nor reports an outage: whether it answers at all decides which it was.
      if (await this.#sink.probe()) return { outcome: 'refused', reason: messageOf(error) };
      throw new Outage('delivery', error);
    }
  }
}
