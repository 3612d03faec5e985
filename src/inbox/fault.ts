/** What stops the inbox for good: an operator has to decide or repair something. */

export type InboxFaultKind =
  /** The cursor is not seeded and the mailbox does not begin at 1: somebody has to choose. */
  | 'seeding-refused'
  /** The mailbox's IDs have started again: what is there is not what we read. */
  | 'ids-restarted';

/** Thrown by the stations of the inbox; the loop must stop and say so, a retry is no use. */
export class InboxFault extends Error {
  override readonly name = 'InboxFault';
  readonly kind: InboxFaultKind;

  constructor(kind: InboxFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
