/** The command line as a whole: its commands, and how every ending becomes an exit code. */
import { Command, CommanderError } from 'commander';
import { Outage, messageOf } from '../runtime/outage.ts';
import { hideCredentials } from '../runtime/secrets.ts';
import { complain } from './output.ts';
import { ExpectedFailure, type ExitCode } from './shell.ts';

/** One command, or one group of them; loaded only to be registered, so its file must be light. */
export interface CommandModule {
  readonly register: (program: Command) => void;
}

/** Runs one command line (without node and script) and says how it ended. Never throws. */
export async function runCommandLine(
  modules: readonly CommandModule[],
  version: string,
  argv: readonly string[],
): Promise<ExitCode> {
  const program = new Command('msgx')
    .description('The flight-message exchange of an airport: mailbox to state to events.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text) => complain(`msgx: ${text.replace(/^error: /, '').trim()}`) });
  for (const { register } of modules) register(program);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, argv.includes('--debug'));
  }
}

function report(error: unknown, debug: boolean): ExitCode {
  // Commander has printed its complaint, or the help that was asked for (0).
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  complain(...linesOf(error).map(hideCredentials));
  if (debug && error instanceof Error) process.stderr.write(`${hideCredentials(stackOf(error))}\n`);
  return error instanceof ExpectedFailure ? error.exitCode : 1;
}

function linesOf(error: unknown): readonly string[] {
  if (error instanceof ExpectedFailure) return error.lines;
  // A dependency that cannot be reached is no fault of the program.
  if (error instanceof Outage) return [error.message];
  return [`unexpected: ${messageOf(error)} (--debug shows where)`];
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
