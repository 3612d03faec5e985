import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../scripts/readme-blocks.ts';

const root = new URL('../../', import.meta.url);
const read = (page: string) => readFileSync(new URL(page, root), 'utf8');

describe('the blocks of the README', () => {
  it('are all understood by npm run readme', () => {
    const kinds = blocksOf(read('README.md')).map(({ plan }) => plan.kind);
    expect(kinds).toEqual([
      'until',
      'skip',
      'owner',
      'skip',
      'file',
      'fails',
      'run',
      'until',
      'file',
      'run',
      'until',
    ]);
  });

  it('a block that runs on, or is no shell, has to say what is to be done with it', () => {
    expect(() => blocksOf('```sql\nselect 1;\n```')).toThrow('what is to be done with this block?');
    expect(() => blocksOf('<!-- readme: wait -->\n```sh\nnpx msgx run\n```')).toThrow('wait');
  });

  it('are the same in Chinese', () => {
    const code = (page: string) => blocksOf(read(page)).map(({ plan, code }) => ({ plan, code }));
    expect(code('README.zh-CN.md')).toEqual(code('README.md'));
  });
});
