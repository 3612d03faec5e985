/** Enqueueing: new rows of proc_state with their texts (seed §4.1). All statements go by primary keys. */
import type { Database } from './database.ts';
import type { Queryable } from './statement.ts';
import type { Fence } from './transaction.ts';
import { statement } from './statement.ts';
import { insertTexts, packText, type PackedText } from './raw-message.ts';
import { toTimestamp } from './time.ts';

/** A message to be enqueued. */
export interface NewMessage {
  readonly id: bigint;
  /** ISO 8601; the mailbox's time, for people only. */
  readonly receivedAt: string | null;
  /** The mailbox mark was set already when we read the row. */
  readonly marked: boolean;
  /** Null where there was no text: the pump looks again, then raw-missing. */
  readonly packed: PackedText | null;
}

const SELECT_KNOWN = statement(
  'enqueue.known',
  `select msg_id as id from proc_state where msg_id = any ($1::bigint[])
   union all
   select msg_id from proc_state_hst where msg_id = any ($1::bigint[])`,
);

/** Those of the IDs that were enqueued before, archived ones included. */
export async function selectKnownIds(db: Queryable, ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (ids.length === 0) return new Set();
  return new Set((await db.query<{ id: bigint }>(SELECT_KNOWN, [ids])).map(({ id }) => id));
}

const INSERT = statement(
  'enqueue.insert',
  `insert into proc_state (msg_id, received_at, enqueued_at, marked_at_intake, late, shadow, restored)
   select u.msg_id, u.received_at, $4::timestamptz, u.marked, $5, $6,
     -- Read again after a restore: what the database has forgotten. A handful of rows at most.
     exists (select from restore_note n where n.kind = 'messages' and u.msg_id > n.known and u.msg_id <= n.seen)
   from unnest($1::bigint[], $2::timestamptz[], $3::boolean[]) as u (msg_id, received_at, marked)
   where not exists (select 1 from proc_state_hst h where h.msg_id = u.msg_id)
   on conflict (msg_id) do nothing
   returning msg_id as id`,
);

/**
 * Enqueues messages with their texts and gives the IDs that were new. A message already there is left as it
 * is: repeated reads and the compat entry are harmless (seed §4.1).
 */
export async function enqueueMessages(
  tx: Queryable,
  messages: readonly NewMessage[],
  facts: { readonly now: number; readonly late: boolean; readonly shadow: boolean },
): Promise<readonly bigint[]> {
  if (messages.length === 0) return [];
  const inserted = await tx.query<{ id: bigint }>(INSERT, [
    messages.map(({ id }) => id),
    messages.map(({ receivedAt }) => receivedAt),
    messages.map(({ marked }) => marked),
    toTimestamp(facts.now),
    facts.late,
    facts.shadow,
  ]);
  const texts = messages.flatMap(({ id, packed }) => (packed === null ? [] : [{ id, packed }]));
  await insertTexts(tx, texts, facts.now);
  return inserted.map(({ id }) => id);
}

/**
 * Enqueues one message right after it was written into the mailbox (seed §4.4). Touches neither W nor the
 * holes: the pump takes the row once the poller has reached it. Throws LostLease and Outage like every write.
 */
export async function enqueueDirect(
  db: Database,
  fence: Fence | null,
  message: { readonly id: bigint; readonly text: string; readonly now: number },
): Promise<void> {
  const packed = await packText(message.text);
  await db.transaction(
    async (tx) => {
      await enqueueMessages(tx, [{ id: message.id, receivedAt: null, marked: false, packed }], {
        now: message.now,
        late: false,
        shadow: false,
      });
    },
    { fence },
  );
}
