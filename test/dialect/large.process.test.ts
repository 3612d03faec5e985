/** Very many entries, on a main thread: its stack takes fewer arguments of a call than that of a test's worker. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { flop, message } from './kit.ts';

const SCRIPT = fileURLToPath(new URL('read-text.ts', import.meta.url));
const delays = (count: number) => '<DELY CODE="1"/>'.repeat(count);

describe('a quarter of a million entries', () => {
  it.each([
    ['one record', flop('DELY', delays(250_000))],
    [
      'two records of one flight',
      message('FLOP', 'DELY', `<FLOP><FLID>1</FLID>${delays(125_000)}</FLOP>`.repeat(2)),
    ],
  ])('in %s are read', (_what, input) => {
    const { stdout, stderr } = spawnSync(process.execPath, [SCRIPT], { input, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ outcome: 'decoded', flights: 1 });
  });
});
