/** `msgx request schedule`, `msgx request reference` and `msgx request list`. */
import type { Command } from 'commander';
import type { RequestActions, RequestOutcome } from '../../actions/requests.ts';
import type { Operator } from '../../actions/outcome.ts';
import { limit, operatorOf, UNREASONED, type ChangeOptions } from '../operator.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface ScheduleOptions extends ChangeOptions {
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
    .option('--reason <text>', 'why, for the audit; default: none given')
    .option('--dry-run', 'say what would be asked, and do nothing')
    .action((options: ScheduleOptions) =>
      ask(options, async (actions, operator, dryRun) => {
        const { requestSchedule } = await import('../../actions/requests.ts');
        const { from, to = from } = options;
        return requestSchedule(actions, { from, to }, operator, dryRun);
      }),
    );
  addCommand(group, { usage: 'reference <type>', description: 'all reference data of a type, e.g. ARPT' })
    .option('--reason <text>', 'why, for the audit; default: none given')
    .option('--dry-run', 'say what would be asked, and do nothing')
    .action((type: string, options: ChangeOptions) =>
      ask(options, async (actions, operator, dryRun) => {
        const { requestReference } = await import('../../actions/requests.ts');
        return requestReference(actions, type, operator, dryRun);
      }),
    );
  addCommand(group, { usage: 'list', description: 'requests and what became of them, newest first' })
    .option('--limit <n>', 'most requests', limit, 50)
    .action(list);
}

async function ask(
  options: ChangeOptions,
  action: (actions: RequestActions, operator: Operator, dryRun: boolean) => Promise<RequestOutcome>,
): Promise<void> {
  const dryRun = options.dryRun === true;
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  await withSchema(config, async ({ database, dialect }) => {
    const actions = {
      ...{ database, sender: config.sender, shadow: config.pipeline.shadow },
      referenceTypes: dialect.referenceTypes,
    };
    const outcome = await action(actions, await operatorOf(database, { ...UNREASONED, ...options }), dryRun);
    if (outcome.outcome === 'invalid' || outcome.outcome === 'refused') {
      throw new ExpectedFailure(outcome.message);
    }
    if (options.json === true) printJson({ dryRun, message: outcome.message, requests: outcome.requests });
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
