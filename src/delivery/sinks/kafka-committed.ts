/**
 * What a consumer with read_committed gets, told from the markers in the log alone. The library has a filter of its own,
 * which cannot be had without: it drops committed records that lie between two aborts of one producer, and lets aborted ones
 * through where their marker comes with a later fetch.
 */
import type { Consumer } from '@platformatic/kafka';

export type Fetched = Awaited<ReturnType<Consumer['fetch']>>['responses'][number]['partitions'][number];
export type Batch = NonNullable<Fetched['records']>[number];

const IS_TRANSACTIONAL = 0b1_0000;
const IS_CONTROL = 0b10_0000;
/** Types of the control records that end a transaction. */
const ABORT = 0;
const COMMIT = 1;

interface Waiting {
  readonly batch: Batch;
  fate: 'open' | 'committed' | 'aborted';
}

/** One partition's batches, read without regard to transactions; gives those that are committed, in the same order. */
export class CommittedBatches {
  readonly #waiting: Waiting[] = [];
  /** By producer: it has one transaction at a time. */
  readonly #open = new Map<bigint, Waiting[]>();

  /** First offset of which nobody knows yet whether it is committed; null where there is none. */
  get undecided(): bigint | null {
    return this.#waiting[0]?.batch.firstOffset ?? null;
  }

  /** Takes the next batch and gives those about which nothing is open any more. */
  *add(batch: Batch): Generator<Batch> {
    if ((batch.attributes & IS_CONTROL) === 0) this.#wait(batch);
    else this.#end(batch);
    for (
      let first = this.#waiting[0];
      first !== undefined && first.fate !== 'open';
      first = this.#waiting[0]
    ) {
      this.#waiting.shift();
      if (first.fate === 'committed') yield first.batch;
    }
  }

  #wait(batch: Batch): void {
    const transactional = (batch.attributes & IS_TRANSACTIONAL) !== 0;
    const waiting: Waiting = { batch, fate: transactional ? 'open' : 'committed' };
    this.#waiting.push(waiting);
    if (!transactional) return;
    const open = this.#open.get(batch.producerId);
    if (open === undefined) this.#open.set(batch.producerId, [waiting]);
    else open.push(waiting);
  }

  /** A marker may also end a transaction of which nothing is in this partition. */
  #end({ records, producerId }: Batch): void {
    // Version and type, 16 bits each.
    const type = records[0]?.key?.readInt16BE(2);
    if (type !== ABORT && type !== COMMIT) return;
    for (const waiting of this.#open.get(producerId) ?? []) {
      waiting.fate = type === ABORT ? 'aborted' : 'committed';
    }
    this.#open.delete(producerId);
  }
}

/** Offset of a batch's last record, compacted away or not. */
export function lastOffsetOf({ firstOffset, lastOffsetDelta }: Batch): bigint {
  return firstOffset + BigInt(lastOffsetDelta);
}
