import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { VERSION } from '../../src/service/version.ts';
import { cleanEnvironment } from '../cli/kit.ts';
import { CONTAINERFILE, faultsOf, readStages, type Stage } from './containerfile.ts';

const MANIFEST = z.object({
  scripts: z.object({ build: z.string() }),
  devDependencies: z.object({ node: z.string() }),
});
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [build, final] = readStages();
if (build === undefined || final === undefined) throw new Error('two stages are expected');

const manifest = async () => MANIFEST.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
const step = (stage: Stage, keyword: string) => stage.steps.findLast((step) => step.keyword === keyword);

function run(words: readonly string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const [program = '', ...args] = words;
    const child = spawn(program === 'node' ? process.execPath : program, args, {
      cwd,
      env: cleanEnvironment(),
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject).on('close', (code) => resolve({ code, output }));
  });
}

/** Where a path inside a stage is in its folder here. */
const inside = (folder: string, workdir: string, path: string) =>
  join(folder, path.startsWith('/') ? path : join(workdir, path));

/** Does a stage's copies into a folder, in their places; the installed packages are lent by the checkout. */
async function assemble(stage: Stage, folder: string, from: (step: Stage['steps'][number]) => string) {
  let workdir = '/';
  for (const step of stage.steps) {
    if (step.keyword === 'WORKDIR') workdir = step.words[0] ?? '';
    if (step.keyword !== 'COPY') continue;
    const target = step.words.at(-1) ?? '';
    for (const source of step.words.slice(0, -1)) {
      const name = target === './' ? (source.split('/').at(-1) ?? '') : target;
      const place = inside(folder, workdir, name);
      await mkdir(join(place, '..'), { recursive: true });
      const origin = join(from(step), source);
      if (name === 'node_modules') await symlink(join(ROOT, 'node_modules'), place);
      else await cp(origin, place, { recursive: true, errorOnExist: true, force: false });
    }
  }
}

describe('the Containerfile', () => {
  it('is what a builder takes', async () => {
    expect(faultsOf(await readFile(CONTAINERFILE, 'utf8'))).toEqual([]);
    expect(
      faultsOf('FROM node:24\nWORKDIR app\nHEALTHCHECK --intervall=1s CMD true\nEXPOSE x\n'),
    ).toHaveLength(3);
  });

  it('runs this version on the Node that we test with, without root and without a shell', async () => {
    const [major] = (await manifest()).devDependencies.node.replace('^', '').split('.');
    for (const { image } of [build, final])
      expect(image).toBe(`docker.io/library/node:${String(major)}-bookworm-slim`);
    expect(step(final, 'USER')?.words).toEqual(['1000:1000']);
    for (const { keyword, exec } of final.steps)
      if (['RUN', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'].includes(keyword)) expect(exec, keyword).not.toBeNull();
    expect(step(final, 'ENTRYPOINT')?.exec).toEqual(['node', '/app/bin/msgx.js']);
    expect(step(final, 'CMD')?.exec).toEqual(['run', '-c', '/etc/msgx/msgx.yaml']);
    expect(await readFile(CONTAINERFILE, 'utf8')).toContain(`-t msgexchange:${VERSION} .`);
  });

  it('copies all that the build and the program need', { timeout: 120_000 }, async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'msgx-container-'));
    test.onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const stages = { build: join(folder, 'build'), final: join(folder, 'final') };
    await assemble(build, stages.build, () => ROOT);
    await symlink(join(ROOT, 'node_modules'), join(stages.build, 'src/node_modules'));
    expect(
      build.steps.filter(({ keyword }) => keyword === 'RUN').map(({ words }) => words.join(' ')),
    ).toEqual(['npm ci --no-audit --no-fund', 'npm run build && npm prune --omit=dev --no-audit --no-fund']);
    const [, ...rest] = (await manifest()).scripts.build.split(' && ');
    // Without looking at types, which is most of the time and changes nothing in what comes out.
    const fast = '{ declaration: false, noResolve: true, noLib: true, types: [] }';
    const compile = `import('./scripts/build.ts').then(({ build }) => build(${fast}))`;
    for (const words of [['node', '-e', compile], ...rest.map((command) => command.split(' '))])
      expect(await run(words, join(stages.build, 'src'))).toMatchObject({ code: 0 });
    await assemble(final, stages.final, ({ flags }) => (flags.get('from') === 'build' ? stages.build : ROOT));

    const [program = '', script = ''] = step(final, 'ENTRYPOINT')?.exec ?? [];
    const msgx = [program, join(stages.final, script)];
    expect(await run([...msgx, '--version'], folder)).toEqual({ code: 0, output: `${VERSION}\n` });
    // The command as it stands: it begins to work and finds no configuration.
    expect(await run([...msgx, ...(step(final, 'CMD')?.exec ?? [])], folder)).toEqual({
      code: 2,
      output: '/etc/msgx/msgx.yaml: cannot be read: ENOENT\n',
    });
    const page = await readFile(join(stages.final, 'app/dist/console/index.html'), 'utf8');
    expect(page).toContain('<script');
  });

  it.for([
    [200, 0],
    [503, 1],
  ] as const)('is healthy or not by /healthz: %i', async ([status, code], test) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    test.onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const words = (step(final, 'HEALTHCHECK')?.exec ?? []).map((word) =>
      word.replace('127.0.0.1:8080', `127.0.0.1:${String(port)}`),
    );
    expect(await run(words, tmpdir())).toEqual({ code, output: '' });
    expect(asked).toEqual(['/healthz']);
  });
});
