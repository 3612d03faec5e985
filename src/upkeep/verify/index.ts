/**
 * `msgx verify`: audits the invariants of the contract on the live database, on one consistent snapshot. What
 * is pending or owed is counted, not broken. It shares the fold with the pump and nothing else.
 */
import type { Dialect } from '../../dialect/port.ts';
import type { Publication } from '../../domain/event.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import { eventTotals, versionFaults, versionJumps } from '../../store/audit-events.ts';
import {
  orphanedDuplicates,
  outOfOrder,
  pendingWork,
  sharedIdentities,
  unauditedChanges,
  uncoveredIds,
  wrongBackfillFacts,
} from '../../store/audit-messages.ts';
import type { Database } from '../../store/database.ts';
import type { Queryable } from '../../store/statement.ts';
import { readCursor } from '../../store/inbox-cursor.ts';
import { verifyDelivered } from './delivered.ts';
import { verifyMarks } from './marks.ts';
import { verifyRefolded } from './refolded.ts';
import { finding, type Finding, type VerifyReport } from './report.ts';
import type { Target } from './target.ts';

export type { Finding, VerifyReport } from './report.ts';

export interface VerifyOptions {
  /**
   * A database whose sessions may stay idle in a transaction while files and the mailbox are read
   * (`idleInTransactionMs` 0) and whose statements may scan.
   */
  readonly database: Database;
  readonly mailbox: Mailbox;
  readonly dialect: Dialect;
  readonly target: Target;
  readonly publication: Publication;
  /** HH:mm (`operation-day-cutoff`). */
  readonly cutoff: string;
  /** Called before each invariant, for progress. */
  readonly onProgress?: (invariant: number) => void;
}

/** Audits everything. Throws Outage where our own database is not available. */
export async function verify(options: VerifyOptions): Promise<VerifyReport> {
  const { database, onProgress } = options;
  const findings: Finding[] = [];
  await database.transaction(
    async (snapshot) => {
      const checks: readonly (() => Promise<Finding>)[] = [
        () => verifyCoverage(snapshot),
        () => verifyIdentities(snapshot),
        async () =>
          finding(
            3,
            {},
            (await outOfOrder(snapshot)).map(
              ({ msgId, before }) => `message ${msgId.toString()} ended after message ${before.toString()}`,
            ),
          ),
        () => verifyBackfillFacts(snapshot),
        () => verifyVersions(snapshot),
        () => verifyDelivered(snapshot, database, options.target, options.publication),
        () => verifyRefolded(snapshot, options.dialect, options.cutoff),
        () => verifyMarks(snapshot, database, options.mailbox),
        async () =>
          finding(
            9,
            {},
            (await unauditedChanges(snapshot)).map((what) => `${what} has no audit row`),
          ),
      ];
      for (const [index, check] of checks.entries()) {
        onProgress?.(index + 1);
        findings.push(await check());
      }
    },
    { isolation: 'repeatable read', readOnly: true },
  );
  return { clean: findings.every(({ answer }) => answer !== 'broken'), findings };
}

async function verifyCoverage(db: Queryable): Promise<Finding> {
  const cursor = await readCursor(db);
  if (cursor.seededAt === null) return finding(1, {}, [], 'the inbox has not started yet: nothing is seeded');
  const missing = await uncoveredIds(db);
  const { messages, unfinished } = await pendingWork(db);
  return finding(
    1,
    { messages, unfinished },
    missing.map(({ from, to }) =>
      from === to
        ? `ID ${from.toString()} is neither a message nor a released hole`
        : `IDs ${from.toString()}–${to.toString()} are neither messages nor released holes`,
    ),
  );
}

async function verifyIdentities(db: Queryable): Promise<Finding> {
  const shared = await sharedIdentities(db);
  const orphaned = await orphanedDuplicates(db);
  return finding(2, {}, [
    ...shared.map(({ msgId, identity, owner }) =>
      owner === null
        ? `message ${msgId.toString()} has identity ${identity}, which nobody owns`
        : `message ${msgId.toString()} has identity ${identity}, which message ${owner.toString()} owns`,
    ),
    ...orphaned.map(
      ({ msgId, reason }) => `message ${msgId.toString()} is ${reason}, which does not own its identity`,
    ),
  ]);
}

async function verifyBackfillFacts(db: Queryable): Promise<Finding> {
  const { owed } = await pendingWork(db);
  const wrong = await wrongBackfillFacts(db);
  return finding(
    4,
    { owed },
    wrong.map(({ msgId, state }) =>
      state === 'PENDING' || state === 'FAILED'
        ? `message ${msgId.toString()} has a backfill fact but never ended`
        : `message ${msgId.toString()} ended ${state} without a backfill fact`,
    ),
  );
}

async function verifyVersions(db: Queryable): Promise<Finding> {
  const { pending, sent, dead, dropped } = await eventTotals(db, 'KAFKA:msg');
  const faults = await versionFaults(db);
  return finding(
    5,
    { pending, sent, dead, dropped, jumps: await versionJumps(db) },
    faults.map(({ flid, eventId, version, before, flightVersion }) =>
      before !== null && version !== before + 1
        ? `flight ${flid}: event ${eventId.toString()} has version ${String(version)} after ${String(before)}`
        : `flight ${flid}: its last event has version ${String(version)}, the flight ${String(flightVersion)}`,
    ),
  );
}
