/** `msgx dlq list`, `show`, `retry` and `drop`: events that delivery gave up. */
import type { Command } from 'commander';
import { id, ids, limit, operatorOf, reasonOf, type ChangeOptions } from '../operator.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface SettleOptions extends ChangeOptions {
  readonly all?: true;
  readonly force?: true;
}

interface ListOptions extends CommonOptions {
  readonly limit: number;
}

export function register(program: Command): void {
  const group = program.command('dlq').description('dead events of delivery');
  addCommand(group, { usage: 'list', description: 'dead events, oldest first' })
    .option('--limit <n>', 'most events', limit, 50)
    .action(list);
  addCommand(group, { usage: 'show', description: 'one event: why it is dead, and what it says' })
    .argument('<id>', 'the event', id)
    .action(show);
  addCommand(group, { usage: 'retry', description: 'send dead events again' })
    .argument('[id...]', 'the events', ids)
    .option('--all', 'every dead event')
    .option('--force', 'also below a version that was delivered already')
    .option('--reason <text>', 'why, for the audit')
    .option('--dry-run', 'name later versions delivered already, and do nothing')
    .action((named: readonly bigint[], options: SettleOptions) => settle('retry', named, options));
  addCommand(group, { usage: 'drop', description: 'give dead events up for good; their rows stay, DROPPED' })
    .argument('[id...]', 'the events', ids)
    .option('--all', 'every dead event')
    .option('--reason <text>', 'why, for the audit')
    .option('--dry-run', 'say which, and do nothing')
    .action((named: readonly bigint[], options: SettleOptions) => settle('drop', named, options));
}

async function list(options: ListOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectDeadEventIds, selectEvents } = await import('../../store/dead-event.ts');
  const { deadEventJson } = await import('../../service/dead-event-json.ts');
  await withSchema(config, async ({ database }) => {
    const found = await selectEvents(database, await selectDeadEventIds(database, -1n, options.limit));
    const events = found.map(deadEventJson);
    if (options.json === true) {
      printJson({ events });
      return;
    }
    print(
      ...table(
        ['event', 'target', 'flight', 'version', 'attempts', 'since', 'delivered later', 'error'],
        events.map((event) => [
          ...[event.eventId, event.target, event.flid, event.version, event.attempts, event.createdAt],
          ...[event.laterDelivered.length, event.lastError],
        ]),
      ),
    );
  });
}

async function show(eventId: bigint, options: CommonOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectEventBody, selectEvents } = await import('../../store/dead-event.ts');
  const { deadEventJson } = await import('../../service/dead-event-json.ts');
  await withSchema(config, async ({ database }) => {
    const [event] = await selectEvents(database, [eventId]);
    if (event === undefined) throw new ExpectedFailure(`there is no event ${eventId.toString()}`);
    const body = await selectEventBody(database, eventId);
    printJson({ ...deadEventJson(event), body }, options.json === true ? 'line' : 'indented');
  });
}

async function settle(
  change: 'retry' | 'drop',
  named: readonly bigint[],
  options: SettleOptions,
): Promise<void> {
  const dryRun = options.dryRun === true;
  if (named.length > 0 === (options.all === true))
    throw new ExpectedFailure('which events? their IDs, or --all', 2);
  await reasonOf(options.reason, dryRun);
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { settleEvents } = await import('../../actions/dead-events.ts');
  await withSchema(config, async ({ database }) => {
    const eventIds = options.all === true ? 'all' : named;
    const { outcome, message, events } = await settleEvents(
      database,
      { change, eventIds, force: options.force === true, dryRun },
      await operatorOf(database, options),
    );
    if (outcome === 'refused') throw new ExpectedFailure(message);
    if (options.json === true) printJson({ dryRun, message, events });
    else print(message, ...events.flatMap(({ refused }) => (refused === null ? [] : [refused])));
  });
}
