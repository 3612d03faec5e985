/** Stands, gates, counters, belts and chutes of the airport, and who has them when. */
import type { Random } from './random.ts';

export interface Stand {
  readonly code: string;
  readonly terminal: 'T1' | 'T2';
  /** Airbridges that serve it; none at a remote stand. */
  readonly airbridges: readonly string[];
  readonly wide: boolean;
}

function numbered(from: number, to: number, write: (number: number) => string): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => write(from + index));
}

const two = (number: number) => String(number).padStart(2, '0');

export const STANDS: readonly Stand[] = [
  ...numbered(101, 124, String).map((code): Stand => contact(code, 'T1', false)),
  ...numbered(201, 232, String).map((code): Stand => contact(code, 'T2', Number(code) % 4 === 0)),
  ...numbered(401, 488, (number) => `${number}#`).map((code): Stand => {
    return { code, terminal: Number(code.slice(0, 3)) % 2 === 0 ? 'T1' : 'T2', airbridges: [], wide: true };
  }),
];

function contact(code: string, terminal: Stand['terminal'], wide: boolean): Stand {
  // Airbridge codes have a leading zero in the old terminal: text, never numbers.
  const bridge = terminal === 'T1' ? `0${code}` : code;
  return { code, terminal, airbridges: wide ? [`${bridge}A`, `${bridge}B`] : [bridge], wide };
}

export const GATES: Readonly<Record<Stand['terminal'], readonly string[]>> = {
  T1: numbered(1, 26, two),
  T2: numbered(20, 64, (number) => `G${number}`),
};
export const COUNTERS: Readonly<Record<Stand['terminal'], readonly string[]>> = {
  T1: ['A', 'B', 'C', 'D'].flatMap((row) => numbered(1, 12, (number) => `${row}${two(number)}`)),
  T2: ['E', 'F', 'G', 'H', 'J', 'K'].flatMap((row) => numbered(1, 16, (number) => `${row}${two(number)}`)),
};
export const BELTS: Readonly<Record<Stand['terminal'], readonly string[]>> = {
  T1: numbered(1, 7, two),
  T2: numbered(11, 22, two),
};
export const CHUTES: Readonly<Record<Stand['terminal'], readonly string[]>> = {
  T1: numbered(101, 118, (number) => `0${number}`),
  T2: numbered(201, 236, String),
};
export const RUNWAYS: readonly string[] = ['06', '07', '24', '25'];

/** Who has which resource when; minutes of the day. */
export class Timetable {
  readonly #taken = new Map<string, { from: number; to: number }[]>();

  /**
   * Takes the first that is free, in random order: of the candidates, else of the others; where none is, a
   * candidate all the same.
   */
  claim<T extends string | { readonly code: string }>(
    candidates: readonly T[],
    from: number,
    to: number,
    random: Random,
    others: readonly T[] = [],
  ): T {
    const order = [...random.shuffle(candidates), ...random.shuffle(others)];
    const free = order.find((candidate) => this.#isFree(codeOf(candidate), from, to));
    const chosen = free ?? random.pick(candidates);
    const taken = this.#taken.get(codeOf(chosen));
    if (taken === undefined) this.#taken.set(codeOf(chosen), [{ from, to }]);
    else taken.push({ from, to });
    return chosen;
  }

  #isFree(code: string, from: number, to: number): boolean {
    return (this.#taken.get(code) ?? []).every((other) => other.to <= from || to <= other.from);
  }
}

function codeOf(candidate: string | { readonly code: string }): string {
  return typeof candidate === 'string' ? candidate : candidate.code;
}
