/** From a fold to a record: version, times and the event (dialect.md, "Merge rules"). */
import type { FlightChange, FlightEvent, FlightRecord } from './flight.ts';
import type { Flid, MsgId } from './ids.ts';
import { emptyRegisters, foldEffect, type Fold } from './merge.ts';
import type { NetEffect } from './net-effect.ts';
import { operationDay } from './operation-day.ts';

/** Circumstances of a change. */
export interface Moment {
  /** ISO 8601, airport offset, seconds: `updatedAt` of a new version. */
  readonly now: string;
  /** HH:mm, decides the operation day of a new flight. */
  readonly cutoff: string;
  /** A version that consumers already know of a flight, from before a restore; 0 or absent where there is none. */
  readonly versionFloor?: ((flid: Flid) => number) | undefined;
}

/** A change of one flight and the warnings that came with it. */
export interface Applied {
  readonly change: FlightChange;
  readonly unmatchedStands: number;
}

/**
 * Applies a message's effect to a flight, known or new. Visible is what changes a flight that is not deleted,
 * its deletion and its reinstatement: that makes version + 1 and one event. What is written behind a deletion
 * is stored and makes neither.
 *
 * @throws Error where a new flight comes without a scheduled time: the dialect has refused such a record
 */
export function applyEffect(
  before: FlightRecord | null,
  flid: Flid,
  msgId: MsgId,
  effect: NetEffect,
  moment: Moment,
): Applied {
  const fold = foldEffect(before ?? emptyRegisters(flid), msgId, effect);
  const change =
    before === null ? created(fold, flid, msgId, effect, moment) : updated(before, fold, msgId, moment);
  return { change, unmatchedStands: fold.unmatchedStands };
}

function created(fold: Fold, flid: Flid, msgId: MsgId, effect: NetEffect, moment: Moment): FlightChange {
  const scheduledTime = effect.scalars.get('scheduledTime');
  if (typeof scheduledTime !== 'string') throw new Error(`new flight ${flid} without a scheduled time`);
  return {
    after: {
      ...registersOf(fold),
      version: nextVersion(0, flid, moment),
      operationDay: operationDay(scheduledTime, moment.cutoff),
      lastMsgId: msgId,
      updatedAt: moment.now,
    },
    stored: true,
    event: { type: 'UPSERT', changed: fold.changed },
    superseded: fold.superseded,
  };
}

function updated(before: FlightRecord, fold: Fold, msgId: MsgId, moment: Moment): FlightChange {
  if (!fold.stored) return { after: before, stored: false, event: null, superseded: fold.superseded };
  const event = eventOf(before, fold);
  return {
    after: {
      ...registersOf(fold),
      version: event === null ? before.version : nextVersion(before.version, before.flid, moment),
      operationDay: before.operationDay,
      // The newest message in the flight, not the one that ran last: the same in whatever order they ran.
      lastMsgId: before.lastMsgId > msgId ? before.lastMsgId : msgId,
      updatedAt: event === null ? before.updatedAt : moment.now,
    },
    stored: true,
    event,
    superseded: fold.superseded,
  };
}

/** Above what is stored and above what consumers have seen. */
function nextVersion(version: number, flid: Flid, { versionFloor }: Moment): number {
  return Math.max(version, versionFloor?.(flid) ?? 0) + 1;
}

function registersOf({ after }: Fold): Pick<FlightRecord, 'flid' | 'state' | 'stamps' | 'deleted'> {
  return { flid: after.flid, state: after.state, stamps: after.stamps, deleted: after.deleted };
}

function eventOf(before: FlightRecord, fold: Fold): FlightEvent | null {
  if (fold.after.deleted) return before.deleted ? null : { type: 'TOMBSTONE', changed: fold.changed };
  return fold.changed.length === 0 ? null : { type: 'UPSERT', changed: fold.changed };
}
