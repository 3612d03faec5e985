/**
 * Everything at once: processes and servers killed, networks and clocks disturbed, for a while; afterwards the checker
 * finds nothing. `npm run torture -- --minutes N --seed S` is longer, other runs of the same, and shows its progress.
 */
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { productionMissing } from '../kit/production-parts.ts';
import { torture } from './run.ts';

const MINUTES = Number(process.env['MSGX_TORTURE_MINUTES'] ?? '2');
const SEED = process.env['MSGX_TORTURE_SEED'] ?? '1';
const RATE = Number(process.env['MSGX_TORTURE_RATE'] ?? '40');
/** Among the other tests it writes to its log alone. */
const SHOWN = process.env['MSGX_TORTURE_SHOWN'] === '1';
const KEPT = process.env['MSGX_TORTURE_KEEP'] === '1';
/** Setting up, what the faults' own durations add, draining and checking, on a slow machine. */
const BESIDES_MS = 900_000;

describe.skipIf(productionMissing !== null)('torture', () => {
  it(`${String(MINUTES)} min with seed ${SEED}`, { timeout: MINUTES * 60_000 + BESIDES_MS }, async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-torture-'));
    test.onTestFinished(async ({ task }) => {
      if (task.result?.state === 'pass' && !KEPT) await rm(folder, { recursive: true, force: true });
      else process.stderr.write(`the logs of the run and the data of its servers are in ${folder}\n`);
    });
    const say = (line: string) => {
      appendFileSync(join(folder, 'run.log'), `${line}\n`);
      if (SHOWN) process.stdout.write(`${line}\n`);
    };
    const report = await torture(test, { minutes: MINUTES, seed: SEED, rate: RATE, folder, say });
    // The rest is in the log.
    expect(report.findings.slice(0, 10)).toEqual([]);
    expect(report.processed).toBe(report.written);
  });
});
