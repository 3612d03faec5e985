/**
 * Writes one message into COUTMSGS exactly once (decisions.md, "Requests"). The try is noted in our database before
 * the insert and confirmed after it; where the confirmation is missing, the row is looked for by our SEQN before the
 * message is sent again. All of it happens under the named lock: whoever holds it knows of every insert before.
 */
import { failpoint } from '#failpoint';
import { setImmediate } from 'node:timers/promises';
import type { OutboundMessage } from '../dialect/port.ts';
import { decodePausing } from '../dialect/steps.ts';
import type { Outbound } from '../mailbox/port.ts';
import { airportTime } from '../runtime/airport-time.ts';
import type { Queryable } from '../store/statement.ts';
import type { Attempt } from '../store/outbound.ts';
import type { RequestsContext } from './context.ts';

/** Rows looked at in one statement. */
const PAGE = 200;

/** A message, and how its record notes what became of it. */
export interface Outgoing {
  readonly message: OutboundMessage;
  readonly sender: string;
  readonly routing: string | null;
  /** The try whose result is not known; null before the first. */
  readonly attempt: Attempt | null;
  /** False where it is only looked for: nobody wants it any more, or it has its answer. */
  readonly wanted: boolean;
  /** Notes a try; null where it is not wanted any more. */
  note(
    tx: Queryable,
    facts: { readonly rememberedId: bigint; readonly now: number; readonly lookAt: number },
  ): Promise<Attempt | null>;
  confirm(tx: Queryable, outId: bigint): Promise<void>;
  /** It is not there and not wanted. */
  forget(tx: Queryable): Promise<void>;
}

/** How it went. */
export type Sent = 'sent' | 'found' | 'absent' | 'not-wanted';

/** Sends or finds a message. Throws Outage, LostLease, or the error by which the mailbox refuses the message. */
export async function sendOnce(context: RequestsContext, item: Outgoing): Promise<Sent> {
  const { database, fence, mailbox } = context;
  failpoint('outbound.chosen');
  const result = await mailbox.withOutbound((outbound) => write(context, item, outbound));
  // Only now is the row committed.
  const { outId } = result;
  if (outId !== null) {
    failpoint('outbound.committed');
    await database.transaction(
      async (tx) => {
        await item.confirm(tx, outId);
        failpoint('outbound.confirming');
      },
      { fence },
    );
    failpoint('outbound.confirmed');
  } else if (result.sent === 'absent') {
    failpoint('outbound.forgetting');
    await database.transaction((tx) => item.forget(tx), { fence });
    failpoint('outbound.forgotten');
  }
  return result.sent;
}

async function write(
  context: RequestsContext,
  item: Outgoing,
  outbound: Outbound,
): Promise<{ readonly sent: Sent; readonly outId: bigint | null }> {
  const { database, fence, clock, dialect, timeZone, mailboxTimeoutMs } = context;
  failpoint('outbound.locked');
  if (item.attempt !== null) {
    failpoint('outbound.looking');
    const outId = await find(context, outbound, item.sender, item.attempt);
    failpoint('outbound.looked');
    if (outId !== null) return { sent: 'found', outId };
  }
  if (!item.wanted) return { sent: 'absent', outId: null };
  const rememberedId = item.attempt?.rememberedId ?? (await outbound.highest());
  // Fenced, and under the lock: a former active that wakes up here finds that its epoch is over.
  const now = clock.now();
  const attempt = await database.transaction(
    async (tx) => {
      const noted = await item.note(tx, { rememberedId, now, lookAt: now + mailboxTimeoutMs });
      failpoint('outbound.noting');
      return noted;
    },
    { fence },
  );
  failpoint('outbound.noted');
  if (attempt === null) return { sent: 'not-wanted', outId: null };
  const header = { sender: item.sender, sequence: attempt.sequence, dttm: airportTime(now, timeZone) };
  const outId = await outbound.insert(dialect.encode(header, item.message), item.routing);
  failpoint('outbound.inserted');
  return { sent: 'sent', outId };
}

/**
 * The row with our SNDR and SEQN above the remembered ID; null where there is none. Below it an older message may
 * carry the same SEQN, because the counter wraps.
 */
async function find(
  { dialect }: RequestsContext,
  outbound: Outbound,
  sender: string,
  attempt: Attempt,
): Promise<bigint | null> {
  let after = attempt.rememberedId;
  for (;;) {
    const rows = await outbound.rowsAfter(after, PAGE);
    for (const { id, text } of rows) {
      if (text === null) continue;
      const outcome = await decodePausing(dialect, text, async () => setImmediate());
      const header = outcome.outcome === 'decoded' ? outcome.message.header : outcome.header;
      if (header?.sender === sender && header.sequence === attempt.sequence) return id;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return null;
    after = last.id;
  }
}
