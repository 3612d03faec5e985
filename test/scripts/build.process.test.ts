import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { build, withoutFailpoints } from '../../scripts/build.ts';
import { FAILPOINTS } from '../../src/runtime/failpoints/names.ts';

const NAMES = Object.keys(FAILPOINTS);

async function filesIn(directory: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(directory.length), await readFile(path, 'utf8'));
  }
  return files;
}

describe('a build', () => {
  it('has all of the sources and nothing of a failpoint', { timeout: 180_000 }, async (test) => {
    const outDir = await mkdtemp(join(tmpdir(), 'msgx-build-'));
    test.onTestFinished(() => rm(outDir, { recursive: true, force: true }));
    // Types need not be known for it, and looking them up is most of the time.
    build({ outDir, declaration: false, noResolve: true, noLib: true, types: [] });
    const built = await filesIn(outDir);
    const sources = await filesIn(fileURLToPath(new URL('../../src', import.meta.url)));

    // What is looked for in the build is there in the sources: each point, and beside the list itself.
    const calls = [...sources].flatMap(([path, text]) =>
      path.startsWith('/runtime/failpoints/')
        ? []
        : [...text.matchAll(/^ *failpoint\('(.*)'\);$/gm)].map(([, name]) => name),
    );
    expect([...new Set(calls)].sort()).toEqual([...NAMES].sort());

    const traces = [...built].filter(
      ([path, text]) => /failpoint/i.test(path + text) || NAMES.some((name) => text.includes(`'${name}'`)),
    );
    expect(traces.map(([path]) => path)).toEqual([]);
    const wanted = [...sources.keys()]
      .filter((path) => /\.ts$/.test(path) && !/^\/(console|runtime\/failpoints)\//.test(path))
      .map((path) => path.replace(/\.ts$/, '.js'));
    expect([...built.keys()].filter((path) => path.endsWith('.js')).sort()).toEqual(wanted.sort());
  });

  it.for([
    ['behind a condition', 'if (busy) failpoint("pump.bound");'],
    ['as a value', 'const bound = () => failpoint("pump.bound");'],
    ['under another name', 'const point = failpoint;'],
  ])('refuses a failpoint %s', ([, text]) => {
    const compile = () =>
      ts.transpileModule(`import { failpoint } from '#failpoint';\n${text}`, {
        fileName: 'station.ts',
        transformers: { before: [withoutFailpoints] },
      });
    expect(compile).toThrow('station.ts:2: a failpoint must be a statement of its own in a block');
  });

  it('keeps what stands around a failpoint', () => {
    const text = `import { failpoint } from '#failpoint';\nimport { done } from './done.ts';\nfunction end() {\n    before();\n    failpoint('pump.bound');\n    done();\n}\n`;
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
      transformers: { before: [withoutFailpoints] },
    });
    expect(outputText).toBe(
      `import { done } from './done.ts';\nfunction end() {\n    before();\n    done();\n}\n`,
    );
  });
});
