import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alarmTable, anchorsOf, codeIn, headingsOf, tableUnder } from '../deploy/runbook.ts';

const root = new URL('../../', import.meta.url);
const read = (page: string) => readFileSync(new URL(page, root), 'utf8');
const pages = readdirSync(new URL('docs/zh-CN/', root))
  .filter((name) => name.endsWith('.md'))
  .map((name): readonly [string, string] => [`docs/${name}`, `docs/zh-CN/${name}`]);

/** What a page says between its headings. */
const sections = (markdown: string) => markdown.split(/^#{2,6} .+$/gm);

/** Blocks of code as they stand, without the indentation of a list. */
const blocks = (markdown: string) =>
  [...markdown.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)].map(([, language, code]) => [language, code]);

/** Names in the running text: commands, keys, metrics, alerts, states and reasons. */
const names = (section: string) => {
  const prose = section.replaceAll(/^ *```.*?^ *```$/gms, '');
  return [...new Set([...prose.matchAll(/`([^`]+)`/g)].map(([, code]) => code))].sort();
};

describe.each(pages)('%s in Chinese', (english, chinese) => {
  const [original, translation] = [read(english), read(chinese)];

  test('has the same headings, which the same anchors lead to', () => {
    const levels = (page: string) => headingsOf(page).map(({ level }) => level);
    expect(levels(translation)).toEqual(levels(original));
    const own = [...translation.matchAll(/^<a id="([^"]+)"><\/a>\n\n##/gm)].map(([, id]) => id);
    expect(own).toEqual(anchorsOf(original).slice(1));
  });

  test('has the same blocks of code', () => {
    expect(blocks(translation)).toEqual(blocks(original));
  });

  test('names the same commands, keys, metrics, alarms and reasons, section by section', () => {
    const own = sections(translation).map(names);
    for (const [index, section] of sections(original).entries())
      expect(own[index], headingsOf(original)[index]?.text).toEqual(names(section));
  });

  test('leads from each alarm to the same section', () => {
    expect(alarmTable(translation)).toEqual(alarmTable(original));
  });
});

describe('README.zh-CN.md', () => {
  const [original, translation] = [read('README.md'), read('README.zh-CN.md')];

  test('has the same headings and blocks of code', () => {
    const levels = (page: string) => headingsOf(page).map(({ level }) => level);
    expect(levels(translation)).toEqual(levels(original));
    expect(blocks(translation)).toEqual(blocks(original));
  });

  test('lists the same commands, each with the same options', () => {
    const commands = (page: string, heading: string) =>
      tableUnder(page, heading).map((row) => [...new Set(codeIn(row.join(' ')))].sort());
    expect(commands(translation, '命令')).toEqual(commands(original, 'Commands'));
  });
});
