/** The audit of a benchmark's pipeline when it has ended. */
import type { Resources } from '../service/resources.ts';
import { verifyTargetOf } from '../service/verify-target.ts';
import { Database } from '../store/database.ts';
import { verify } from '../upkeep/verify/index.ts';

/** What `verify` finds broken, on sessions of its own that may scan and stay idle in a transaction. */
export async function brokenIn({
  config,
  databaseUrl,
  mailbox,
  dialect,
}: Resources): Promise<readonly string[]> {
  const database = new Database({
    ...{ url: databaseUrl, schema: config.database.schema, applicationName: 'msgx bench', maxConnections: 2 },
    ...{ statementTimeoutMs: 600_000, idleInTransactionMs: 0 },
  });
  try {
    const { findings } = await verify({
      ...{ database, mailbox, dialect, target: verifyTargetOf(config) },
      publication: { vipPersons: false },
      cutoff: config.operationDayCutoff,
    });
    return findings.filter(({ answer }) => answer === 'broken').flatMap(({ notes }) => notes);
  } finally {
    await database.close();
  }
}
