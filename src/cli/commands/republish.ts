/** `msgx republish`: sends the current states of flights again. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { isDay } from '../../domain/operation-day.ts';
import type { RepublishScope } from '../../store/republish.ts';
import { print, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface RepublishOptions extends CommonOptions {
  readonly flid?: string;
  readonly day?: string;
  readonly all?: true;
  readonly reason?: string;
  readonly dryRun?: true;
  readonly acceptPartitions?: true;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'republish',
    description: 'send the current states of flights again to the schd target, behind live changes',
  })
    .addOption(new Option('--flid <flid>', 'one flight').conflicts(['day', 'all']))
    .addOption(
      new Option('--day <day>', 'the flights of an operation day, YYYY-MM-DD')
        .argParser(day)
        .conflicts('all'),
    )
    .option('--all', 'every flight, deleted ones too')
    .option('--reason <text>', 'why, for the audit')
    .option('--dry-run', 'say how many flights and how long, and do nothing')
    .option(
      '--accept-partitions',
      'with --all: first accept the numbers of partitions that the topics have now (see the runbook)',
    )
    .action(republishStates);
}

async function republishStates(options: RepublishOptions): Promise<void> {
  const scope = scopeOf(options);
  const dryRun = options.dryRun === true;
  const reason = options.reason?.trim() ?? '';
  if (reason === '' && !dryRun) throw new ExpectedFailure('republish needs --reason TEXT, for the audit', 2);
  if (options.acceptPartitions === true && scope.kind !== 'all')
    throw new ExpectedFailure('--accept-partitions needs --all: consumers begin anew', 2);
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { republish } = await import('../../actions/republish.ts');
  const { databaseNow } = await import('../../store/lease.ts');
  await withSchema(config, async ({ database }) => {
    const operator = { who: `cli:${userInfo().username}`, reason, now: await databaseNow(database) };
    const accepted: string[] = [];
    if (options.acceptPartitions === true && !dryRun) {
      const { acceptFoundPartitions } = await import('../../service/partitions.ts');
      const { outcome, message } = await acceptFoundPartitions(config, database, operator);
      if (outcome === 'refused') throw new ExpectedFailure(message);
      accepted.push(message);
    }
    const { flushLimit, flushIntervalMs } = config.schd;
    const result = await republish(
      database,
      { scope, rate: { flushLimit, flushIntervalMs }, dryRun },
      operator,
    );
    if (result.outcome === 'refused') {
      if (accepted.length === 0) throw new ExpectedFailure(result.message);
      if (options.json === true) printJson({ dryRun, accepted, message: result.message, flights: 0 });
      else print(...accepted, result.message);
      return;
    }
    if (options.json === true) printJson({ dryRun, accepted, message: result.message, ...result.plan });
    else print(...accepted, result.message, ...(dryRun ? [] : ['msgx status shows what is still pending']));
  });
}

function scopeOf({ flid, day: operationDay, all }: RepublishOptions): RepublishScope {
  if (flid !== undefined) return { kind: 'flight', flid };
  if (operationDay !== undefined) return { kind: 'day', day: operationDay };
  if (all === true) return { kind: 'all' };
  throw new ExpectedFailure('which flights? --flid FLID, --day YYYY-MM-DD or --all', 2);
}

function day(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('a day as YYYY-MM-DD');
  return text;
}
