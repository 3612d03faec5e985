/** Messages in COUTMSGS that our own database wrote in a life that it has forgotten. */
import { setImmediate } from 'node:timers/promises';
import type { Dialect } from '../../dialect/port.ts';
import { decodePausing } from '../../dialect/steps.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import { readCursor } from '../../store/inbox-cursor.ts';
import { knownOutbound } from '../../store/restore.ts';
import type { Queryable } from '../../store/statement.ts';

const PAGE = 200;
/** Newest rows looked at: what went out since a backup is far less. */
const ROWS = 2_000n;
/** SEQN runs from 1 to this one, then from 1 again. */
const RING = 999_999;

/** Who we are in COUTMSGS, and how far clocks may be apart. */
export interface OutboundIdentity {
  readonly dialect: Dialect;
  /** Our SNDR. */
  readonly sender: string;
  /** ms (contract, `requests.clock-skew`). */
  readonly clockSkewMs: number;
}

/** What COUTMSGS holds of ours beyond what is known. */
export interface ForgottenOutbound {
  /** Our last SEQN by the database; 0 before the first. */
  readonly known: number;
  /** The furthest SEQN ahead of it that has been given; null where none has. */
  readonly newest: number | null;
  readonly messages: number;
}

/**
 * Looks through the newest rows above the highest one known. A row with our SNDR is forgotten where its DTTM is not
 * before the seed and its SEQN is ahead of ours: rows of a former sender, and those of a former round of the counter,
 * are neither (docs/decisions.md). Before the seed nothing can have been forgotten. Throws Outage.
 */
export async function forgottenOutbound(
  db: Queryable,
  mailbox: Pick<Mailbox, 'withOutbound'>,
  { dialect, sender, clockSkewMs }: OutboundIdentity,
): Promise<ForgottenOutbound> {
  const { seededAt } = await readCursor(db);
  if (seededAt === null) return { known: (await knownOutbound(db)).last, newest: null, messages: 0 };
  // A DTTM has no fraction of a second.
  const since = seededAt - clockSkewMs - 1_000;
  return mailbox.withOutbound(async (outbound) => {
    const { id, last } = await knownOutbound(db);
    const highest = await outbound.highest();
    let furthest = 0;
    let messages = 0;
    let after = highest - ROWS > id ? highest - ROWS : id;
    while (after < highest) {
      const rows = await outbound.rowsAfter(after, PAGE);
      for (const { text } of rows) {
        const header = text === null ? null : await headerOf(dialect, text);
        if (header?.sender !== sender || !(Date.parse(header.dttm ?? '') >= since)) continue;
        const ahead = stepsAhead(last, header.sequence ?? '');
        if (ahead === 0) continue;
        furthest = Math.max(furthest, ahead);
        messages += 1;
      }
      const place = rows.at(-1);
      if (place === undefined) break;
      after = place.id;
    }
    return { known: last, newest: furthest === 0 ? null : ((last + furthest - 1) % RING) + 1, messages };
  });
}

async function headerOf(dialect: Dialect, text: string) {
  const outcome = await decodePausing(dialect, text, async () => setImmediate());
  return outcome.outcome === 'decoded' ? outcome.message.header : outcome.header;
}

/** Steps of the counter to a SEQN: at most half a round, 0 where it lies at or behind the counter. */
function stepsAhead(last: number, sequence: string): number {
  const number = Number(sequence);
  if (!Number.isInteger(number) || number < 1 || number > RING) return 0;
  const steps = (number - last + RING) % RING;
  return steps <= Math.floor(RING / 2) ? steps : 0;
}
