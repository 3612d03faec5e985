/**
 * A small seeded generator (sfc32), so that a day is a function of its seed and of nothing else. Each subject
 * draws from a stream of its own: asking for more poison does not change the flights.
 */

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number, both ends included. */
  int(min: number, max: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** The list in another order; the given one stays as it is. */
  shuffle<T>(list: readonly T[]): T[];
}

/** The stream of one subject under a seed. */
export function randomStream(seed: string, subject: string): Random {
  const next = sfc32(hash(`${seed}\u0000${subject}`));
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (list) => {
      const picked = list[int(0, list.length - 1)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
    shuffle: (list) => shuffled(list, int),
  };
}

/** 32 bits of a text, e.g. to derive numbers that differ from seed to seed. */
export function hashOf(text: string): number {
  return hash(text)[0];
}

/** Fisher and Yates. */
function shuffled<T>(list: readonly T[], int: Random['int']): T[] {
  const result = [...list];
  for (let last = result.length - 1; last > 0; last--) {
    const other = int(0, last);
    const [a, b] = [result[last], result[other]];
    if (a === undefined || b === undefined) continue;
    result[last] = b;
    result[other] = a;
  }
  return result;
}

/** Four words of 32 bits: FNV-1a with four offsets, then mixed. */
function hash(text: string): [number, number, number, number] {
  const word = (offset: number) => {
    let value = (0x811c9dc5 ^ offset) >>> 0;
    for (let index = 0; index < text.length; index++) {
      value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
    }
    value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
    value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
    return (value ^ (value >>> 16)) >>> 0;
  };
  return [word(0), word(0x9e3779b9), word(0x3c6ef372), word(0xdaa66d2b)];
}

function sfc32([first, second, third, counter]: [number, number, number, number]): () => number {
  let [a, b, c, d] = [first, second, third, counter];
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 15; round++) next();
  return next;
}
