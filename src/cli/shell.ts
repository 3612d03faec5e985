/**
 * What every command shares: its common options, configuration, failures and signals. A command is a file in
 * commands/ that exports `register(program)`, is light to import, and imports what it works with inside its action.
 */
import type { Command } from 'commander';
import { DEFAULT_FILE, loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { complain } from './output.ts';

/** 0 ok, 1 failed, 2 usage or configuration (contract, "Command line"). */
export type ExitCode = 0 | 1 | 2;

/** A failure that was to be reckoned with: reported by its message alone, one line (or several) on stderr. */
export class ExpectedFailure extends Error {
  override readonly name = 'ExpectedFailure';
  readonly exitCode: ExitCode;
  /** What to print; none where the command has printed it all itself. */
  readonly lines: readonly string[];

  constructor(message: string | readonly string[], exitCode: 1 | 2 = 1, options?: ErrorOptions) {
    const lines = typeof message === 'string' ? [message] : message;
    super(lines.join('; '), options);
    this.exitCode = exitCode;
    this.lines = lines;
  }
}

/** The command has printed its findings and ends with 1. */
export function failed(): ExpectedFailure {
  return new ExpectedFailure([], 1);
}

/** Options of every command. */
export interface CommonOptions {
  /** Path given by -c; undefined = msgx.yaml, which may be missing. */
  readonly config?: string;
  readonly debug?: true;
  /** Only of commands that print data. */
  readonly json?: true;
}

export interface CommandSpec {
  /** Name and arguments in commander's notation, e.g. `decode <file...>`. */
  readonly usage: string;
  readonly description: string;
  /** Prints data, so it has --json. Default true. */
  readonly json?: boolean;
}

/** Adds a command with the common options to the program or to a parent command such as `dlq`. */
export function addCommand(parent: Command, spec: CommandSpec): Command {
  const command = parent
    .command(spec.usage)
    .description(spec.description)
    .option('-c, --config <file>', `configuration file (default: ${DEFAULT_FILE})`)
    .option('--debug', 'show stack traces');
  return spec.json === false ? command : command.option('--json', 'print JSON');
}

/**
 * Loads the configuration a command works with. Faults end the command with exit code 2, one line each.
 * Warnings are the business of `check` and `run`.
 */
export function withConfig(options: CommonOptions): {
  readonly config: Config;
  readonly warnings: readonly string[];
} {
  const result = loadConfig(options.config === undefined ? {} : { file: options.config });
  if (result.ok) return result;
  throw new ExpectedFailure(result.faults, 2);
}

/** A second signal this long after the first ends the program at once, ms; sooner it is the same key press, sent twice. */
const IMPATIENCE_MS = 1_000;

/**
 * Waits for the first signal to stop. Later ones do not interrupt the orderly end that follows, except that
 * one pressed again a second later does.
 */
export function untilSignal(): Promise<'SIGINT' | 'SIGTERM'> {
  return new Promise((resolve) => {
    let first: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        const now = performance.now();
        if (first === null) {
          first = now;
          resolve(signal);
        } else if (now - first > IMPATIENCE_MS) {
          complain('msgx: stopped without waiting');
          process.exit(1);
        }
      });
    }
  });
}
