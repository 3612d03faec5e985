/**
 * Drives one station: round after round, resting between them, woken by others, paused by an operator, and
 * backing off in an outage without charging anybody (decisions.md, "A system's outage is not a message's
 * failure").
 */
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../runtime/log.ts';
import { LostLease, Outage, messageOf, type Dependency } from '../runtime/outage.ts';
import type { Round, StationName } from '../runtime/station.ts';

/** Pauses of a station in an outage, ms: doubling up to the cap. */
const OUTAGE_FIRST_MS = 250;
const OUTAGE_CAP_MS = 5_000;

/** State of a station as people see it. */
export type LoopState =
  | { readonly state: 'running'; readonly since: number }
  | { readonly state: 'paused'; readonly since: number; readonly by: string; readonly reason: string }
  | {
      readonly state: 'outage';
      readonly since: number;
      readonly reason: string;
      /** Who is away; null where an unexpected error stopped the round. */
      readonly dependency: Dependency | null;
    }
  | { readonly state: 'stopped'; readonly since: number; readonly reason: string };

export interface LoopOptions {
  readonly name: StationName | 'upkeep';
  readonly round: () => Promise<Round>;
  /** Rest after a round that was not full, ms. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The pause an operator has set, or null. */
  readonly paused: () => { readonly by: string; readonly reason: string; readonly since: number } | null;
  /** Told once where the lease is lost or the station cannot go on. */
  readonly onLost: () => void;
  /** Whether an error means that this station must stop and say so (e.g. restarted mailbox IDs). */
  readonly isFatal?: (error: unknown) => boolean;
}

export class StationLoop {
  readonly name: StationName | 'upkeep';
  readonly #options: LoopOptions;
  #state: LoopState;
  #stopping = false;
  #wake: (() => void) | null = null;
  #woken = false;
  #task: Promise<void> | null = null;
  #beat = 0;
  #resting = false;

  constructor(options: LoopOptions) {
    this.name = options.name;
    this.#options = options;
    this.#state = { state: 'stopped', since: options.clock.now(), reason: 'not started' };
  }

  get state(): LoopState {
    return this.#state;
  }

  /** Monotonic milliseconds of the last sign of life of the loop itself: now while it rests, however long. */
  get beat(): number {
    return this.#resting ? performance.now() : this.#beat;
  }

  start(): void {
    this.#task ??= this.#run();
  }

  /** Ends the rest now: there is something to do. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Finishes the current round and stops. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#task;
  }

  async #run(): Promise<void> {
    let backoff = OUTAGE_FIRST_MS;
    while (!this.#stopping) {
      this.#beat = performance.now();
      const pause = this.#options.paused();
      if (pause !== null) {
        this.#enter({ state: 'paused', ...pause });
        await this.#rest(200, false);
        continue;
      }
      try {
        const round = await this.#options.round();
        this.#enter({ state: 'running', since: this.#now() });
        backoff = OUTAGE_FIRST_MS;
        if (round.next === 'wait') await this.#rest(this.#restOf(round.until), true);
      } catch (error) {
        if (error instanceof LostLease) {
          this.#enter({ state: 'stopped', since: this.#now(), reason: error.message });
          this.#options.onLost();
          return;
        }
        if (this.#options.isFatal?.(error) === true) {
          this.#enter({ state: 'stopped', since: this.#now(), reason: messageOf(error) });
          return;
        }
        // What is no outage either is a fault of ours without a message to charge: the same pause, louder.
        if (!(error instanceof Outage))
          this.#options.log.error({ err: error }, 'unexpected error in a round');
        const dependency = error instanceof Outage ? error.dependency : null;
        this.#enter({ state: 'outage', since: this.#now(), reason: messageOf(error), dependency });
        await this.#rest(backoff, false);
        backoff = Math.min(backoff * 2, OUTAGE_CAP_MS);
      }
    }
    this.#enter({ state: 'stopped', since: this.#now(), reason: 'stopped' });
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #restOf(until: number | null): number {
    return until === null
      ? this.#options.intervalMs
      : Math.max(0, Math.min(this.#options.intervalMs, until - this.#now()));
  }

  /** Rests; a wake-up that came while the round ran counts too. */
  async #rest(millis: number, wakeable: boolean): Promise<void> {
    if (this.#stopping) return;
    if (wakeable && this.#woken) {
      this.#woken = false;
      return;
    }
    this.#resting = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, millis);
      const wake = () => {
        if (wakeable || this.#stopping) done();
      };
      this.#wake = wake;
      function done() {
        clearTimeout(timer);
        resolve();
      }
    });
    this.#beat = performance.now();
    this.#resting = false;
    this.#wake = null;
    this.#woken = false;
  }

  /** One log line per change of state. */
  #enter(next: LoopState): void {
    const before = this.#state;
    if (before.state === next.state && (next.state === 'running' || reasonOf(before) === reasonOf(next)))
      return;
    if (before.state === next.state && next.state === 'outage') {
      this.#state = { ...next, since: before.since };
      return;
    }
    this.#state = next;
    const { log, name } = this.#options;
    switch (next.state) {
      case 'running':
        log.info({ station: name }, before.state === 'stopped' ? 'station started' : 'station goes on');
        return;
      case 'paused':
        log.info({ station: name, by: next.by, reason: next.reason }, 'station paused by an operator');
        return;
      case 'outage':
        log.warn({ station: name, reason: next.reason }, 'station paused: a dependency is not available');
        return;
      case 'stopped':
        log.info({ station: name, reason: next.reason }, 'station stopped');
    }
  }
}

function reasonOf(state: LoopState): string {
  return state.state === 'running' ? '' : state.reason;
}
