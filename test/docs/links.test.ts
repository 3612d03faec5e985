import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { anchorsOf } from '../deploy/runbook.ts';

const root = new URL('../../', import.meta.url);
const pages = ['', 'docs/', 'docs/zh-CN/']
  .filter((folder) => existsSync(new URL(folder, root)))
  .flatMap((folder) =>
    readdirSync(new URL(folder || './', root))
      .filter((name) => name.endsWith('.md'))
      .map((name) => folder + name),
  );

/** Targets of links and pictures outside of code. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^ *```.*?^ *```/gms, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
}

describe('documentation', () => {
  test.each(pages)('%s: every link leads somewhere', (page) => {
    const here = new URL(page, root);
    const broken = linksOf(readFileSync(here, 'utf8')).filter((link) => {
      if (/^https?:/.test(link)) return false;
      const target = new URL(link, here);
      const file = fileURLToPath(new URL(target.pathname, 'file:'));
      if (!existsSync(file)) return true;
      const anchor = decodeURIComponent(target.hash.slice(1));
      return anchor !== '' && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});
