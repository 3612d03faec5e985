/** What both kinds of outbound message have in common: our SEQN, and what is known of their insert into COUTMSGS. */
import { statement, type Queryable } from './statement.ts';
import { toMillis } from './time.ts';

/** A try of an insert into COUTMSGS. */
export interface Attempt {
  /** Our SEQN. */
  readonly sequence: string;
  /** Highest COUTMSGS_ID before the first try. */
  readonly rememberedId: bigint;
  /** Just before the newest try, ms. */
  readonly sentAt: number;
}

/** Columns of an {@link Attempt} in a row, all null before the first. */
export interface AttemptColumns {
  readonly seqn: number | null;
  readonly rememberedId: bigint | null;
  readonly sentAt: string | null;
}

export const ATTEMPT_COLUMNS = `seqn, remembered_id as "rememberedId", sent_at as "sentAt"`;

/** The attempt of a row; null where there was none. */
export function attemptOf({ seqn, rememberedId, sentAt }: AttemptColumns): Attempt | null {
  if (seqn === null || rememberedId === null || sentAt === null) return null;
  return { sequence: String(seqn), rememberedId, sentAt: toMillis(sentAt) };
}

const NEXT = statement(
  'outbound.nextSequence',
  // One row. After 999999 comes 1 again.
  `update outbound_counter set last = last % 999999 + 1 returning last`,
);

/** Our next SEQN. */
export async function nextSequence(tx: Queryable): Promise<string> {
  const [row] = await tx.query<{ last: number }>(NEXT);
  if (row === undefined) throw new Error('the row of outbound_counter is missing');
  return String(row.last);
}
