/** Messages of ours in COUTMSGS that our database does not know. */
import type { Dialect } from '../../dialect/port.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import type { Queryable } from '../../store/statement.ts';
import { knownOutbound } from '../../store/restore.ts';

const PAGE = 200;
/** Newest rows looked at: what went out since a backup is far less. */
const ROWS = 2_000n;

/** What COUTMSGS holds of ours beyond what is known. */
export interface ForgottenOutbound {
  /** Our last SEQN by the database. */
  readonly known: number;
  /** SEQN of the newest row of ours that is not known; null where all are. */
  readonly newest: number | null;
  readonly messages: number;
}

/** Looks through the newest rows above the highest one known. Throws Outage. @param sender our SNDR */
export async function forgottenOutbound(
  db: Queryable,
  mailbox: Pick<Mailbox, 'withOutbound'>,
  dialect: Dialect,
  sender: string,
): Promise<ForgottenOutbound> {
  return mailbox.withOutbound(async (outbound) => {
    const { id, last, sequences } = await knownOutbound(db);
    const highest = await outbound.highest();
    let newest: number | null = null;
    let messages = 0;
    let after = highest - ROWS > id ? highest - ROWS : id;
    while (after < highest) {
      const rows = await outbound.rowsAfter(after, PAGE);
      for (const { text } of rows) {
        const decoded = text === null ? null : dialect.decode(text);
        const header = decoded?.outcome === 'decoded' ? decoded.message.header : decoded?.header;
        if (header?.sender !== sender || header.sequence === undefined) continue;
        if (sequences.has(header.sequence)) continue;
        const sequence = Number(header.sequence);
        if (!Number.isInteger(sequence) || sequence < 1 || sequence > 999_999) continue;
        newest = sequence;
        messages += 1;
      }
      const place = rows.at(-1);
      if (place === undefined) break;
      after = place.id;
    }
    return { known: last, newest, messages };
  });
}
