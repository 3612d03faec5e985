/** What a decision is made from, and what has to be read before it can be made. */
import type { FlightRecord } from '../flight.ts';
import type { Flid, MsgId } from '../ids.ts';
import type { DecodedMessage, ReferenceRecord } from '../message.ts';
import { effectsOf } from '../net-effect.ts';
import type { ReferenceType } from '../reference.ts';
import type { OpenRequest } from '../request.ts';

/** A message and the world it meets. The look-ups show every change of earlier messages of the same batch. */
export interface DecisionInput {
  readonly msgId: MsgId;
  readonly message: DecodedMessage;
  /** The flight as stored, deleted or archived ones included; null where it was never known. */
  readonly flight: (flid: Flid) => FlightRecord | null;
  /** The type as stored: floor and rows, as far as {@link referenceNamed} asks for them. */
  readonly reference: (rtype: string) => ReferenceType;
  /** ISO 8601, airport offset, seconds: `updatedAt` of new versions. */
  readonly now: string;
  /** HH:mm (contract, `operation-day-cutoff`). */
  readonly cutoff: string;
  /** Versions told before a restore (decisions.md, "Restore from backup"): the next version lies above. */
  readonly versionFloor?: ((flid: Flid) => number) | undefined;
  /** The requests that wait for an answer now (seed §7.1). Matters for RESP alone. */
  readonly openRequests: readonly OpenRequest[];
  /** ms (contract, `requests.clock-skew`). */
  readonly clockSkewMs: number;
  /** Whether a DNLD or RESP of reference data may carry no record. */
  readonly allowEmptyReference: boolean;
}

/** The flights a message names, in order of first appearance. */
export function flightsNamed(message: DecodedMessage): readonly Flid[] {
  return [...effectsOf(message).keys()];
}

/** What a message needs of reference data. */
export interface ReferenceNamed {
  readonly rtype: string;
  /** Null where the whole type is needed. */
  readonly keys: readonly string[] | null;
  /** What the message brings: rows that hold the same need not be held twice. */
  readonly records: readonly ReferenceRecord[];
}

/** The reference rows a message needs: null for other messages. */
export function referenceNamed(message: DecodedMessage): ReferenceNamed | null {
  const { body } = message;
  if (body.kind !== 'reference') return null;
  const { rtype, operation, records } = body;
  const whole = operation === 'DNLD' || operation === 'RESP';
  return { rtype, keys: whole ? null : [...new Set(records.map((record) => record.key))], records };
}
