import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NAMES } from '../../src/config/keys.ts';
import { configurationReference } from '../../src/config/reference.ts';

const page = configurationReference();

test('docs/configuration.md is current (scripts/generate-reference.ts)', () => {
  const committed = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  expect(committed).toBe(page);
});

test('names every key once in a table', () => {
  for (const name of NAMES) expect(page.split(`| \`${name}\` |`), name).toHaveLength(2);
});
