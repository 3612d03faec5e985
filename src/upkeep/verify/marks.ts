/** Invariant 8: marks in the mailbox against what we know of the messages. */
import type { Mailbox } from '../../mailbox/port.ts';
import { messageOf } from '../../runtime/outage.ts';
import { markFacts } from '../../store/audit-messages.ts';
import type { Queryable } from '../../store/statement.ts';
import { readCursor } from '../../store/inbox-cursor.ts';
import { finding, type Finding } from './report.ts';

const PAGE = 5_000;
const MOST_NOTES = 20;

/** The mailbox cannot be read, for whatever reason: away, renamed, no grant. */
class Unreadable extends Error {}

/**
 * Walks over the mailbox above the seed. What looks wrong in the snapshot is looked at again as it is now: a
 * message may have ended, and been marked, since.
 */
export async function verifyMarks(snapshot: Queryable, live: Queryable, mailbox: Mailbox): Promise<Finding> {
  const { seed } = await readCursor(snapshot);
  const offenders: string[] = [];
  let rows = 0;
  let marked = 0;
  let after = seed;
  try {
    for (;;) {
      const page = await mailbox.rowsAfter(after, PAGE).catch((error: unknown) => {
        throw new Unreadable(messageOf(error));
      });
      const first = page.at(0);
      const last = page.at(-1);
      if (first === undefined || last === undefined) break;
      const facts = new Map((await markFacts(live, first.id, last.id)).map((fact) => [fact.msgId, fact]));
      for (const row of page) {
        rows += 1;
        if (row.marked) marked += 1;
        const fact = facts.get(row.id);
        if (fact === undefined || fact.excused) continue;
        if (row.marked && !fact.terminal)
          offenders.push(`message ${row.id.toString()} is marked but has not ended`);
      }
      const confirmed = new Map(
        (await markFacts(snapshot, first.id, last.id)).map((fact) => [fact.msgId, fact]),
      );
      for (const row of page) {
        if (!row.marked && confirmed.get(row.id)?.confirmed === true) {
          offenders.push(`the confirmed mark of message ${row.id.toString()} is gone`);
        }
      }
      after = last.id;
      if (page.length < PAGE) break;
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return finding(8, { rows, marked }, offenders.slice(0, MOST_NOTES), error.message);
  }
  return finding(8, { rows, marked }, offenders.slice(0, MOST_NOTES));
}
