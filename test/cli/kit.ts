/** Runs the command line as a user does: a child process of bin/msgx.js. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MSGX = fileURLToPath(new URL('../../bin/msgx.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly input?: string | Uint8Array;
  /** Close our end of its stdout at once, as `| head` does sooner or later. */
  readonly closeStdout?: boolean;
}

/** The environment without the configuration of whoever runs the tests. */
export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('MSGX_'));
  return { ...Object.fromEntries(own), ...env };
}

/** Runs `msgx …args` to its end. */
export function msgx(args: readonly string[], options: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MSGX, ...args], {
      cwd: options.cwd,
      env: cleanEnvironment(options.env),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    if (options.closeStdout === true) child.stdout.destroy();
    child.stdin.on('error', () => undefined).end(options.input ?? '');
    child.on('error', reject).on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
