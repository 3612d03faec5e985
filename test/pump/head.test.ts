import { describe, expect, it } from 'vitest';
import { batchOf, ruleOf } from '../../src/pump/head.ts';
import { checkTiers, nextAttempt } from '../../src/pump/retry.ts';
import type { Head } from '../../src/store/proc-state.ts';

const NOW = 1_000_000;
const head = (msgId: bigint, overrides: Partial<Head> = {}): Head => ({
  msgId,
  state: 'PENDING',
  attempts: 0,
  nextAttemptAt: null,
  bytes: 10,
  kept: null,
  ...overrides,
});
const failed = (msgId: bigint, attempts: number, nextAttemptAt: number | null) =>
  head(msgId, { state: 'FAILED', attempts, nextAttemptAt });
const ids = (heads: readonly Head[]) => batchOf(heads, 100n, 5, NOW, 1_000).map(({ msgId }) => Number(msgId));

describe('tick rules', () => {
  it('judges W before attempts, attempts before the time of the next one', () => {
    expect(ruleOf(failed(101n, 5, NOW + 1), 100n, 5, NOW)).toEqual({ rule: 'above-watermark' });
    expect(ruleOf(failed(100n, 5, NOW + 1), 100n, 5, NOW)).toEqual({ rule: 'exhausted' });
    expect(ruleOf(failed(100n, 4, NOW + 1), 100n, 5, NOW)).toEqual({ rule: 'not-due', until: NOW + 1 });
    expect(ruleOf(failed(100n, 4, NOW), 100n, 5, NOW)).toEqual({ rule: 'process' });
    expect(ruleOf(head(100n), 100n, 5, NOW)).toEqual({ rule: 'process' });
  });

  it('ends a batch before what the rules hold back and at its bytes', () => {
    expect(ids([head(1n), head(2n), head(101n)])).toEqual([1, 2]);
    expect(ids([head(1n), failed(2n, 1, NOW + 1), head(3n)])).toEqual([1]);
    expect(ids([head(1n), failed(2n, 5, null), head(3n)])).toEqual([1]);
    expect(ids([head(1n), failed(2n, 1, NOW), head(3n)])).toEqual([1, 2, 3]);
    expect(ids([head(1n, { bytes: 600 }), head(2n, { bytes: 400 }), head(3n)])).toEqual([1, 2]);
    expect(ids([head(1n, { bytes: 5_000 }), head(2n)])).toEqual([1]);
    expect(ids([failed(1n, 1, NOW), head(2n)])).toEqual([1]);
  });
});

describe('retry tiers', () => {
  const tiers = { maxAttempts: 4, backoffMs: [1, 2, 3], capabilityBackoffMs: [10, 20, 30] };

  it('wait by the number of attempts charged, and not at all after the last', () => {
    expect([1, 2, 3, 4].map((attempt) => nextAttempt(tiers, 'INFRA', attempt, NOW))).toEqual([
      NOW + 1,
      NOW + 2,
      NOW + 3,
      null,
    ]);
    expect(nextAttempt(tiers, 'CODEC_ERROR', 2, NOW)).toBe(NOW + 20);
    expect(nextAttempt(tiers, 'UNSUPPORTED', 1, NOW)).toBe(NOW + 10);
  });

  it('are refused where a list has a tier too many or too few', () => {
    checkTiers(tiers);
    expect(() => {
      checkTiers({ ...tiers, backoffMs: [1, 2] });
    }).toThrow(/pipeline\.retry\.backoff has 2 tiers, max-attempts 4 needs 3/);
    expect(() => {
      checkTiers({ ...tiers, capabilityBackoffMs: [1, 2, 3, 4] });
    }).toThrow(/capability-backoff has 4/);
  });
});
