/**
 * Everything at once: processes and servers killed, networks and clocks disturbed, for two minutes; afterwards the checker
 * finds nothing. `npm run torture -- --minutes N --seed S` is longer and other runs of the same.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { productionMissing } from '../kit/production-parts.ts';
import { sized } from '../scenarios/simulated.ts';
import { torture } from './run.ts';

const MINUTES = sized('MSGX_TORTURE_MINUTES', 2);
const SEED = process.env['MSGX_TORTURE_SEED'] ?? '1';
const RATE = sized('MSGX_TORTURE_RATE', 40);
/** Setting up, draining and checking. */
const BESIDES_MS = 400_000;

describe.skipIf(productionMissing !== null)('torture', () => {
  it(`${String(MINUTES)} min with seed ${SEED}`, { timeout: MINUTES * 60_000 + BESIDES_MS }, async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-torture-'));
    test.onTestFinished(async ({ task }) => {
      if (task.result?.state === 'pass') await rm(folder, { recursive: true, force: true });
      else process.stdout.write(`logs, databases and findings are in ${folder}\n`);
    });
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    const { findings, written, processed } = await torture(test, {
      minutes: MINUTES,
      seed: SEED,
      rate: RATE,
      folder,
      say,
    });
    expect(findings).toEqual([]);
    expect(processed).toBe(written);
  });
});
