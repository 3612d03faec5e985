/** `msgx check`: is everything in place? One line each, exit 1 if any fails. */
import type { Command } from 'commander';
import type { CheckLine } from '../../mailbox/port.ts';
import type { Resources } from '../../service/resources.ts';
import { print, printJson, table } from '../output.ts';
import { addCommand, failed, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'check',
    description:
      'check configuration, connections, schema version, mailbox columns and grants, delivery target',
  }).action(checkAll);
}

async function checkAll(options: CommonOptions): Promise<void> {
  const { config, warnings } = withConfig(options);
  const { withResources } = await import('../resources.ts');
  const lines: CheckLine[] = [
    { what: 'configuration', result: 'ok', message: 'valid' },
    ...warnings.map((message): CheckLine => ({ what: 'configuration', result: 'warning', message })),
  ];
  await withResources(config, async (resources) => {
    lines.push(
      ...(await checkDatabase(resources)),
      ...(await checkMailbox(resources)),
      ...(await checkTarget(resources)),
    );
  });
  if (options.json === true) printJson({ checks: lines });
  else
    print(
      ...table(
        ['check', 'result', ''],
        lines.map(({ what, result, message }) => [what, result, message]),
      ),
    );
  if (lines.some(({ result }) => result === 'failed')) throw failed();
}

async function checkDatabase({ database, config }: Resources): Promise<readonly CheckLine[]> {
  const { checkGrants, checkSchema, SchemaFault } = await import('../../store/migrate.ts');
  const { serverVersion } = await import('../../store/server.ts');
  const { messageOf } = await import('../../runtime/outage.ts');
  const { selectFixedSetting } = await import('../../store/fixed-setting.ts');
  const lines: CheckLine[] = [];
  try {
    const version = await serverVersion(database);
    const old = version < 140_000;
    const shown = `PostgreSQL ${Math.floor(version / 10_000)}`;
    lines.push({
      what: 'database',
      result: old ? 'failed' : 'ok',
      message: old ? `${shown}: version 14 or newer is needed` : shown,
    });
    await checkSchema(database);
    await checkGrants(database);
    lines.push({ what: 'schema', result: 'ok', message: `${config.database.schema} is this version's` });
    const fixed = await selectFixedSetting(database, 'identity.include-day-boundary');
    if (fixed !== null && fixed !== String(config.identity.includeDayBoundary)) {
      const message = `identity.include-day-boundary was ${fixed} at the first start and cannot be changed`;
      lines.push({ what: 'identity', result: 'failed', message });
    }
  } catch (error) {
    const what = error instanceof SchemaFault ? 'schema' : 'database';
    lines.push({ what, result: 'failed', message: messageOf(error) });
  }
  return lines;
}

async function checkMailbox({ mailbox }: Resources): Promise<readonly CheckLine[]> {
  const { messageOf } = await import('../../runtime/outage.ts');
  try {
    return await mailbox.check();
  } catch (error) {
    return [{ what: 'mailbox', result: 'failed', message: messageOf(error) }];
  }
}

async function checkTarget({ config, database }: Resources): Promise<readonly CheckLine[]> {
  switch (config.delivery.target) {
    case 'journal':
      return [await checkJournal(config.delivery.journal.dir)];
    case 'kafka': {
      const { kafkaOptionsOf } = await import('../../service/sink.ts');
      const { checkTopics } = await import('../../delivery/sinks/kafka-topics.ts');
      const { selectPartitionCounts } = await import('../../store/partition-count.ts');
      // A database that is away, or has no schema yet, has a line of its own.
      const stored = await selectPartitionCounts(database).catch(() => new Map<string, number>());
      return checkTopics(kafkaOptionsOf(config), stored);
    }
  }
}

async function checkJournal(dir: string): Promise<CheckLine> {
  const { mkdir, access, constants } = await import('node:fs/promises');
  try {
    await mkdir(dir, { recursive: true });
    await access(dir, constants.W_OK);
    return { what: 'delivery', result: 'ok', message: `journal in ${dir}` };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'not writable';
    return {
      what: 'delivery',
      result: 'failed',
      message: `journal folder ${dir} cannot be written: ${code}`,
    };
  }
}
