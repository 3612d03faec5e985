import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Access } from '../../src/http/access.ts';

describe('the tokens file', () => {
  it.each([
    ['an unknown role', 'admin 0123456789abcdef', /:1: expected ROLE NAME HASH or ROLE TOKEN/],
    ['a short token', '# a\nviewer short', /:2: expected ROLE TOKEN/],
    ['a third word', 'viewer 0123456789abcdef x', /:1: expected ROLE NAME HASH/],
  ])('names the line of %s and keeps the token to itself', async (_, text, message) => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-tokens-'));
    const file = join(folder, 'tokens');
    await writeFile(file, text);
    const refused = await Access.load(file).then(
      () => '',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    expect(refused).toMatch(message);
    expect(refused).not.toContain('0123456789abcdef');
    await rm(folder, { recursive: true });
  });
});
