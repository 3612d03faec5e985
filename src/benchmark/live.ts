/** Live traffic at a steady rate, and how long each message takes: mailbox commit → KAFKA:msg acknowledged by the sink. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FLIGHTS } from './inputs.ts';
import { changeOf, flids } from './messages.ts';
import { awaitAllDone } from './drain.ts';
import { pipelineOf, type Setup } from './setup.ts';

/** One message, in monotonic ms. */
export interface Passage {
  readonly committedAt: number;
  /** Infinity where the sink never acknowledged it. */
  readonly delay: number;
}

/** Sends gate changes until told to stop. */
export class LiveTraffic {
  readonly #setup: Setup;
  readonly #committed = new Map<string, number>();
  readonly #acknowledged = new Map<string, number>();
  readonly #pipeline;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#pipeline = pipelineOf(setup, (value, at) => {
      const id = /"msgId":"(\d+)"/.exec(value)?.[1];
      if (id !== undefined) this.#acknowledged.set(id, at);
    });
  }

  /**
   * Runs the pipeline, sends at a rate until `over` says so, waits until all is done and gives what passed.
   *
   * @param before messages that are in the mailbox already
   * @param rate messages per second
   * @param over asked before each message, with the number of those sent
   */
  async run(before: number, rate: number, over: (sent: number) => boolean): Promise<readonly Passage[]> {
    this.#pipeline.start();
    try {
      await awaitAllDone(this.#setup, before);
      const names = flids(FLIGHTS);
      const started = performance.now();
      let sent = 0;
      for (; !over(sent); sent++) {
        await sleep(Math.max(0, started + (sent * 1_000) / rate - performance.now()));
        const id = await this.#setup.mailbox.insert(changeOf(names, sent));
        this.#committed.set(id.toString(), performance.now());
      }
      await awaitAllDone(this.#setup, before + sent);
    } finally {
      await this.#pipeline.stop();
    }
    return [...this.#committed].map(([id, committedAt]) => ({
      committedAt,
      delay: Math.max(0, (this.#acknowledged.get(id) ?? Number.POSITIVE_INFINITY) - committedAt),
    }));
  }
}

/** Delays of a share of the messages at most, ms. */
export interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Sums passages up. */
export function delaysOf(passages: readonly Passage[]): Delays {
  const delays = passages.map(({ delay }) => delay).sort((left, right) => left - right);
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: delays.at(-1) ?? 0 };
}

/** Latency at a rate for so many seconds. */
export async function latency(setup: Setup, rate: number, seconds: number): Promise<Delays> {
  return delaysOf(await new LiveTraffic(setup).run(1, rate, (sent) => sent >= rate * seconds));
}
