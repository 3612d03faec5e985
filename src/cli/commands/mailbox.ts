/** `msgx mailbox init`: an empty mailbox for trying out, with the marker that says so. */
import type { Command } from 'commander';
import { MailboxExists } from '../../mailbox/port.ts';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  const mailbox = program.command('mailbox').description('the shared mailbox');
  addCommand(mailbox, {
    usage: 'init',
    description: 'create empty inbound and outbound tables for trying out, and a marker that says so',
  }).action(initialise);
}

async function initialise(options: CommonOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withMailbox } = await import('../mailbox-access.ts');
  await withMailbox(config, async ({ mailbox }) => {
    try {
      await mailbox.init();
    } catch (error) {
      if (error instanceof MailboxExists) throw new ExpectedFailure(error.message, 1, { cause: error });
      throw error;
    }
    if (options.json === true) printJson({ mailbox: mailbox.name, kind: mailbox.kind, created: true });
    else print(`created an empty mailbox in ${mailbox.name}`);
  });
}
