/** `msgx run` as a child process, as an operator would start it: killed, stopped and started again by tests. */
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { cleanEnvironment } from '../cli/kit.ts';
import { mergeSettings, type Closing, type Settings, type TestPipeline } from './service-pipeline.ts';
import { until } from './until.ts';

const MSGX = fileURLToPath(new URL('../../bin/msgx.js', import.meta.url));

let started = 0;

/** A line of its log. */
export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface MsgxProcess {
  readonly pid: number;
  /** The log so far. */
  readonly log: readonly LogLine[];
  /** What it wrote to stderr so far. */
  readonly stderr: () => string;
  readonly ended: Promise<Ending>;
  /** Resolves with the first line of this message, which may have been logged already. */
  logged(message: string, timeoutMs?: number): Promise<LogLine>;
  /** Resolves with its URL when it serves HTTP. */
  serving(): Promise<string>;
  /** Resolves when it is the active instance. */
  active(): Promise<void>;
  /** Sends a signal; for those that end a process, await `ended`. */
  signal(signal: NodeJS.Signals): void;
}

/** What differs from one process to the next on the same pipeline. */
export interface ProcessOptions {
  /** Put over the pipeline's own settings, e.g. URLs that lead through a proxy. */
  readonly settings?: Settings;
  /** Put over the environment, from which `MSGX_…` is left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[];
}

/** Starts `msgx run` on a pipeline's configuration; killed when the test ends. */
export async function startMsgx(
  closing: Closing,
  pipeline: TestPipeline,
  { settings = {}, env = {}, nodeArguments = [] }: ProcessOptions = {},
): Promise<MsgxProcess> {
  started += 1;
  const file = join(pipeline.directory, `msgx-${String(started)}.yaml`);
  await writeFile(file, stringify({ msgx: mergeSettings(pipeline.settings, settings) }));
  const child = spawn(process.execPath, [...nodeArguments, MSGX, 'run', '-c', file], {
    cwd: pipeline.directory,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = follow(child);
  closing.onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
    }
    await running.ended;
  });
  return running;
}

function follow(child: ChildProcess): MsgxProcess {
  const log: LogLine[] = [];
  let stderr = '';
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) log.push(JSON.parse(line) as LogLine);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  let ending: Ending | null = null;
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      ending = { code, signal };
      resolve(ending);
    });
  });
  const logged = (message: string, timeoutMs = 30_000) =>
    until(
      `the log line "${message}"`,
      () => {
        const found = log.find(({ msg }) => msg === message);
        if (found !== undefined) return found;
        if (ending !== null) {
          throw new Error(`msgx ended (${JSON.stringify(ending)}) before it logged "${message}": ${stderr}`);
        }
        return null;
      },
      { timeoutMs, standing: () => log.slice(-5) },
    );
  return {
    pid: child.pid ?? 0,
    log,
    stderr: () => stderr,
    ended,
    logged,
    serving: async () => String((await logged('msgx is running'))['url']),
    active: async () => {
      await logged('active: lease acquired');
    },
    signal: (signal) => void child.kill(signal),
  };
}
