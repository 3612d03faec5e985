/**
 * `npm run mutants [-- [--jobs N] NAME…]`: each patch of test/mutants breaks the sources in one way and names the test
 * that must turn red over it. The patch is applied to a copy of the tree, the test is run, and it must fail in an
 * assertion: a mutant that does not compile proves nothing. Exit 1 on a survivor and on a patch that no longer applies.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'test', 'mutants');
/** How vitest says that an assertion failed: at once, of `rejects` and `resolves`, after `expect.poll`. */
const ASSERTION =
  /^AssertionError|^Error: promise (?:resolved|rejected) .* instead of |^Error: expected .* to /;
const TEST_TIMEOUT_MS = 300_000;

/** A way to break the sources. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Which promise it breaks: a row of the specification, an invariant, a lesson. */
  readonly shows: string;
  readonly project: 'unit' | 'service';
  readonly test: string;
  /** Part of the test's name; null for any test of the file. */
  readonly title: string | null;
}

/** All patches, by name. Throws where a header lacks something. */
export async function mutants(): Promise<readonly Mutant[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.patch')).sort();
  return Promise.all(
    names.map(async (name) => {
      const file = join(FOLDER, name);
      const text = await readFile(file, 'utf8');
      const header = (key: string): string | null =>
        new RegExp(`^${key}: (.+)$`, 'm').exec(text.slice(0, text.indexOf('\n--- ')))?.[1] ?? null;
      const [project, test] = (header('Test') ?? '').split(' ');
      const shows = header('Shows');
      if ((project !== 'unit' && project !== 'service') || test === undefined || shows === null) {
        throw new Error(`${name}: the header needs "Breaks:", "Shows:" and "Test: unit|service FILE"`);
      }
      return { name: name.replace('.patch', ''), file, shows, project, test, title: header('Name') };
    }),
  );
}

/** What became of a mutant. */
type Verdict =
  | { readonly verdict: 'caught' }
  | { readonly verdict: 'survived' | 'no assertion' | 'does not apply'; readonly why: string };

interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A copy of the tree, without the console: nobody looks at it here, and it would be built for each run. */
async function copyTree(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'msgx-mutants-'));
  const { output } = await run('git', ['ls-files', '-z', '-co', '--exclude-standard'], ROOT);
  for (const path of output.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await cp(join(ROOT, path), join(copy, path)).catch(() => undefined);
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const config = await readFile(join(copy, 'vitest.config.ts'), 'utf8');
  await writeFile(join(copy, 'vitest.config.ts'), config.replace(", 'test/kit/console-setup.ts'", ''));
  return copy;
}

async function judge(mutant: Mutant, copy: string): Promise<Verdict> {
  const applied = await run('git', ['apply', '--whitespace=nowarn', mutant.file], copy);
  if (applied.code !== 0) return { verdict: 'does not apply', why: applied.output };
  try {
    const report = join(copy, 'report.json');
    await rm(report, { force: true });
    const vitest = join(copy, 'node_modules', 'vitest', 'vitest.mjs');
    const title = mutant.title === null ? [] : ['-t', mutant.title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')];
    const args = [vitest, 'run', '--project', mutant.project, mutant.test, ...title];
    const ran = await run(process.execPath, [...args, '--reporter=json', `--outputFile=${report}`], copy);
    const text = await readFile(report, 'utf8').catch(() => null);
    if (text === null) return { verdict: 'no assertion', why: ran.output.slice(-500) };
    const { testResults } = JSON.parse(text) as Report;
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = results.filter(({ status }) => status === 'failed');
    if (failed.some(({ failureMessages }) => failureMessages.some((line) => ASSERTION.test(line)))) {
      return { verdict: 'caught' };
    }
    const said = [
      ...failed.flatMap(({ failureMessages }) => failureMessages),
      ...testResults.map(({ message }) => message),
    ];
    const why = said.join('\n').slice(0, 400);
    const passed = results.filter(({ status }) => status === 'passed').length;
    return failed.length === 0 && passed > 0
      ? { verdict: 'survived', why: `${String(passed)} tests passed` }
      : { verdict: 'no assertion', why: why === '' ? 'no test ran' : why };
  } finally {
    await run('git', ['apply', '-R', '--whitespace=nowarn', mutant.file], copy);
  }
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    // A copy under another repository must not be taken for a part of it.
    const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(cwd), NO_COLOR: '1' };
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TEST_TIMEOUT_MS,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => (output += chunk));
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { jobs: { type: 'string', default: '1' } },
  });
  const all = await mutants();
  const unknown = positionals.filter((name) => !all.some((mutant) => mutant.name === name));
  if (unknown.length > 0) throw new Error(`no such mutant: ${unknown.join(', ')}`);
  const wanted = all.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const began = performance.now();
  const escaped: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const copy = await copyTree();
    try {
      for (let mutant = wanted[next++]; mutant !== undefined; mutant = wanted[next++]) {
        const outcome = await judge(mutant, copy);
        console.log(`${outcome.verdict.padEnd(14)} ${mutant.name.padEnd(28)} ${mutant.title ?? mutant.test}`);
        if (outcome.verdict === 'caught') continue;
        escaped.push(mutant.name);
        console.log(outcome.why.replace(/^/gm, '    '));
      }
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs)) }, work));
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  console.log(
    `${String(wanted.length - escaped.length)} of ${String(wanted.length)} mutants caught in ${seconds} s`,
  );
  if (escaped.length > 0) {
    console.log(`not caught: ${escaped.join(', ')}`);
    process.exitCode = 1;
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
