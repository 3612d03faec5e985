/** `msgx verify`: audits the invariants on the live database; `--digest` prints the business state as one hash. */
import type { Command } from 'commander';
import type { Finding } from '../../upkeep/verify/index.ts';
import { complain, print, printJson } from '../output.ts';
import { addCommand, failed, withConfig, type CommonOptions } from '../shell.ts';

interface VerifyCommandOptions extends CommonOptions {
  readonly digest?: true;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'verify',
    description: 'audit the invariants; exit 1 where one is broken',
  })
    .option('--digest', 'print a hash of the business state instead')
    .action(verifyAll);
}

async function verifyAll(options: VerifyCommandOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { verifyTargetOf } = await import('../../service/verify-target.ts');
  const { verify } = await import('../../upkeep/verify/index.ts');
  const { businessDigest } = await import('../../upkeep/digest.ts');
  const { Database } = await import('../../store/database.ts');
  await withSchema(config, async ({ databaseUrl, mailbox, dialect }) => {
    // The audit's session reads files and the mailbox inside its snapshot, and scans.
    const database = new Database({
      url: databaseUrl,
      schema: config.database.schema,
      applicationName: 'msgx verify',
      maxConnections: 2,
      statementTimeoutMs: 600_000,
      idleInTransactionMs: 0,
    });
    try {
      if (options.digest === true) {
        const digest = await businessDigest(database);
        if (options.json === true) printJson(digest);
        else print(digest.digest);
        return;
      }
      const report = await verify({
        database,
        mailbox,
        dialect,
        target: verifyTargetOf(config),
        publication: { vipPersons: config.events.vipPersons },
        cutoff: config.operationDayCutoff,
        onProgress: (invariant) => {
          if (process.stderr.isTTY) complain(`checking invariant ${invariant} of 9`);
        },
      });
      if (options.json === true) printJson(report);
      else print(...report.findings.flatMap(linesOf));
      if (!report.clean) throw failed();
    } finally {
      await database.close();
    }
  });
}

function linesOf({ invariant, title, answer, counted, notes }: Finding): string[] {
  const numbers = Object.entries(counted)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ');
  return [
    `${invariant} ${answer === 'not-checkable' ? 'not checkable' : answer}: ${title}${numbers === '' ? '' : ` (${numbers})`}`,
    ...notes.map((note) => `    ${note}`),
  ];
}
