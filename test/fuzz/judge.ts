/** What must hold of whatever the reader and the dialect are given. */
import type { Dialect } from '../../src/dialect/port.ts';
import type { DecodeOutcome } from '../../src/domain/message.ts';
import { prefixOf } from '../../src/domain/reasons.ts';
import { CODEC, MALFORMED } from '../dialect/named.ts';
import type { FuzzInput } from './generate.ts';

/** Longest step, in which nothing else has the thread, and most memory above the message. */
export const MOST_STEP_MS = 1_000;
export const MOST_BYTES = 100 * 1024 * 1024;
/** Messages below are too short to reach either limit. */
const BIG = 256 * 1024;

export interface Judgement {
  /** What is wrong; null where nothing is. */
  readonly fault: string | null;
  readonly outcome: string;
  readonly stepMs: number;
  /** Live bytes above the message; null where it was too short to measure. */
  readonly bytes: number | null;
}

/**
 * Reads an input as HTTP would and as the mailbox would.
 *
 * @param collect runs the garbage collector
 */
export function judge(
  dialect: Dialect,
  { bytes, text }: FuzzInput,
  collect: () => void,
): readonly Judgement[] {
  const began = performance.now();
  const read = dialect.toText(bytes);
  const stepMs = performance.now() - began;
  const refused = read.text === null ? prefixOf(read.reason) : null;
  const fault =
    read.text === null && refused !== 'codec' && refused !== 'not-well-formed'
      ? `bytes refused for ${read.reason}`
      : null;
  const first: Judgement = {
    fault: fault ?? slow(stepMs),
    outcome: `bytes ${refused ?? 'read'}`,
    stepMs,
    bytes: null,
  };
  const texts = read.text === null || read.text === text ? [text] : [text, read.text];
  return [first, ...texts.map((one) => judgeText(dialect, one, collect))];
}

function judgeText(dialect: Dialect, text: string, collect: () => void): Judgement {
  const big = text.length > BIG;
  if (big) collect();
  const before = big ? live() : 0;
  let bytes = 0;
  let longest = 0;
  const measure = (): void => {
    if (!big) return;
    if (live() - before - bytes < 4 * 1024 * 1024) return;
    // Garbage does not count: it is collected before the limit is held against anybody.
    if (live() - before > MOST_BYTES / 2) collect();
    bytes = Math.max(bytes, live() - before);
  };
  const steps = dialect.decodeInSteps?.(text) ?? [][Symbol.iterator]();
  for (;;) {
    const began = performance.now();
    const step = steps.next() as IteratorResult<undefined, DecodeOutcome>;
    longest = Math.max(longest, performance.now() - began);
    measure();
    if (step.done !== true) continue;
    const fault =
      faultOf(step.value) ??
      slow(longest) ??
      (bytes > MOST_BYTES ? `${String(bytes)} bytes of memory` : null);
    return { fault, outcome: outcomeOf(step.value), stepMs: longest, bytes: big ? bytes : null };
  }
}

function live(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function slow(ms: number): string | null {
  return ms > MOST_STEP_MS ? `${ms.toFixed(0)} ms without a pause` : null;
}

function outcomeOf(outcome: DecodeOutcome): string {
  return outcome.outcome === 'decoded'
    ? `decoded ${outcome.message.body.kind}`
    : `${outcome.outcome} ${String(prefixOf(outcome.reason))}`;
}

function faultOf(outcome: DecodeOutcome): string | null {
  if (outcome.outcome === 'decoded') {
    const json = JSON.stringify(outcome.message, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
    // What PostgreSQL would refuse to store.
    return json.includes('\\u0000') || /\\ud[89a-f]/.test(json) ? 'a text that PostgreSQL cannot hold' : null;
  }
  const { reason, faults } = outcome;
  if (reason.includes('codec:reader')) return reason;
  if (!(outcome.outcome === 'malformed' ? MALFORMED : CODEC).includes(prefixOf(reason))) {
    return `${outcome.outcome} ${reason}`;
  }
  const unnamed = faults.find((fault) => prefixOf(fault.reason) === null);
  if (unnamed !== undefined) return `a fault without a name: ${unnamed.reason}`;
  return reason.length > 200 || faults.some(({ message }) => message.length > 1_000)
    ? 'a reason without end'
    : null;
}
