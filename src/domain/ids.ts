/**
 * Identifiers. Mailbox, event and epoch IDs are 64-bit and therefore BigInt, never numbers: a JavaScript
 * number silently rounds above 2^53 (decisions.md, "Watermark details"). They become decimal text at every
 * JSON border and are passed to PostgreSQL as they are.
 */
declare const brand: unique symbol;

/** ID of a message: the mailbox's CMINMSGS_ID (seed §1, PROC_STATE.MSG_ID). */
export type MsgId = bigint & { readonly [brand]: 'MsgId' };
/** ID of an outgoing event; its order is the delivery order (seed §8.1). */
export type EventId = bigint & { readonly [brand]: 'EventId' };
/** The upstream's flight ID: decimal text, compared as text (dialect.md, "FLID"). */
export type Flid = string & { readonly [brand]: 'Flid' };

/** Highest value of a signed 64-bit column. */
export const MAX_ID = 9_223_372_036_854_775_807n;

/** Reads a decimal text or BigInt as a message ID. Throws RangeError where it is no non-negative 64-bit integer. */
export function msgId(value: string | bigint): MsgId {
  return id(value) as MsgId;
}

/** Reads a decimal text or BigInt as an event ID. Throws RangeError like {@link msgId}. */
export function eventId(value: string | bigint): EventId {
  return id(value) as EventId;
}

/** Marks a text as a flight ID; the dialect has checked its form. */
export function flid(value: string): Flid {
  return value as Flid;
}

function id(value: string | bigint): bigint {
  const parsed = typeof value === 'bigint' ? value : /^\d{1,19}$/.test(value) ? BigInt(value) : -1n;
  if (parsed < 0n || parsed > MAX_ID) throw new RangeError(`not a 64-bit ID: ${String(value).slice(0, 40)}`);
  return parsed;
}
