/**
 * Reading texts for the rows that are enqueued, and for no others (decisions.md, "Text is read at intake").
 */
import type { Mailbox, MailboxRow } from '../mailbox/port.ts';
import type { Queryable } from '../store/statement.ts';
import { selectKnownIds, type NewMessage } from '../store/enqueue.ts';
import { packLength, packText, type PackedText } from '../store/raw-message.ts';

/** Bounds of one batch. */
export interface IntakeBounds {
  /** Most rows. */
  readonly claimBatch: number;
  /** Most bytes of text; one row is always taken. */
  readonly batchBytes: number;
  /** Texts above are not read: the row is enqueued with its length only. */
  readonly maxMessageBytes: number;
}

/** A message to be enqueued, and its text where one is kept. */
export interface ReadMessage extends NewMessage {
  readonly text: string | null;
}

/** How many of the rows fit in one batch: at least one where there is one. */
export function fitting(rows: readonly MailboxRow[], bounds: IntakeBounds): number {
  let bytes = 0;
  let count = 0;
  for (const row of rows) {
    if (count === bounds.claimBatch) break;
    bytes += isReadable(row, bounds) ? (row.bytes ?? 0) : 0;
    if (bytes > bounds.batchBytes && count > 0) break;
    count += 1;
  }
  return count;
}

function isReadable(row: MailboxRow, bounds: IntakeBounds): boolean {
  return row.bytes !== null && row.bytes > 0 && row.bytes <= bounds.maxMessageBytes;
}

/**
 * The messages to be enqueued for rows: those we do not have yet, with their texts. Throws Outage where the
 * mailbox or our database is not available.
 */
export async function readMessages(
  database: Queryable,
  mailbox: Mailbox,
  rows: readonly MailboxRow[],
  bounds: IntakeBounds,
): Promise<readonly ReadMessage[]> {
  const known = await selectKnownIds(
    database,
    rows.map(({ id }) => id),
  );
  const wanted = rows.filter(({ id }) => !known.has(id));
  const readable = wanted.filter((row) => isReadable(row, bounds)).map(({ id }) => id);
  const texts = readable.length === 0 ? new Map<bigint, string | null>() : await mailbox.texts(readable);
  const messages: ReadMessage[] = [];
  for (const row of wanted) {
    const text = texts.get(row.id);
    const packed = await pack(row, text, bounds);
    messages.push({
      id: row.id,
      receivedAt: row.receivedAt,
      marked: row.marked,
      packed,
      text: packed === null || packed.body === null ? null : (text ?? null),
    });
  }
  return messages;
}

/** NULL and empty texts, and rows deleted since, keep nothing: the pump looks once more, then raw-missing. */
async function pack(
  row: MailboxRow,
  text: string | null | undefined,
  bounds: IntakeBounds,
): Promise<PackedText | null> {
  if (row.bytes !== null && row.bytes > bounds.maxMessageBytes) return packLength(row.bytes);
  if (text === null || text === undefined || text === '') return null;
  const packed = await packText(text);
  return packed.bytes > bounds.maxMessageBytes ? packLength(packed.bytes) : packed;
}
