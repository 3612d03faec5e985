/**
 * Abandoned marks (seed §6.2, §6.3): owed again, or confirmed as settled with the mailbox's owner. Precheck, conditional
 * update and audit in transactions of a few rows. Abandoned is not confirmed, and confirmed by a person is not marked.
 */
import type { Database } from '../store/database.ts';
import { insertAudits } from '../store/op-audit.ts';
import { confirmAbandoned, lockMarks, reopenAbandoned, selectAbandoned } from '../store/owed-mark.ts';
import { toTimestamp } from '../store/time.ts';
import type { Counted, Operator } from './outcome.ts';
import { partsOf } from './parts.ts';

/** Rows of one transaction. */
const BATCH = 200;
/** Results that are told one by one; the rest is counted. */
const MOST_TOLD = 10_000;

export interface MarkRequest {
  readonly change: 'reopen' | 'confirm';
  readonly msgIds: readonly bigint[] | 'all';
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

export interface MarkOutcome {
  readonly outcome: 'done' | 'planned' | 'refused';
  readonly message: string;
  readonly counted: Counted;
  /** Messages whose marks were changed, or would be; the first of them. */
  readonly changed: readonly string[];
  readonly refused: readonly { readonly msgId: string; readonly why: string }[];
}

type Mark = Awaited<ReturnType<typeof lockMarks>>[number];

/** Reopens or confirms abandoned marks; `refused` where not one of them could be. Throws Outage. */
export async function settleMarks(
  database: Database,
  { change, msgIds, dryRun }: MarkRequest,
  operator: Operator,
): Promise<MarkOutcome> {
  const changed: string[] = [];
  const refused: { msgId: string; why: string }[] = [];
  let all = 0;
  let done = 0;
  const nextAbandoned = async (after: bigint, limit: number) =>
    (await selectAbandoned(database, { after, confirmed: false, limit })).map(({ msgId }) => msgId);
  for await (const part of partsOf(msgIds, BATCH, nextAbandoned)) {
    const settled = await settle(database, change, part, dryRun, operator);
    for (const { msgId, why } of settled) {
      all += 1;
      if (why === null) done += 1;
      if (why === null && done <= MOST_TOLD) changed.push(msgId.toString());
      if (why !== null && all - done <= MOST_TOLD) refused.push({ msgId: msgId.toString(), why });
    }
  }
  const counted = { all, changed: done };
  const count = `${String(done)} of ${String(all)} ${all === 1 ? 'mark' : 'marks'}`;
  const [first] = refused;
  const others = first === undefined ? '' : `; ${first.why}${refused.length > 1 ? ', and others' : ''}`;
  if (changed.length === 0) {
    const message = first?.why ?? 'there is no abandoned mark';
    return { outcome: 'refused', message, counted, changed, refused };
  }
  const past = change === 'reopen' ? 'reopened' : 'confirmed';
  return dryRun
    ? { outcome: 'planned', message: `would ${change} ${count}${others}`, counted, changed, refused }
    : { outcome: 'done', message: `${past} ${count}${others}`, counted, changed, refused };
}

async function settle(
  database: Database,
  change: MarkRequest['change'],
  msgIds: readonly bigint[],
  dryRun: boolean,
  { who, reason, now }: Operator,
): Promise<readonly { readonly msgId: bigint; readonly why: string | null }[]> {
  return database.transaction(async (tx) => {
    // Held from here on: what the precheck says is so until the change is committed.
    const marks = new Map((await lockMarks(tx, msgIds)).map((mark) => [mark.msgId, mark]));
    const judged = msgIds.map((msgId) => ({ msgId, why: obstacleTo(change, msgId, marks.get(msgId)) }));
    const free = judged.flatMap(({ msgId, why }) => (why === null ? [msgId] : []));
    if (dryRun || free.length === 0) return judged;
    const at = toTimestamp(now);
    const done =
      change === 'reopen' ? await reopenAbandoned(tx, free, at) : await confirmAbandoned(tx, free, at, who);
    const changes = free.flatMap((msgId) => {
      const mark = marks.get(msgId);
      if (mark === undefined || !done.includes(msgId)) return [];
      const { because, abandonedAt, attempts } = mark;
      return [
        {
          target: `message:${msgId.toString()}`,
          before: { mark: 'abandoned', because, abandonedAt, attempts },
          after: { mark: change === 'reopen' ? 'owed' : 'abandoned, confirmed' },
        },
      ];
    });
    await insertAudits(tx, { at: now, who, action: change, reason }, changes);
    return judged.map(({ msgId, why }) => ({
      msgId,
      why:
        why === null && !done.includes(msgId) ? `the mark of message ${msgId.toString()} has changed` : why,
    }));
  });
}

function obstacleTo(change: MarkRequest['change'], msgId: bigint, mark: Mark | undefined): string | null {
  const name = `message ${msgId.toString()}`;
  if (mark === undefined) return `there is no ${name}`;
  if (mark.abandonedAt === null) return `the mark of ${name} is not abandoned`;
  if (mark.confirmedAt !== null) {
    return `the mark of ${name} was confirmed by ${mark.confirmedBy ?? 'somebody'} already`;
  }
  // Replayed and not ended again: it would be owed before there is anything to mark.
  if (change === 'reopen' && mark.terminalAt === null) return `${name} has not ended yet`;
  return null;
}
