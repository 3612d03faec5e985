/** How much each station did in the last minute: what the console shows as its rate. */
import type { StationName } from '../runtime/station.ts';

const SECONDS = 60;

export class Rates {
  readonly #totals = new Map<StationName, number>();
  /** Totals as they were at the end of each of the last seconds, oldest first. */
  readonly #samples: ReadonlyMap<StationName, number>[] = [];

  /** Counts work done by a station. */
  add(station: StationName, amount: number): void {
    this.#totals.set(station, (this.#totals.get(station) ?? 0) + amount);
  }

  /** Takes the second's sample; called once a second. */
  sample(): void {
    this.#samples.push(new Map(this.#totals));
    if (this.#samples.length > SECONDS + 1) this.#samples.shift();
  }

  /** Work in the last minute, or since the start where that is less. */
  perMinute(station: StationName): number {
    return (this.#totals.get(station) ?? 0) - (this.#samples[0]?.get(station) ?? 0);
  }
}
