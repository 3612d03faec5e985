/** Abandoned marks as the API gives them, and as the list for the mailbox's owner. */
import type { Queryable } from '../store/statement.ts';
import { selectAbandoned, type AbandonedMark } from '../store/owed-mark.ts';
import { toMillis, toTimestamp } from '../store/time.ts';

/** IDs as text, times in ISO 8601. */
export function markJson(mark: AbandonedMark) {
  const { msgId, type, styp, state, attempts, because, confirmedBy } = mark;
  return {
    ...{ msgId: msgId.toString(), type, styp, state, because, abandonedAt: iso(mark.abandonedAt), attempts },
    ...{ receivedAt: iso(mark.receivedAt), enqueuedAt: iso(mark.enqueuedAt), endedAt: iso(mark.terminalAt) },
    ...{ confirmedAt: iso(mark.confirmedAt), confirmedBy },
  };
}

/** The first is the mailbox's own. */
const COLUMNS = [
  ...['CMINMSGS_ID', 'TYPE', 'STYP', 'RECEIVED_AT', 'PROCESSED_AT', 'OUTCOME'],
  ...['ABANDONED_AT', 'ABANDONED_BECAUSE', 'CONFIRMED_AT', 'CONFIRMED_BY'],
];
/** Rows read at once. */
const PAGE = 1_000;

/**
 * The whole list, its head first, a page at a time (RFC 4180). Throws Outage.
 *
 * @param confirmed those that are confirmed, too
 */
export async function* abandonedCsv(db: Queryable, confirmed: boolean): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (let after = -1n; ;) {
    const marks = await selectAbandoned(db, { after, confirmed, limit: PAGE });
    if (marks.length > 0) yield csvOf(marks);
    const last = marks.at(-1);
    if (last === undefined || marks.length < PAGE) return;
    after = last.msgId;
  }
}

function csvOf(marks: readonly AbandonedMark[]): string {
  return marks
    .map(markJson)
    .map((mark) =>
      [
        ...[mark.msgId, mark.type, mark.styp, mark.receivedAt, mark.endedAt, mark.state],
        ...[mark.abandonedAt, mark.because, mark.confirmedAt, mark.confirmedBy],
      ]
        .map(cell)
        .join(','),
    )
    .map((line) => `${line}\r\n`)
    .join('');
}

/** Quoted where it has to be. A text that a spreadsheet would take for a formula is led by an apostrophe. */
function cell(value: string | null): string {
  const text = value === null ? '' : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function iso(text: string | null): string | null {
  return text === null ? null : toTimestamp(toMillis(text));
}
