/**
 * Leaves the person codes of VIPs out of what a dialect decodes (contract, `events.vip-persons`). They are taken
 * out before the state is made, not where events are sent, so that the stored state is exactly the published
 * flight; they remain in the kept message texts alone.
 */
import type { DecodedMessage, DecodeOutcome, FlightPatch } from '../domain/message.ts';
import type { Dialect } from './port.ts';

/**
 * The dialect as the pipeline uses it. Whether persons are kept decides what a message says, so it is part of
 * the profile hash; without them the hash stays the profile's own.
 */
export function withVipPersons(dialect: Dialect, keep: boolean): Dialect {
  if (keep) return variant(dialect, `${dialect.profileHash} vip-persons`, (outcome) => outcome);
  return variant(dialect, dialect.profileHash, (outcome) =>
    outcome.outcome === 'decoded' ? { ...outcome, message: withoutPersons(outcome.message) } : outcome,
  );
}

function variant(
  dialect: Dialect,
  profileHash: string,
  change: (outcome: DecodeOutcome) => DecodeOutcome,
): Dialect {
  return {
    name: dialect.name,
    profileHash,
    referenceTypes: dialect.referenceTypes,
    mailbox: dialect.mailbox,
    ...(dialect.names === undefined ? {} : { names: dialect.names }),
    decode: (text) => change(dialect.decode(text)),
    ...(dialect.decodeInSteps === undefined
      ? {}
      : {
          *decodeInSteps(text: string): Generator<undefined, DecodeOutcome> {
            const steps = dialect.decodeInSteps?.(text);
            if (steps === undefined) return change(dialect.decode(text));
            return change(yield* { [Symbol.iterator]: () => steps });
          },
        }),
    toText: (bytes) => dialect.toText(bytes),
    encode: (header, message) => dialect.encode(header, message),
  };
}

function withoutPersons(message: DecodedMessage): DecodedMessage {
  const { body } = message;
  if (body.kind !== 'schedule' && body.kind !== 'operation') return message;
  if (!body.records.some(namesPersons)) return message;
  const records = body.records.map(({ flid, writes }) => ({
    flid,
    writes: writes.map((write) =>
      write.kind === 'list' && write.field === 'vips'
        ? { ...write, entries: write.entries.map((vip) => ({ ...vip, code: null })) }
        : write,
    ),
  }));
  return { ...message, body: { ...body, records } };
}

function namesPersons({ writes }: FlightPatch): boolean {
  return writes.some((write) => write.kind === 'list' && write.field === 'vips');
}
