/**
 * Every test that docs/invariants.md names in quotation marks has run and passed:
 * `node scripts/check-invariants.ts REPORT`, where REPORT is what vitest's JSON reporter wrote. Called by `.ci/run`.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A test as the document names it: its file, from the root of the repository, and a part of its name. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** The tests named in docs/invariants.md. */
export function namedTests(): readonly NamedTest[] {
  const text = readFileSync(join(ROOT, 'docs', 'invariants.md'), 'utf8');
  return [...text.matchAll(/\]\(\.\.\/(test\/[^)]+)\)\s+"([^"]+)"/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  }));
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

/** Those of the tests that no passed test of the report bears out. */
export function notPassed(tests: readonly NamedTest[], report: Report): readonly NamedTest[] {
  const passed = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed')
      .map(({ title }) => ({ file: relative(ROOT, name), title })),
  );
  return tests.filter(({ file, title }) => {
    // A suite of the kit runs in the files that call it; in a table of cases %s stands for each of them.
    const parts = title.split('%s');
    return !passed.some(
      (one) =>
        (one.file === file || file.startsWith('test/kit/')) &&
        parts.every((part) => one.title.includes(part)),
    );
  });
}

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error('usage: node scripts/check-invariants.ts REPORT');
    process.exit(2);
  }
  const tests = namedTests();
  const missing = notPassed(tests, JSON.parse(readFileSync(file, 'utf8')) as Report);
  for (const { file: where, title } of missing)
    console.error(`docs/invariants.md names a test that did not pass: ${where} "${title}"`);
  console.log(
    `${String(tests.length - missing.length)} of ${String(tests.length)} tests named in docs/invariants.md have passed`,
  );
  if (missing.length > 0) process.exitCode = 1;
}
