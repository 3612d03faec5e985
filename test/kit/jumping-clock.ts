/** A clock of production that jumps when told to, for outages that last longer than a test. */
import { AnchoredClock } from '../../src/runtime/clock.ts';

export class JumpingClock extends AnchoredClock {
  #ahead = 0;

  constructor() {
    super(Date.now());
  }

  override now(): number {
    return super.now() + this.#ahead;
  }

  /** Moves forward, ms; stays ahead when it is anchored anew. */
  advance(millis: number): void {
    this.#ahead += millis;
  }
}
