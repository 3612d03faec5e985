/**
 * The line as far as it was looked at: heads are taken from it batch by batch, and what comes next is read while they
 * are processed. Between two looks nothing may be inserted but late and replayed messages, which are out of order
 * anyway; whatever else happens to a head in the meantime fails its batch, and the line is looked at anew.
 */
import { selectHeads, type Head, type Heads } from '../store/proc-state.ts';
import type { PumpContext } from './context.ts';
import { batchOf, ruleOf, type HeadRule } from './head.ts';

/** Fewest messages to look ahead: where each has a transaction of its own, looking costs as much as a commit. */
const AHEAD_MESSAGES = 50;

export class Line {
  readonly #context: PumpContext;
  /** Generation of pipeline_lock when the line was looked at: what is read later is read under it or a later one. */
  readonly generation: bigint;
  #heads: readonly Head[];
  #watermark: bigint;
  #reading: Promise<Heads | null> | null = null;
  /** Whether there may be more behind what was read. */
  #more: boolean;

  private constructor(context: PumpContext, { heads, watermark, generation }: Heads) {
    this.#context = context;
    this.generation = generation;
    this.#heads = heads;
    this.#watermark = watermark;
    this.#more = heads.length === limitOf(context);
  }

  /** Looks at the line. */
  static async look(context: PumpContext): Promise<Line> {
    return new Line(context, await read(context));
  }

  get watermark(): bigint {
    return this.#watermark;
  }

  get head(): Head | null {
    return this.#heads[0] ?? null;
  }

  /** What the rules say of the head; null where there is none. */
  rule(): HeadRule | null {
    const { head } = this;
    const { retry, clock } = this.#context;
    return head === null ? null : ruleOf(head, this.#watermark, retry.maxAttempts, clock.now());
  }

  /** What was taken last does not end as a whole: nothing behind it is taken from this line. */
  close(): void {
    this.#heads = [];
    this.#more = false;
    this.#reading = null;
  }

  /** Takes the next batch off the line; empty where the rules hold its head back. */
  take(): readonly Head[] {
    if (this.rule()?.rule !== 'process') return [];
    const { retry, clock, batchBytes, commitBatch } = this.#context;
    const batch = batchOf(
      this.#heads.slice(0, commitBatch),
      this.#watermark,
      retry.maxAttempts,
      clock.now(),
      batchBytes,
    );
    this.#heads = this.#heads.slice(batch.length);
    const last = this.#heads.at(-1) ?? batch.at(-1);
    if (this.#more && this.#heads.length < commitBatch && this.#reading === null && last !== undefined) {
      // A line that cannot be read ends here; the next look says why.
      this.#reading = read(this.#context, last.msgId).catch(() => null);
    }
    return batch;
  }

  /** Waits for what is being read, where nothing else is left. */
  async refill(): Promise<void> {
    const { commitBatch } = this.#context;
    if (this.#reading === null || this.#heads.length >= commitBatch) return;
    const read = await this.#reading;
    this.#reading = null;
    this.#more = read !== null && read.heads.length === limitOf(this.#context);
    if (read === null || read.heads.length === 0) return;
    this.#heads = [...this.#heads, ...read.heads];
    this.#watermark = read.watermark;
  }
}

function limitOf({ commitBatch }: PumpContext): number {
  return Math.max(commitBatch, AHEAD_MESSAGES);
}

function read(context: PumpContext, after?: bigint): Promise<Heads> {
  const { database, clock, batchBytes: bytes, recentTexts } = context;
  const limits = { messages: limitOf(context), bytes, now: clock.now(), held: recentTexts?.range ?? null };
  return selectHeads(database, { ...limits, ...(after === undefined ? {} : { after }) });
}
