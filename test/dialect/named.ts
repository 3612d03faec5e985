/** The reasons that a text may be refused for, by outcome (contract, "Reasons"). */
import type { ReasonPrefix } from '../../src/domain/reasons.ts';

export const MALFORMED: readonly (ReasonPrefix | null)[] = [
  'raw-missing',
  'not-well-formed',
  'doctype-forbidden',
  'too-large',
  'too-deep',
  'meta-missing',
  'payload-missing',
  'bad-value',
];
export const CODEC: readonly (ReasonPrefix | null)[] = ['unknown-format', 'unknown-value', 'codec'];
