/** `msgx audit`: what operators did, newest first. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { print, printJson, table } from '../output.ts';
import { addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface AuditOptions extends CommonOptions {
  readonly limit: number;
}

export function register(program: Command): void {
  addCommand(program, { usage: 'audit', description: 'what operators did: who, when, what, why' })
    .option('--limit <n>', 'most entries', limit, 50)
    .action(showAudit);
}

async function showAudit(options: AuditOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectAudit } = await import('../../store/op-audit.ts');
  const { MAX_ID } = await import('../../domain/ids.ts');
  await withSchema(config, async ({ database }) => {
    const entries = await selectAudit(database, MAX_ID, options.limit);
    if (options.json === true) {
      printJson({ entries });
      return;
    }
    print(
      ...table(
        ['at', 'who', 'action', 'target', 'reason'],
        entries.map(({ at, who, action, target, reason }) => [at, who, action, target, reason]),
      ),
    );
  });
}

function limit(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a whole number from 1');
  return Number(text);
}
