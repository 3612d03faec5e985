import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { prefixOf } from '../../../src/domain/reasons.ts';
import { dialect, verdictOf } from '../kit.ts';

interface Expected {
  readonly file: string;
  readonly state: string;
  readonly errorClass?: string;
  readonly reason?: string;
}

const DAY = new URL('../../fixtures/day/', import.meta.url);
const { messages } = JSON.parse(readFileSync(new URL('expected.json', DAY), 'utf8')) as {
  readonly messages: readonly Expected[];
};
/** Reasons that decoding gives; all others are decided later, on a decoded message. */
const OF_DECODING: Readonly<Record<string, 'malformed' | 'codec-error'>> = {
  'not-well-formed': 'malformed',
  'doctype-forbidden': 'malformed',
  'meta-missing': 'malformed',
  'payload-missing': 'malformed',
  'bad-value': 'malformed',
  'unknown-format': 'codec-error',
  'unknown-value': 'codec-error',
};

describe('the example day', () => {
  test('is whole', () => {
    expect(messages).toHaveLength(37);
  });

  test.each(messages)('$file', ({ file, reason, state }) => {
    const outcome = dialect.decode(readFileSync(new URL(file, DAY), 'utf8'));
    const decoding = OF_DECODING[prefixOf(reason ?? '') ?? ''];
    expect(verdictOf(outcome)).toBe(decoding === undefined ? 'decoded' : `${decoding} ${reason ?? ''}`);
    if (outcome.outcome !== 'decoded') return;
    expect(outcome.message.unknownElements).toEqual([]);
    const { kind } = outcome.message.body;
    const other = prefixOf(reason ?? '');
    expect(kind === 'ignored').toBe(other === 'ignored');
    expect(kind === 'unsupported').toBe(other === 'unsupported');
    if (state === 'SUCCEEDED') expect(['schedule', 'operation', 'deletion', 'reference']).toContain(kind);
  });
});
