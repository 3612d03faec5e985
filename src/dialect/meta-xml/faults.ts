/**
 * Faults found while one text is decoded, in the order in which they decide (decisions.md, "Order of
 * judgement"): values that fit no rule in document order, then what is missing in document order.
 */
import type { DecodeOutcome, Fault, Header } from '../../domain/message.ts';
import { firstOf, prefixOf, reason } from '../../domain/reasons.ts';

/** Most faults kept of each sort (bad, missing); beyond, the last one kept says how many were left out. */
const FAULT_LIMIT = 1000;

/** A value that no rule of the profile accepts. */
export type BadValueReason = 'bad-value' | 'unknown-format' | 'unknown-value';

interface PlacedFault {
  readonly reason: string;
  readonly message: string;
  /** Offset into the text, in UTF-16 code units. */
  readonly offset: number | null;
}

/** Collects the faults of one text. */
export class FaultLog {
  readonly #text: string;
  readonly #bad: PlacedFault[] = [];
  readonly #missing: PlacedFault[] = [];
  #leftOut = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether nothing is wrong so far. */
  get empty(): boolean {
    return this.#bad.length === 0 && this.#missing.length === 0;
  }

  /** A value of `element` at `offset` that is impossible, of no known format or of no known value. */
  bad(why: BadValueReason, element: string, message: string, offset: number): void {
    this.#add(this.#bad, { reason: reason(why, element), message, offset });
  }

  /** A required element that is missing or empty; `offset` is that of the element it should stand in. */
  missing(where: 'meta-missing' | 'payload-missing', element: string, message: string, offset: number): void {
    this.#add(this.#missing, { reason: reason(where, element), message, offset });
  }

  /**
   * The outcome of a text with faults.
   *
   * @throws Error where there is no fault: asking is a mistake of the caller
   */
  outcome(header: Partial<Header> | null): DecodeOutcome {
    const places = new Places(this.#text);
    const [first, ...rest] = [...this.#bad, ...this.#missing].map((fault) => places.locate(fault));
    if (first === undefined) throw new Error('an outcome was asked of a text without faults');
    const faults: [Fault, ...Fault[]] = [first, ...rest];
    const last = faults.at(-1) ?? first;
    if (this.#leftOut > 0) {
      faults[faults.length - 1] = {
        ...last,
        message: `${last.message}; ${this.#leftOut} further faults are not listed`,
      };
    }
    return {
      outcome: outcomeOf(first.reason),
      reason: firstOf([first.reason, ...rest.map((fault) => fault.reason)]),
      faults,
      header,
    };
  }

  #add(list: PlacedFault[], fault: PlacedFault): void {
    if (list.length < FAULT_LIMIT) list.push(fault);
    else this.#leftOut += 1;
  }
}

/** The outcome of a text that could not be read as a document: one fault, which decides. */
export function singleFault(
  text: string,
  fault: PlacedFault,
  header: Partial<Header> | null = null,
): DecodeOutcome {
  const placed = new Places(text).locate(fault);
  return { outcome: outcomeOf(fault.reason), reason: fault.reason, faults: [placed], header };
}

/** CODEC_ERROR is what a corrected profile may repair; all else is MALFORMED (decisions.md). */
function outcomeOf(text: string): 'malformed' | 'codec-error' {
  const prefix = prefixOf(text);
  return prefix === 'unknown-format' || prefix === 'unknown-value' || prefix === 'codec'
    ? 'codec-error'
    : 'malformed';
}

/** Turns offsets into lines and columns. Faults are rare, so lines are counted only once there is one. */
class Places {
  readonly #text: string;
  #lineStarts: readonly number[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  locate(fault: PlacedFault): Fault {
    if (fault.offset === null) return { ...unplaced(fault), line: null, column: null };
    const starts = (this.#lineStarts ??= lineStarts(this.#text));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= fault.offset) low = middle;
      else high = middle - 1;
    }
    return { ...unplaced(fault), line: low + 1, column: fault.offset - (starts[low] ?? 0) + 1 };
  }
}

function unplaced(fault: PlacedFault): { reason: string; message: string } {
  return { reason: fault.reason, message: fault.message };
}

/** Offsets at which lines start; a line ends at LF, CR or both together. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  // A byte-order mark is no character of the first line.
  if (text.startsWith('\uFEFF')) starts[0] = 1;
  for (const found of text.matchAll(/\r\n|\r|\n/g)) starts.push(found.index + found[0].length);
  return starts;
}
