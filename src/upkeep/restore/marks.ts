/** Marks in the mailbox on messages that, by our database, have not ended or were never read: they had ended before. */
import { msgId } from '../../domain/ids.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import type { Queryable } from '../../store/statement.ts';
import type { Cursor } from '../../store/inbox-cursor.ts';
import { cameUnmarked, selectUnfinishedAfter } from '../../store/restore.ts';

const PAGE = 500;
const WALK_PAGE = 5_000;

/** What the marks say. */
export interface ForgottenMarks {
  /** Messages that have not ended in our database and are marked in the mailbox. */
  readonly unfinished: readonly bigint[];
  /** Highest marked ID above W; W where there is none. */
  readonly highest: bigint;
  /** Marked rows above W. */
  readonly above: number;
}

/**
 * Looks for such marks: at the first messages above W and the first unfinished ones, and further only where one is found
 * there. Marks that others may have set say nothing: before the seed, in shadow mode (the caller's business), or where
 * all of the newest messages were marked already when they were read. Throws Outage.
 *
 * @param ceiling highest ID that an earlier start has found: marks up to it are no news
 */
export async function forgottenMarks(
  db: Queryable,
  mailbox: Pick<Mailbox, 'rowsAfter' | 'rowsIn'>,
  { watermark, seededAt }: Cursor,
  ceiling: bigint,
): Promise<ForgottenMarks> {
  const nothing = { unfinished: [], highest: watermark, above: 0 };
  if (seededAt === null || !(await cameUnmarked(db, watermark))) return nothing;
  const unfinished = await markedAmongUnfinished(db, mailbox);
  const from = ceiling > watermark ? ceiling : watermark;
  let highest = watermark;
  let above = 0;
  for (let after = from; ;) {
    const size = after === from ? PAGE : WALK_PAGE;
    const rows = await mailbox.rowsAfter(after, size);
    for (const row of rows) {
      if (!row.marked) continue;
      above += 1;
      highest = row.id;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < size || above === 0) break;
    after = last.id;
  }
  return { unfinished, highest, above };
}

async function markedAmongUnfinished(
  db: Queryable,
  mailbox: Pick<Mailbox, 'rowsIn'>,
): Promise<readonly bigint[]> {
  const marked: bigint[] = [];
  for (let after = 0n; ;) {
    const ids = await selectUnfinishedAfter(db, after, PAGE);
    if (ids.length === 0) return marked;
    const rows = await mailbox.rowsIn(ids.map((id) => ({ from: msgId(id), to: msgId(id) })));
    for (const row of rows) if (row.marked) marked.push(row.id);
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE || marked.length === 0) return marked;
    after = last;
  }
}
