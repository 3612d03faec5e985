/** The tick rules around the head of line (seed §5.1). Pure. */
import type { Head } from '../store/proc-state.ts';

/** What the rules say of a message, were it the head. */
export type HeadRule =
  /** Rule 2: enqueued by the compat entry above W; smaller IDs may still come. */
  | { readonly rule: 'above-watermark' }
  /** Rule 3: attempts used up. */
  | { readonly rule: 'exhausted' }
  /** Rule 4: its next attempt is not due. */
  | { readonly rule: 'not-due'; readonly until: number }
  /** Rule 5: process it. */
  | { readonly rule: 'process' };

/** Applies the rules to one message. */
export function ruleOf(head: Head, watermark: bigint, maxAttempts: number, now: number): HeadRule {
  if (head.msgId > watermark) return { rule: 'above-watermark' };
  if (head.state === 'FAILED' && head.attempts >= maxAttempts) return { rule: 'exhausted' };
  if (head.state === 'FAILED' && head.nextAttemptAt !== null && head.nextAttemptAt > now) {
    return { rule: 'not-due', until: head.nextAttemptAt };
  }
  return { rule: 'process' };
}

/**
 * A message of this many bytes ends its batch: it is worth a transaction of its own, and several of them decoded at
 * once cost memory for nothing.
 */
const LARGE_MESSAGE = 256 << 10;

/** Whether a message is worth a transaction of its own. */
export function isLarge({ bytes }: Head): boolean {
  return bytes >= LARGE_MESSAGE;
}

/**
 * The consecutive heads that may be processed together: it ends before the first that the rules hold back, at
 * the byte bound, and behind a large message. The first head is always in it where its rule is `process`; one that has failed before is
 * tried alone, because what is behind it would most likely be read in vain once more.
 */
export function batchOf(
  heads: readonly Head[],
  watermark: bigint,
  maxAttempts: number,
  now: number,
  batchBytes: number,
): readonly Head[] {
  const [first] = heads;
  // A head that has failed before is tried alone: what is behind it would most likely be decoded in vain again.
  if (first?.state === 'FAILED') return [first];
  const batch: Head[] = [];
  let bytes = 0;
  for (const head of heads) {
    if (ruleOf(head, watermark, maxAttempts, now).rule !== 'process') break;
    bytes += head.bytes;
    if (batch.length > 0 && bytes > batchBytes) break;
    batch.push(head);
    if (isLarge(head)) break;
  }
  return batch;
}
