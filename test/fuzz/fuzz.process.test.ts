import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it(
  'a minute of hostile inputs ends in named outcomes, in time and in little memory',
  { timeout: 120_000 },
  () => {
    const script = new URL('../../scripts/fuzz.ts', import.meta.url).pathname;
    const run = spawnSync(process.execPath, [script, '--minutes', '1', '--seed', '1'], { encoding: 'utf8' });
    expect([run.stderr, run.status]).toEqual(['', 0]);
    // A generator that makes nothing but rubbish would pass as well.
    for (const outcome of [
      'decoded schedule',
      'decoded operation',
      'decoded reference',
      'codec-error codec',
      'malformed too-deep',
    ]) {
      expect(run.stdout).toContain(outcome);
    }
  },
);
