/**
 * Plays the steps of a day into a mailbox as its upstream would: messages committed one after the other or several
 * at once, inserts that are rolled back, and some that stay open while later IDs are committed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MsgId } from '../domain/ids.ts';
import type { Mailbox, OpenInsert } from '../mailbox/port.ts';
import type { Step } from './steps.ts';

/** What the writer needs of a mailbox. */
export type WritableMailbox = Pick<Mailbox, 'insert' | 'insertAll' | 'openInsert'>;

export interface PlayOptions {
  readonly mailbox: WritableMailbox;
  readonly steps: Iterable<Step>;
  /** Messages per second; 0 = as fast as it can. */
  readonly rate: number;
  /** The receiver's max-commit-delay, ms: late commits "beyond" it are held longer. */
  readonly maxCommitDelayMs: number;
  /** Most inserts held open at a time, each on a connection of its own. Default 16. */
  readonly maxHeld?: number;
  /** Ends the play: what is open is committed at once, nothing more is begun. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (played: Played) => void;
}

/** What has been written so far. */
export interface Played {
  /** Committed messages, late ones included. */
  readonly messages: number;
  /** Rolled-back inserts. */
  readonly holes: number;
  /** Messages committed after later IDs. */
  readonly late: number;
  /** Inserts open now. */
  readonly held: number;
  readonly firstId: MsgId | null;
  /** Highest committed ID. */
  readonly lastId: MsgId | null;
  /** The signal ended it before its end. */
  readonly stopped: boolean;
}

/** Most messages of one transaction, in count and in characters. */
const BATCH = 100;
const BATCH_CHARACTERS = 4_000_000;
const MOST_HELD = 16;
/** What a hold goes beyond max-commit-delay: the receiver must first have seen the hole. */
const BEYOND_MS = 1_000;

/**
 * Plays the steps; resolves when everything is committed. One call after the other: IDs follow the steps.
 * Throws what the mailbox throws; inserts still open are rolled back then.
 */
export async function play(options: PlayOptions): Promise<Played> {
  const writer = new Writer(options);
  try {
    return await writer.run();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** The steps without the first `count`: a day that was broken off goes on, as each step uses up one ID. */
export function* skipSteps(steps: Iterable<Step>, count: bigint): Generator<Step> {
  let index = 0n;
  for (const step of steps) {
    if (index >= count) yield step;
    index += 1n;
  }
}

interface Held {
  readonly insert: OpenInsert;
  readonly beyondDelay: boolean;
  /** Committed messages at which it may be committed. */
  readonly dueCount: number;
  /** Monotonic ms at which it may be committed. */
  readonly dueTime: number;
}

class Writer {
  readonly #options: PlayOptions;
  readonly #maxHeld: number;
  #batch: string[] = [];
  #characters = 0;
  #held: Held[] = [];
  #messages = 0;
  #holes = 0;
  #late = 0;
  #firstId: MsgId | null = null;
  #lastId: MsgId | null = null;
  #stopped = false;

  constructor(options: PlayOptions) {
    this.#options = options;
    this.#maxHeld = options.maxHeld ?? MOST_HELD;
  }

  async run(): Promise<Played> {
    const { steps, rate } = this.#options;
    const start = performance.now();
    let begun = 0;
    for (const step of steps) {
      if (rate > 0 && step.kind !== 'hole') await this.#pace(start + (begun / rate) * 1000);
      if (this.#aborted()) {
        this.#stopped = true;
        break;
      }
      await this.#take(step);
      if (step.kind !== 'hole') begun += 1;
    }
    await this.#flush();
    await this.#settle();
    return this.#report();
  }

  /** Rolls back what is open, as far as it still can be. */
  async abandon(): Promise<void> {
    await Promise.allSettled(this.#held.map(({ insert }) => insert.rollback()));
    this.#held = [];
  }

  async #take(step: Step): Promise<void> {
    const { mailbox, maxCommitDelayMs } = this.#options;
    switch (step.kind) {
      case 'message': {
        this.#batch.push(step.text);
        this.#characters += step.text.length;
        if (this.#batch.length >= BATCH || this.#characters >= BATCH_CHARACTERS) await this.#flush();
        return;
      }
      case 'hole': {
        await this.#flush();
        const insert = await mailbox.openInsert('<MSG/>');
        this.#seen(insert.id, false);
        await insert.rollback();
        this.#holes += 1;
        return;
      }
      case 'late': {
        await this.#flush();
        while (this.#held.length >= this.#maxHeld && !this.#aborted()) await this.#makeRoom();
        const insert = await mailbox.openInsert(step.text);
        this.#held.push({
          insert,
          beyondDelay: step.beyondDelay,
          dueCount: this.#messages + step.after,
          dueTime: step.beyondDelay ? performance.now() + maxCommitDelayMs + BEYOND_MS : 0,
        });
        this.#seen(insert.id, false);
      }
    }
  }

  /** Commits the batch, then the late ones that are due. */
  async #flush(): Promise<void> {
    const { mailbox } = this.#options;
    const [text, ...more] = this.#batch;
    if (text === undefined) return;
    const ids = more.length === 0 ? [await mailbox.insert(text)] : await mailbox.insertAll(this.#batch);
    this.#batch = [];
    this.#characters = 0;
    this.#messages += ids.length;
    for (const id of ids) this.#seen(id, true);
    const now = performance.now();
    for (const held of this.#held) {
      if (held.dueCount <= this.#messages && held.dueTime <= now) await this.#commit(held);
    }
    this.#progress();
  }

  async #commit(held: Held): Promise<void> {
    this.#held = this.#held.filter((other) => other !== held);
    await held.insert.commit();
    this.#messages += 1;
    this.#late += 1;
    this.#seen(held.insert.id, true);
  }

  /** All connections are in use: one of the short ones goes early, else the next long one is waited for. */
  async #makeRoom(): Promise<void> {
    const short = this.#held.find(({ beyondDelay }) => !beyondDelay);
    const next = short ?? earliest(this.#held);
    if (next === undefined) return;
    await this.#wait(next.dueTime);
    await this.#commit(next);
  }

  /** The end: short ones at once, long ones when their time has come. */
  async #settle(): Promise<void> {
    for (;;) {
      const next = earliest(this.#held);
      if (next === undefined) break;
      await this.#wait(next.dueTime);
      await this.#commit(next);
      this.#progress();
    }
    this.#progress();
  }

  /** Waits for the moment of the next message; what was taken before is committed first. */
  async #pace(moment: number): Promise<void> {
    if (moment <= performance.now()) return;
    await this.#flush();
    await this.#wait(moment);
  }

  /** Until a monotonic moment or the signal. */
  async #wait(moment: number): Promise<void> {
    const { signal } = this.#options;
    const left = moment - performance.now();
    if (left <= 0 || this.#aborted()) return;
    try {
      await sleep(left, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // The signal only ends the wait.
      if (!this.#aborted()) throw error;
    }
  }

  #aborted(): boolean {
    return this.#options.signal?.aborted === true;
  }

  #seen(id: MsgId, committed: boolean): void {
    this.#firstId ??= id;
    if (committed && (this.#lastId === null || id > this.#lastId)) this.#lastId = id;
  }

  #progress(): void {
    this.#options.onProgress?.(this.#report());
  }

  #report(): Played {
    return {
      messages: this.#messages,
      holes: this.#holes,
      late: this.#late,
      held: this.#held.length,
      firstId: this.#firstId,
      lastId: this.#lastId,
      stopped: this.#stopped,
    };
  }
}

function earliest(held: readonly Held[]): Held | undefined {
  return held.reduce<Held | undefined>(
    (first, other) => (first === undefined || other.dueTime < first.dueTime ? other : first),
    undefined,
  );
}
