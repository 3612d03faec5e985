/**
 * Faults found while one text is decoded, in the order in which they decide (decisions.md, "Order of
 * judgement"): values that fit no rule in document order, then what is missing in document order.
 */
import type { DecodeOutcome, Fault, Header } from '../../domain/message.ts';
import { firstOf, prefixOf, reason } from '../../domain/reasons.ts';

/** Most faults kept of each sort (bad, missing); beyond, the last one kept says how many were left out. */
const FAULT_LIMIT = 1000;

const LF = 10;
const CR = 13;

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
    const [first, ...rest] = located(this.#text, [...this.#bad, ...this.#missing]);
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
  const [placed = { reason: fault.reason, message: fault.message, line: null, column: null }] = located(
    text,
    [fault],
  );
  return { outcome: outcomeOf(fault.reason), reason: fault.reason, faults: [placed], header };
}

/** CODEC_ERROR is what a corrected profile may repair; all else is MALFORMED (decisions.md). */
function outcomeOf(text: string): 'malformed' | 'codec-error' {
  const prefix = prefixOf(text);
  return prefix === 'unknown-format' || prefix === 'unknown-value' || prefix === 'codec'
    ? 'codec-error'
    : 'malformed';
}

/**
 * Turns offsets into lines and columns. Faults are rare, so lines are counted only where there is one, up to the
 * last one and without remembering where each line starts: a text may be nothing but lines. A line ends at LF, CR
 * or both together.
 */
function located(text: string, faults: readonly PlacedFault[]): readonly Fault[] {
  const places = new Map<number, { line: number; column: number }>();
  const offsets = new Set(faults.flatMap(({ offset }) => (offset === null ? [] : [offset])));
  // A byte-order mark is no character of the first line.
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let seen = start;
  for (const offset of [...offsets].sort((left, right) => left - right)) {
    for (; seen < offset; seen += 1) {
      const code = text.charCodeAt(seen);
      if (code !== LF && (code !== CR || text.charCodeAt(seen + 1) === LF)) continue;
      line += 1;
      start = seen + 1;
    }
    places.set(offset, { line, column: offset - start + 1 });
  }
  return faults.map(({ reason, message, offset }) => {
    const place = offset === null ? undefined : places.get(offset);
    return { reason, message, line: place?.line ?? null, column: place?.column ?? null };
  });
}
