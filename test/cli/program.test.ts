import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { ExpectedFailure, addCommand, failed, withConfig, type CommonOptions } from '../../src/cli/shell.ts';
import { Outage } from '../../src/runtime/outage.ts';

let printed: string;

beforeEach(() => {
  printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const tried = {
  register: (program: Command) => void addCommand(program, { usage: 'try', description: 'a trial' }),
};

/** Runs `msgx try …` whose action is given. */
function run(action: (options: CommonOptions) => unknown, ...args: string[]) {
  const register = (program: Command) => {
    addCommand(program, { usage: 'try', description: 'a trial' }).action(async (options: CommonOptions) => {
      await action(options);
    });
  };
  return runCommandLine([{ register }], '1.0.0', ['try', ...args]);
}

function fail(error: unknown) {
  return () => {
    throw error;
  };
}

describe('how a command ends', () => {
  test('well: 0, nothing said', async () => {
    expect(await run(() => undefined)).toBe(0);
    expect(printed).toBe('');
  });

  test('by an expected failure: its lines and its code', async () => {
    expect(await run(fail(new ExpectedFailure('the mailbox\nhas no marker')))).toBe(1);
    expect(await run(fail(new ExpectedFailure(['a', 'b'], 2)))).toBe(2);
    expect(await run(fail(failed()))).toBe(1);
    expect(printed).toBe('the mailbox has no marker\na\nb\n');
  });

  test('by an outage: one line', async () => {
    expect(await run(fail(new Outage('mailbox', new Error('connect refused'))))).toBe(1);
    expect(printed).toBe('mailbox is not available: connect refused\n');
  });

  test('by a surprise: one line without secrets, the stack only with --debug', async () => {
    const surprise = new Error('lost postgres://u:Geheim@h', { cause: new Error('deep') });
    expect(await run(fail(surprise))).toBe(1);
    expect(printed).toBe('unexpected: lost postgres://***@h (--debug shows where)\n');
    printed = '';
    expect(await run(fail(surprise), '--debug')).toBe(1);
    expect(printed).toMatch(/\n {4}at .*\ncaused by Error: deep\n {4}at /s);
    expect(printed).not.toContain('Geheim');
  });

  test('by wrong usage: one line, 2', async () => {
    expect(await run(() => undefined, '--jsn')).toBe(2);
    expect(printed).toBe("msgx: unknown option '--jsn' (Did you mean --json?)\n");
  });
});

test('--help and --version are no failures; no command is wrong usage', async () => {
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  expect(await runCommandLine([], '1.2.3', ['--version'])).toBe(0);
  expect(stdout).toHaveBeenCalledWith('1.2.3\n');
  expect(await run(() => undefined, '--help')).toBe(0);
  expect(await runCommandLine([tried], '1.2.3', [])).toBe(2);
  expect(await runCommandLine([tried], '1.2.3', ['tri'])).toBe(2);
  expect(printed).toContain("msgx: unknown command 'tri' (Did you mean try?)\n");
});

test('a file named by -c must be there', async () => {
  expect(await run((options) => withConfig(options), '-c', '/nowhere/msgx.yaml')).toBe(2);
  expect(printed).toBe('/nowhere/msgx.yaml: cannot be read: ENOENT\n');
});
