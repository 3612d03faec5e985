/** `msgx backfill list`, `reopen`, `confirm` and `export`: marks that were given up. */
import type { Command } from 'commander';
import { ids, limit, operatorOf, reasonOf, type ChangeOptions } from '../operator.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface SettleOptions extends ChangeOptions {
  readonly all?: true;
}

interface ListOptions extends CommonOptions {
  readonly confirmed?: true;
  readonly limit: number;
}

interface ExportOptions extends CommonOptions {
  readonly confirmed?: true;
  readonly output?: string;
}

export function register(program: Command): void {
  const group = program.command('backfill').description('marks of the mailbox that were given up');
  addCommand(group, { usage: 'list', description: 'abandoned marks that nobody has confirmed' })
    .option('--confirmed', 'confirmed ones too')
    .option('--limit <n>', 'most marks', limit, 50)
    .action(list);
  for (const [change, description] of [
    ['reopen', 'owe abandoned marks again'],
    ['confirm', 'settled with the owner of the mailbox: they need no mark'],
  ] as const) {
    addCommand(group, { usage: change, description })
      .argument('[id...]', 'the messages, their CMINMSGS_ID', ids)
      .option('--all', 'every abandoned mark that nobody has confirmed')
      .option('--reason <text>', 'why, for the audit')
      .option('--dry-run', 'say which, and do nothing')
      .action((named: readonly bigint[], options: SettleOptions) => settle(change, named, options));
  }
  addCommand(group, {
    usage: 'export',
    description: 'abandoned marks as CSV, for the mailbox owner',
    json: false,
  })
    .option('--confirmed', 'confirmed ones too')
    .option('--output <file>', 'where to; default: standard output')
    .action(exportMarks);
}

async function list(options: ListOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectAbandoned } = await import('../../store/owed-mark.ts');
  const { markJson } = await import('../../service/mark-json.ts');
  await withSchema(config, async ({ database }) => {
    const page = { after: -1n, confirmed: options.confirmed === true, limit: options.limit };
    const marks = (await selectAbandoned(database, page)).map(markJson);
    if (options.json === true) {
      printJson({ marks });
      return;
    }
    print(
      ...table(
        ['message', 'type', 'styp', 'outcome', 'abandoned', 'because', 'attempts', 'confirmed by'],
        marks.map((mark) => [
          ...[mark.msgId, mark.type, mark.styp, mark.state, mark.abandonedAt, mark.because, mark.attempts],
          mark.confirmedBy,
        ]),
      ),
    );
  });
}

async function settle(
  change: 'reopen' | 'confirm',
  named: readonly bigint[],
  options: SettleOptions,
): Promise<void> {
  const dryRun = options.dryRun === true;
  if (named.length > 0 === (options.all === true))
    throw new ExpectedFailure('which marks? the IDs of their messages, or --all', 2);
  await reasonOf(options.reason, dryRun);
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { settleMarks } = await import('../../actions/marks.ts');
  await withSchema(config, async ({ database }) => {
    const msgIds = options.all === true ? 'all' : named;
    const { outcome, message, changed, refused } = await settleMarks(
      database,
      { change, msgIds, dryRun },
      await operatorOf(database, options),
    );
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ dryRun, message, changed, refused });
    else print(message, ...refused.map(({ why }) => why));
  });
}

async function exportMarks(options: ExportOptions): Promise<void> {
  const { config } = withConfig(options);
  const { writeFile } = await import('node:fs/promises');
  const { withSchema } = await import('../resources.ts');
  const { abandonedCsv } = await import('../../service/mark-json.ts');
  await withSchema(config, async ({ database }) => {
    let text = '';
    for await (const part of abandonedCsv(database, options.confirmed === true)) text += part;
    if (options.output === undefined) {
      process.stdout.write(text);
      return;
    }
    try {
      await writeFile(options.output, text);
    } catch (error) {
      throw new ExpectedFailure(`${options.output} cannot be written`, 1, { cause: error });
    }
  });
}
