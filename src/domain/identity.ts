/** The business identity of a message (seed §2; decisions.md, "Identities"). */
import type { Header } from './message.ts';

/**
 * SNDR|TYPE|STYP|SEQN, with the local date of DTTM as written where day boundaries count: the sender's counter
 * wraps. Only SNDR could hold a bar itself, and it stands first, so two identities never read the same.
 */
export function identityOf(header: Header, includeDayBoundary: boolean): string {
  const { sender, type, subtype, sequence, dttm } = header;
  const identity = `${sender}|${type}|${subtype}|${sequence}`;
  return includeDayBoundary ? `${identity}|${dttm.slice(0, 10)}` : identity;
}
