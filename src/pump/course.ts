/**
 * The way of the pump along the line: batches one behind the other on one connection, so that a batch is decided and sent
 * while those before it are being written and waited for on the disk.
 */
import { failpoint } from '#failpoint';
import { LostLease, Outage } from '../runtime/outage.ts';
import type { Head } from '../store/proc-state.ts';
import type { Session } from '../store/transaction.ts';
import { endingOf, readCandidates } from './candidate.ts';
import { Batch } from './commit.ts';
import type { PumpContext } from './context.ts';
import type { Finished } from './decisions.ts';
import { isLarge } from './head.ts';
import type { Line } from './line.ts';
import { reportEnded } from './report.ts';

/** A batch on its way, with the heads it is to end. */
export interface Underway {
  readonly batch: Batch;
  readonly heads: readonly Head[];
  readonly ends: () => void;
}

/** A batch that has been sent with its commit. */
interface Sent extends Underway {
  readonly finished: readonly Finished[];
  readonly committed: Promise<void>;
}

/** What may be gone on with behind a batch. */
interface Road {
  readonly session: Session;
  readonly line: Line;
  /** ms; behind it no further batch is begun. */
  readonly until: number;
}

/** A batch failed after another one had ended: nothing is known of who is to be charged. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export class Course {
  readonly #context: PumpContext;
  readonly #road: Road;
  /** The last one sent, where its commit is not answered yet. */
  #sent: Sent | null = null;
  /** Whether any has ended. */
  #advanced = false;

  constructor(context: PumpContext, road: Road) {
    this.#context = context;
    this.#road = road;
  }

  /**
   * Ends a batch that has been decided, and goes on along the line for a while: as the transaction of each batch goes
   * out, the one after the next is begun to be read, and the next is decided and sent behind it. It does not wait for the
   * commit before it, but commits nothing unless that is done. A batch that fails behind another leaves nothing, and the
   * next tick meets it first, which decides who is charged.
   *
   * Throws what kept the first batch from ending, LostLease, Outage, and Interrupted for all else behind the first.
   */
  async follow(first: Underway, decided: readonly Finished[]): Promise<void> {
    let current = first;
    let finished = decided;
    let next: Underway | null = null;
    try {
      for (;;) {
        const before = this.#sent;
        this.#sent = await this.#send(current, finished);
        let later: Underway | null = null;
        let ahead: readonly Finished[] | null = null;
        let failed: { readonly error: unknown } | null = null;
        const goesOn = this.#goesOn(this.#sent);
        if (goesOn) {
          next ??= await this.#begin(current.batch);
          later = next === null ? null : await this.#begin(next.batch);
          try {
            if (next?.batch.ahead === true) ahead = await next.batch.decide();
          } catch (error) {
            failed = { error };
          }
        }
        if (before !== null) await this.#end(before);
        if (!goesOn || next === null || ahead === null) await this.#endSent();
        if (!goesOn || next === null) return;
        if (failed !== null) throw failed.error;
        current = next;
        next = later;
        finished = ahead ?? (await current.batch.decide());
      }
    } catch (error) {
      // What is on its way behind the one that failed is over before anything is tried again.
      await this.#sent?.committed.catch(() => undefined);
      if (!this.#advanced || error instanceof LostLease || error instanceof Outage) throw error;
      throw new Interrupted('a batch behind another was not ended', { cause: error });
    }
  }

  /** Sends a batch with its commit, behind the one whose commit is not answered. */
  async #send(batch: Underway, finished: readonly Finished[]): Promise<Sent> {
    const before = this.#sent;
    let committed: () => Promise<void>;
    try {
      committed = await batch.batch.send(before?.batch ?? null);
    } catch (error) {
      // Where the one before has failed, that is the reason.
      await this.#endSent();
      throw error;
    }
    const sent = { ...batch, finished, committed: committed() };
    sent.committed.catch(() => undefined);
    return sent;
  }

  #goesOn({ heads, finished }: Sent): boolean {
    const whole = finished.length === heads.length && !heads.some(isLarge);
    return whole && this.#context.clock.now() < this.#road.until;
  }

  async #endSent(): Promise<void> {
    const sent = this.#sent;
    if (sent === null) return;
    await this.#end(sent);
    this.#sent = null;
  }

  /** Waits for the commit of a batch, and tells of it. Throws what kept it from being done. */
  async #end({ committed, ends, finished }: Sent): Promise<void> {
    await committed;
    failpoint('pump.committed');
    this.#advanced = true;
    ends();
    this.#context.onProgress?.(finished.length);
    await reportEnded(this.#context, finished);
  }

  /** Begins to read a batch behind another; null where it is not one that ends as a whole: that is for the next tick. */
  async #begin(behind: Batch): Promise<Underway | null> {
    const { session, line } = this.#road;
    const ends = this.#context.metrics.processSeconds.startTimer();
    await line.refill();
    const heads = line.take();
    // What cannot be read now is met by the next tick as its head, where there are rules for it.
    const candidates = heads.some(isLarge) ? [] : await readCandidates(this.#context, heads).catch(() => []);
    const ending = endingOf(candidates);
    if (ending.length < heads.length) line.close();
    if (ending.length === 0) return null;
    const { generation } = line;
    return {
      batch: new Batch(this.#context, session, ending, { generation, bound: null, behind }),
      heads,
      ends,
    };
  }
}
