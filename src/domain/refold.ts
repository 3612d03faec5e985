/**
 * The audit's view of a flight (contract, invariant 7): the messages recorded as applied to it, folded by stamps
 * in whatever order they come. Outcomes are recorded facts and not decided again; the fold is the live one.
 */
import type { FlightState, Stamps } from './flight.ts';
import type { Flid, MsgId } from './ids.ts';
import { emptyRegisters, foldEffect } from './merge.ts';
import type { DecodedMessage } from './message.ts';
import { effectOn } from './net-effect.ts';
import { operationDay } from './operation-day.ts';

/** A message that SUCCEEDED and was applied to the flight. */
export interface RefoldEntry {
  readonly msgId: MsgId;
  readonly message: DecodedMessage;
}

/** What the flight must be. */
export interface Refolded {
  readonly state: FlightState;
  readonly stamps: Stamps;
  readonly deleted: boolean;
  /** Null where none of the messages was a schedule: the messages cannot be all. */
  readonly operationDay: string | null;
  /** The newest message that wrote anything; null where none did. */
  readonly lastMsgId: MsgId | null;
}

/**
 * Folds messages into the flight they were applied to; messages that do not name it are passed over.
 *
 * @param cutoff HH:mm under which the messages were judged
 */
export function refold(flid: Flid, entries: readonly RefoldEntry[], cutoff: string): Refolded {
  let registers = emptyRegisters(flid);
  let day: string | null = null;
  let lastMsgId: MsgId | null = null;
  for (const { msgId, message } of entries) {
    const effect = effectOn(message, flid);
    if (effect === null) continue;
    const fold = foldEffect(registers, msgId, effect);
    registers = fold.after;
    if (fold.stored && (lastMsgId === null || msgId > lastMsgId)) lastMsgId = msgId;
    const scheduledTime = effect.scalars.get('scheduledTime');
    if (message.body.kind === 'schedule' && typeof scheduledTime === 'string') {
      day ??= operationDay(scheduledTime, cutoff);
    }
  }
  const { state, stamps, deleted } = registers;
  return { state, stamps, deleted, operationDay: day, lastMsgId };
}
