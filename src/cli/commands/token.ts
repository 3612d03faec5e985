/** `msgx token`: makes an access token for `http.tokens-file`. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { print, printJson } from '../output.ts';
import { addCommand, type CommonOptions } from '../shell.ts';

/** As in http/tokens.ts, which is not loaded to register the command. */
const ROLES = ['sender', 'viewer', 'operator'] as const;

interface TokenOptions extends CommonOptions {
  readonly role: (typeof ROLES)[number];
  readonly name: string;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'token',
    description: 'make an access token: shown once, with the line for http.tokens-file',
  })
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory())
    .requiredOption('--name <name>', 'whose it is, for the audit', nameOf)
    .action(make);
}

async function make({ role, name, json }: TokenOptions): Promise<void> {
  const { makeToken } = await import('../../http/tokens.ts');
  const { token, line } = makeToken(role, name);
  if (json === true) printJson({ token, line });
  else print('token, shown this once:', token, '', 'line for the file of http.tokens-file:', line);
}

function nameOf(text: string): string {
  if (!/^[\p{L}\p{N}._-]{1,40}$/u.test(text))
    throw new InvalidArgumentError('1 to 40 letters, digits, dots, dashes or underscores');
  return text;
}
