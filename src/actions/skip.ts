/**
 * Skipping one message that is confirmed not to be processed (seed §5.4): the head that holds the line, or one behind
 * it. Precheck, conditional update and audit in one transaction. Its mark is owed like that of any other ending.
 */
import type { Database } from '../store/database.ts';
import { selectMessages, skipMessage, type MessageRecord } from '../store/message-actions.ts';
import { insertAudit } from '../store/op-audit.ts';
import type { Operator, TriedOutcome } from './outcome.ts';

export interface SkipRequest {
  readonly msgId: bigint;
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/** Ends an unfinished message as SKIPPED, with the operator's reason as its own. Throws Outage. */
export async function skip(
  database: Database,
  { msgId, dryRun }: SkipRequest,
  { who, reason, now }: Operator,
): Promise<TriedOutcome> {
  const name = `message ${msgId.toString()}`;
  return database.transaction(async (tx): Promise<TriedOutcome> => {
    const [row] = await selectMessages(tx, [msgId]);
    const obstacle = obstacleTo(name, row);
    if (obstacle !== null || row === undefined) return { outcome: 'refused', message: obstacle ?? '' };
    if (dryRun) return { outcome: 'planned', message: `would skip ${name}: ${standing(row)}` };
    const skipped = await skipMessage(tx, row, reason, now);
    if (skipped === null) return { outcome: 'refused', message: `${name} has changed meanwhile: look again` };
    const { state, attempts, errorClass, lastError } = row;
    await insertAudit(tx, {
      ...{ at: now, who, action: 'skip', target: `message:${msgId.toString()}`, reason },
      before: { state, attempts, errorClass, lastError },
      after: { state: 'SKIPPED', reason: skipped },
    });
    return { outcome: 'done', message: `${name} is skipped; it was ${standing(row)}` };
  });
}

function obstacleTo(name: string, row: MessageRecord | undefined): string | null {
  if (row === undefined) return `there is no ${name} in the queue`;
  if (row.state === 'PENDING' || row.state === 'FAILED') return null;
  return `${name} has ended already: ${standing(row)}`;
}

function standing({ state, attempts, lastError, reason }: MessageRecord): string {
  const told = lastError ?? reason;
  const tried =
    state === 'FAILED' ? ` after ${String(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}` : '';
  return `${state}${tried}${told === null ? '' : `, ${told}`}`;
}
