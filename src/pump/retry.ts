/** Attempts and their waits (seed §9.1; contract `pipeline.retry.*`). Pure. */

/** The two lists of waits, ms, each with maxAttempts − 1 tiers; the second serves CODEC_ERROR and UNSUPPORTED. */
export interface RetryTiers {
  readonly maxAttempts: number;
  readonly backoffMs: readonly number[];
  readonly capabilityBackoffMs: readonly number[];
}

/** Throws RangeError where a list has a tier that would never be used, or lacks one (seed §9.1). */
export function checkTiers({ maxAttempts, backoffMs, capabilityBackoffMs }: RetryTiers): void {
  for (const [name, tiers] of [
    ['backoff', backoffMs],
    ['capability-backoff', capabilityBackoffMs],
  ] as const) {
    if (tiers.length !== maxAttempts - 1) {
      throw new RangeError(
        `pipeline.retry.${name} has ${tiers.length} tiers, max-attempts ${maxAttempts} needs ${maxAttempts - 1}`,
      );
    }
  }
}

/** When to try again after an attempt failed, ms; null where it was the last one. */
export function nextAttempt(
  tiers: RetryTiers,
  errorClass: 'CODEC_ERROR' | 'UNSUPPORTED' | 'INFRA',
  attempt: number,
  now: number,
): number | null {
  if (attempt >= tiers.maxAttempts) return null;
  const list = errorClass === 'INFRA' ? tiers.backoffMs : tiers.capabilityBackoffMs;
  return now + (list[attempt - 1] ?? list.at(-1) ?? 0);
}
