/**
 * Have the mailbox's IDs started again? An empty or purged mailbox is normal; a row at or below W that is not
 * the one we read is not (decisions.md, "Watermark details").
 */
import { timingSafeEqual } from 'node:crypto';
import { msgId } from '../domain/ids.ts';
import type { Mailbox } from '../mailbox/port.ts';
import type { Queryable } from '../store/statement.ts';
import { hashText, selectNewestKnown } from '../store/raw-message.ts';
import { InboxFault } from './fault.ts';

/** Rows compared: the newest we know at or below W that the mailbox may still have. */
const ROWS = 16;
/** Texts above are not compared: 16 of them would be a lot of memory for a check. */
const COMPARED_BYTES = 262_144n;

/**
 * Compares the newest known rows with the mailbox. Throws InboxFault where one differs, Outage where the
 * mailbox or our database is not available.
 */
export async function checkRestartedIds(
  database: Queryable,
  mailbox: Mailbox,
  watermark: bigint,
): Promise<void> {
  const bounds = await mailbox.bounds();
  if (bounds === null) return;
  // After a restart the mailbox's IDs are small: compare from its own highest downwards.
  const upTo = bounds.max < watermark ? bounds.max : watermark;
  const known = await selectNewestKnown(database, upTo, ROWS);
  if (known.length === 0) return;
  const rows = await mailbox.rowsIn(known.map(({ id }) => ({ from: msgId(id), to: msgId(id) })).reverse());
  const marked = new Map(rows.map((row) => [row.id as bigint, row.marked]));
  const unmarked = known.find(({ id, marked: confirmed }) => confirmed && marked.get(id) === false);
  if (unmarked !== undefined) throw restarted(unmarked.id, 'its mark, which we have seen, is gone');
  const comparable = known.filter(
    ({ id, sha256, bytes }) => marked.has(id) && sha256 !== null && (bytes ?? 0n) <= COMPARED_BYTES,
  );
  if (comparable.length === 0) return;
  const texts = await mailbox.texts(comparable.map(({ id }) => id));
  for (const { id, sha256 } of comparable) {
    const text = texts.get(id);
    // A text set to NULL since is a purge of its own kind, not another message.
    if (text === undefined || text === null || sha256 === null) continue;
    if (!timingSafeEqual(hashText(text), sha256)) throw restarted(id, 'its text is not the one we read');
  }
}

function restarted(id: bigint, why: string): InboxFault {
  return new InboxFault(
    'ids-restarted',
    `the mailbox's IDs seem to have started again: row ${id.toString()} is at or below the watermark and ${why}. ` +
      'Nothing is read until somebody has looked: a mailbox that begins anew needs a database schema of its own',
  );
}
