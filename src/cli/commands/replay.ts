/** `msgx replay`: puts messages back to the line, those that would pass now. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ReplayRequest, ReplayResult } from '../../actions/replay.ts';
import { ids, operatorOf, reasonOf, type ChangeOptions } from '../operator.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig } from '../shell.ts';

/** As in store/replay.ts, which is not loaded to register the command. */
const CLASSES = ['CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED', 'MALFORMED'] as const;

interface ReplayOptions extends ChangeOptions {
  readonly class?: (typeof CLASSES)[number];
  readonly id?: readonly bigint[];
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'replay',
    description: 'put failed or dead messages back to the line, those that would pass now',
  })
    .addOption(new Option('--class <class>', 'every one of an error class').choices(CLASSES).conflicts('id'))
    .addOption(new Option('--id <n...>', 'these messages; also ones skipped as no-match').argParser(ids))
    .option('--reason <text>', 'why, for the audit')
    .option('--dry-run', 'say which would pass, and what newer messages have set since; do nothing')
    .action(replayMessages);
}

async function replayMessages(options: ReplayOptions): Promise<void> {
  const dryRun = options.dryRun === true;
  const scope = scopeOf(options);
  await reasonOf(options.reason, dryRun);
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { replay } = await import('../../actions/replay.ts');
  const { trialContext } = await import('../../service/trial-context.ts');
  await withSchema(config, async ({ database, dialect }) => {
    const { outcome, message, messages } = await replay(
      trialContext(config, database, dialect),
      { scope, dryRun },
      await operatorOf(database, options),
    );
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ dryRun, message, messages });
    else
      print(message, '', ...table(['message', 'becomes', 'kept newer', 'left because'], messages.map(cells)));
  });
}

function cells({ msgId, becomes, superseded, refused }: ReplayResult) {
  const kept = superseded.map(({ flid, fields }) => `${flid}: ${fields.join(', ')}`).join('; ');
  return [msgId, becomes, kept === '' ? null : kept, refused];
}

function scopeOf({ class: errorClass, id: msgIds }: ReplayOptions): ReplayRequest['scope'] {
  if (errorClass !== undefined) return { kind: 'class', errorClass };
  if (msgIds !== undefined) return { kind: 'ids', msgIds };
  throw new ExpectedFailure('which messages? --class CLASS or --id N…', 2);
}
