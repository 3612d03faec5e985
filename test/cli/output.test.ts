import { expect, test } from 'vitest';
import { table } from '../../src/cli/output.ts';

test('columns are aligned, numbers to the right, wide characters counted twice, nothing shown as –', () => {
  const lines = table(
    ['ID', 'REMARK', 'DAY'],
    [
      [7n, '延误', '2026-03-14'],
      [1234n, 'two\nlines', null],
    ],
  );
  expect(lines).toEqual([
    //
    '  ID  REMARK     DAY',
    '   7  延误       2026-03-14',
    '1234  two lines  –',
  ]);
});

test('a table without rows is its head', () => {
  expect(table(['A', 'B'], [])).toEqual(['A  B']);
});
