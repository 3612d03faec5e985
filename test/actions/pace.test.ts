import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { pacer } from '../../src/actions/pace.ts';

/** How long a rest behind a piece of work lasts, ms. */
async function restOf(leastMs: number, workMs: number): Promise<number> {
  const rest = pacer(leastMs);
  await sleep(workMs);
  const from = performance.now();
  await rest();
  return performance.now() - from;
}

it('a piece of work is followed by a rest as long as it was, the shortest and the longest aside', async () => {
  // Timers may fire a fraction of a millisecond early.
  expect(await restOf(0, 60)).toBeGreaterThanOrEqual(58);
  expect(await restOf(40, 0)).toBeGreaterThanOrEqual(38);
  const longest = await restOf(0, 400);
  expect(longest).toBeGreaterThanOrEqual(198);
  expect(longest).toBeLessThan(390);
});

it('the next piece begins behind the rest', async () => {
  const rest = pacer(0);
  await sleep(80);
  await rest();
  const from = performance.now();
  await rest();
  expect(performance.now() - from).toBeLessThan(75);
});
