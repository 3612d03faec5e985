/** Messages put straight into the queue, as the inbox would have. */
import { enqueueMessages } from '../../src/store/enqueue.ts';
import { packLength, packText } from '../../src/store/raw-message.ts';
import type { TestDatabase } from './postgres.ts';

/** A text; null where the mailbox row had none at intake; a number for one over the size limit, of that length. */
export type IntakeText = string | number | null;

export interface IntakeOptions {
  /** First ID; default: after W. */
  readonly from?: bigint;
  /** ms; default 0. */
  readonly now?: number;
  readonly late?: boolean;
  readonly shadow?: boolean;
  /** Moves W to the last ID; default true. */
  readonly moveWatermark?: boolean;
}

/** Enqueues messages with consecutive IDs and moves W over them. Gives the IDs. */
export async function intake(
  { database, client }: TestDatabase,
  texts: readonly IntakeText[],
  options: IntakeOptions = {},
): Promise<readonly bigint[]> {
  const { rows } = await client.query<{ watermark: string }>('select watermark from inbox_cursor');
  const watermark = BigInt(rows[0]?.watermark ?? '0');
  const from = options.from ?? watermark + 1n;
  const ids = texts.map((_, index) => from + BigInt(index));
  const messages = await Promise.all(
    texts.map(async (text, index) => ({
      id: from + BigInt(index),
      receivedAt: null,
      marked: false,
      packed: text === null ? null : typeof text === 'number' ? packLength(text) : await packText(text),
    })),
  );
  await database.transaction((tx) =>
    enqueueMessages(tx, messages, {
      now: options.now ?? 0,
      late: options.late ?? false,
      shadow: options.shadow ?? false,
    }),
  );
  const last = ids.at(-1) ?? watermark;
  if ((options.moveWatermark ?? true) && last > watermark) {
    await client.query('update inbox_cursor set watermark = $1', [last.toString()]);
  }
  return ids;
}

const TABLES = [
  'proc_state',
  'proc_state_hst',
  'message_identity',
  'raw_message',
  'inbox_hole',
  'flight_schd',
  'flight_schd_hst',
  'flight_message',
  'msg_event',
  'ref_master',
  'ref_floor',
  'ref_history',
  'schd_snap_log',
  'req_track',
  'error_report',
  'op_audit',
] as const;

/** Empties every table of the pipeline and sets W back to 0: a new database in a tenth of the time. */
export async function emptyTables({ client }: TestDatabase): Promise<void> {
  // Deleting a few rows is much cheaper than truncating them all.
  for (const table of TABLES) await client.query(`delete from ${table}`);
  await client.query('alter sequence terminal_seq restart');
  await client.query(`update inbox_cursor set watermark = 0, hole_since = null, seeded_at = null, seed = 0`);
}
