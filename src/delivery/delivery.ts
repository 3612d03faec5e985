/**
 * The delivery station: one sequential sender for both targets. Changes go out at once, newest states each
 * flush interval, or at once where the last flush was full (seed §8).
 */
import { AGAIN, restUntil, type Round } from '../runtime/station.ts';
import type { DeliveryContext } from './context.ts';
import { Dispatcher } from './dispatcher.ts';
import { LatestState } from './latest-state.ts';
import type { Sink } from './port.ts';
import { Sender } from './sender.ts';

export interface DeliveryOptions extends DeliveryContext {
  readonly sink: Sink;
  /** Pause between two flushes, ms (`schd.flush-interval`). */
  readonly flushIntervalMs: number;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #sender: Sender;
  readonly #dispatcher: Dispatcher;
  readonly #latestState: LatestState;
  #flushAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#sender = new Sender(options.sink, options.clock);
    this.#dispatcher = new Dispatcher(options, this.#sender);
    this.#latestState = new LatestState(options, this.#sender);
  }

  /** When the target last accepted something, ms; null where it has not yet. For `msgx_ack_age_seconds`. */
  get lastAckAt(): number | null {
    return this.#sender.lastAckAt;
  }

  /** One batch of changes, and a flush where it is due. Throws Outage and LostLease. */
  async round(): Promise<Round> {
    const { clock, flushIntervalMs } = this.#options;
    const changes = await this.#dispatcher.round();
    if (clock.now() >= this.#flushAt) {
      const flushed = await this.#latestState.flush();
      const now = clock.now();
      this.#flushAt = flushed.next === 'now' ? now : now + flushIntervalMs;
    }
    if (changes.next === 'now' || this.#flushAt <= clock.now()) return AGAIN;
    return changes.until === null
      ? restUntil(this.#flushAt)
      : restUntil(Math.min(this.#flushAt, changes.until));
  }
}
