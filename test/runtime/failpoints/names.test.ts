import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failpoint } from '#failpoint';
import { FAILPOINTS } from '../../../src/runtime/failpoints/names.ts';

describe('the kill points', () => {
  it('stand in docs/invariants.md as in the list, in its order', () => {
    const text = readFileSync(new URL('../../../docs/invariants.md', import.meta.url), 'utf8');
    const section = text.split(/^## /m).find((part) => part.startsWith('Kill points'));
    const rows = [...(section ?? '').matchAll(/^\| `(.*?)` *\| (.*?) *\| (.*?) *\|$/gm)];
    expect(rows.map(([, name, when, seed]) => ({ name, when, seed }))).toEqual(
      Object.entries(FAILPOINTS).map(([name, { when, seed }]) => ({ name, when, seed })),
    );
  });

  it('do nothing where Node was not told otherwise', () => {
    process.env['MSGX_TEST_FAILPOINT'] = 'pump.bound:1';
    failpoint('pump.bound');
    delete process.env['MSGX_TEST_FAILPOINT'];
  });
});
