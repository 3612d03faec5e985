import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { namedTests, notPassed } from '../../scripts/check-invariants.ts';
import { mutants } from '../../scripts/mutants.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFORMANCE = ['test/kit/mailbox-conformance.ts', 'test/kit/sink-conformance.ts'];
const source = (file: string): string => readFileSync(ROOT + file, 'utf8');
const all = await mutants();

describe('mutants', () => {
  it('are at least 30', () => {
    expect(all.length).toBeGreaterThanOrEqual(30);
  });

  it.each(all)('$name applies, and the test that must catch it exists', ({ file, test, title }) => {
    // Throws what git says.
    execFileSync('git', ['apply', '--check', file], { cwd: ROOT, stdio: 'pipe' });
    const sources = [test, ...CONFORMANCE].map(source);
    expect(title === null || sources.some((text) => text.includes(title))).toBe(true);
  });
});

describe('docs/invariants.md', () => {
  const tests = namedTests();

  it('names tests that exist', () => {
    expect(tests.length).toBeGreaterThan(40);
    expect(tests.filter(({ file, title }) => !source(file).includes(title))).toEqual([]);
  });

  it('names every mutant, and no other', () => {
    const text = source('docs/invariants.md');
    const table = text.slice(text.indexOf('## Broken on purpose'), text.indexOf('## Kill points'));
    const named = [...table.matchAll(/`([a-z0-9]+(?:-[a-z0-9]+)+)`/g)].map(([, name]) => name ?? '');
    expect([...new Set(named)].sort()).toEqual(all.map(({ name }) => name).sort());
  });

  it('is held against what has run: a test that failed or did not run is told', () => {
    const ran = (status: string, title: string) => ({
      testResults: [{ name: `${ROOT}test/a.test.ts`, assertionResults: [{ status, title }] }],
    });
    const named = [{ file: 'test/a.test.ts', title: 'faults of %s pass' }];
    expect(notPassed(named, ran('passed', 'faults of disks pass'))).toEqual([]);
    expect(notPassed(named, ran('failed', 'faults of disks pass'))).toEqual(named);
    expect(notPassed(named, ran('passed', 'faults of disks fail'))).toEqual(named);
  });
});
