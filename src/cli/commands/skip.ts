/** `msgx skip`: ends one unfinished message that nobody wants processed. */
import type { Command } from 'commander';
import { id, operatorOf, reasonOf, type ChangeOptions } from '../operator.ts';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig } from '../shell.ts';

interface SkipOptions extends ChangeOptions {
  readonly id: bigint;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'skip',
    description: 'end one unfinished message as SKIPPED(operator:TEXT), so that the line goes on',
  })
    .requiredOption('--id <n>', 'the message, its CMINMSGS_ID', id)
    .option('--reason <text>', 'why: the reason of the message, and for the audit')
    .option('--dry-run', 'say what it stands at, and do nothing')
    .action(skipMessage);
}

async function skipMessage(options: SkipOptions): Promise<void> {
  const dryRun = options.dryRun === true;
  await reasonOf(options.reason, dryRun);
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { skip } = await import('../../actions/skip.ts');
  await withSchema(config, async ({ database }) => {
    const { outcome, message } = await skip(
      database,
      { msgId: options.id, dryRun },
      await operatorOf(database, options),
    );
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ id: options.id, dryRun, message });
    else print(message);
  });
}
