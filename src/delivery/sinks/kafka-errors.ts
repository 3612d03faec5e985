/** What an error of the client means: the record's fault, or the target's. Told by codes, never by texts. */
import { messageOf } from '../../runtime/outage.ts';
import { codesOf } from './kafka-options.ts';

/**
 * Codes by which the broker judges records. Everything else (no leader, too few replicas, no right to the topic,
 * fenced, out of sequence, unknown topic …) concerns the target or this producer as a whole and charges nobody.
 */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
]);

/** Why the broker refused the records, or null where it did not. */
export function refusalOf(error: unknown): string | null {
  for (const code of codesOf(error)) if (REFUSALS.has(code)) return code;
  return null;
}

/** An error in one line with the codes inside it: the outer ones say little more than that something failed. */
export function describe(error: unknown): string {
  const codes = [...codesOf(error)];
  const text = messageOf(error);
  return codes.length === 0 ? text : `${text} (${codes.join(', ')})`;
}
