/** `msgx request schedule`, `msgx request reference` and `msgx request list`. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { RequestActions, RequestOutcome } from '../../actions/requests.ts';
import type { Operator } from '../../actions/outcome.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface AskOptions extends CommonOptions {
  readonly reason: string;
}

interface ScheduleOptions extends AskOptions {
  readonly from: string;
  readonly to?: string;
}

interface ListOptions extends CommonOptions {
  readonly limit: number;
}

export function register(program: Command): void {
  const group = program.command('request').description('ask the upstream for schedules or reference data');
  addCommand(group, { usage: 'schedule', description: 'one request per operation day, first to last' })
    .requiredOption('--from <day>', 'first operation day, yyyy-MM-dd')
    .option('--to <day>', 'last operation day; default: the first')
    .option('--reason <text>', 'why, for the audit', 'none given')
    .action((options: ScheduleOptions) =>
      ask(options, async (actions, operator) => {
        const { requestSchedule } = await import('../../actions/requests.ts');
        return requestSchedule(actions, { from: options.from, to: options.to ?? options.from }, operator);
      }),
    );
  addCommand(group, { usage: 'reference <type>', description: 'all reference data of a type, e.g. ARPT' })
    .option('--reason <text>', 'why, for the audit', 'none given')
    .action((type: string, options: AskOptions) =>
      ask(options, async (actions, operator) => {
        const { requestReference } = await import('../../actions/requests.ts');
        return requestReference(actions, type, operator);
      }),
    );
  addCommand(group, { usage: 'list', description: 'requests and what became of them, newest first' })
    .option('--limit <n>', 'most requests', limit, 50)
    .action(list);
}

async function ask(
  options: AskOptions,
  action: (actions: RequestActions, operator: Operator) => Promise<RequestOutcome>,
): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { databaseNow } = await import('../../store/lease.ts');
  await withSchema(config, async ({ database, dialect }) => {
    const actions = {
      ...{ database, sender: config.sender, shadow: config.pipeline.shadow },
      referenceTypes: dialect.referenceTypes,
    };
    const operator = {
      who: `cli:${userInfo().username}`,
      reason: options.reason,
      now: await databaseNow(database),
    };
    const outcome = await action(actions, operator);
    if (outcome.outcome !== 'done') throw new ExpectedFailure(outcome.message);
    if (options.json === true) printJson({ message: outcome.message, requests: outcome.requests });
    else print(outcome.message);
  });
}

async function list(options: ListOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { REQUEST_STATES, selectRequests } = await import('../../store/req-track.ts');
  const { requestJson } = await import('../../service/request-json.ts');
  const { MAX_ID } = await import('../../domain/ids.ts');
  await withSchema(config, async ({ database }) => {
    const page = { below: MAX_ID, limit: options.limit, states: REQUEST_STATES };
    const requests = (await selectRequests(database, page)).map(requestJson);
    if (options.json === true) {
      printJson({ requests });
      return;
    }
    print(
      ...table(
        [
          'request',
          'type',
          'day',
          'state',
          'asked',
          'by',
          'sent',
          'outbound',
          'done by',
          'matched',
          'expired',
        ],
        requests.map((request) => [
          ...[request.reqId, request.type, request.operationDay, request.state, request.requestedAt],
          ...[request.requestedBy, request.sentAt, request.outId, request.doneBy, request.matched],
          request.expiredBecause,
        ]),
      ),
    );
  });
}

function limit(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a whole number from 1');
  return Number(text);
}
