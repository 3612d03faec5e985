/** Clocks: the one of production, anchored to the database, and one that tests move by hand. */
import type { Clock } from '../domain/clock.ts';

/**
 * A clock that starts from a given instant (our database's now()) and goes on by the process's monotonic
 * timer, so that a jump of the wall clock moves nothing (decisions.md, "Watermark details").
 */
export class AnchoredClock implements Clock {
  #base: number;
  #at: bigint;

  constructor(baseMillis: number) {
    this.#base = baseMillis;
    this.#at = process.hrtime.bigint();
  }

  now(): number {
    return this.#base + Number((process.hrtime.bigint() - this.#at) / 1_000_000n);
  }

  /** Starts again from another instant; never called while a station runs. */
  anchor(baseMillis: number): void {
    this.#base = baseMillis;
    this.#at = process.hrtime.bigint();
  }
}

/** A clock that stands still until told to move. */
export class ManualClock implements Clock {
  #now: number;

  constructor(startMillis: number) {
    this.#now = startMillis;
  }

  now(): number {
    return this.#now;
  }

  /** Moves forward by milliseconds. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
