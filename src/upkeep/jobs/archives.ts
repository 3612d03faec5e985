/** The two archives (decisions.md, "Archives"): copy, count, delete in one transaction. */
import { messageEventBody } from '../../domain/event.ts';
import { emptyRegisters } from '../../domain/merge.ts';
import { flid as flidOf, msgId } from '../../domain/ids.ts';
import { airportTime } from '../../runtime/airport-time.ts';
import {
  archiveFlights,
  countPendingEvents,
  selectOldFlights,
  type OldFlight,
} from '../../store/flight-archive.ts';
import { archiveMessages, selectMessageStretch } from '../../store/message-archive.ts';
import { insertMessageEvents, type NewMessageEvent } from '../../store/msg-event.ts';
import { upsertLatestStates } from '../../store/schd-event.ts';
import { toTimestamp } from '../../store/time.ts';
import { STRETCH_ROWS, dayBefore, walking, type JobContext, type Run } from './job.ts';
import { nextSize } from './schedule.ts';

/** Aim for a transaction that holds pipeline_lock, ms: far below the 100 ms that it may hold it. */
const FLIGHTS = { aimMs: 25, least: 1, most: 200 };
const FLIGHTS_FIRST = 25;
/** Undelivered events from which on flights are not archived: delivery is behind. */
const MOST_PENDING = 5_000;

/** Archives flights, telling the deletion of those that no FDEL has deleted. */
export function flightRun(context: JobContext): Run {
  const { database, fence, clock, retention } = context;
  let size = FLIGHTS_FIRST;
  return {
    async batch(progress) {
      // It gives way to other jobs too: the target may be away for long.
      if ((await countPendingEvents(database, MOST_PENDING)) >= MOST_PENDING)
        return { rows: 0, end: 'for-now' };
      const age = {
        day: dayBefore(context, retention.flightsMs),
        updatedBefore: clock.now() - retention.flightsMs,
      };
      const asked = size;
      const flights = await selectOldFlights(database, age, asked);
      if (flights.length === 0) return { rows: 0, end: 'nothing-left' };
      let heldAt = 0;
      const rows = await database.transaction(
        async (tx) => {
          heldAt = performance.now();
          const now = clock.now();
          const moved = await archiveFlights(tx, flights, now);
          const told = flights.filter(({ flid, deleted }) => moved.has(flid) && !deleted);
          const events = told.map((flight) => tombstone(context, flight, now));
          await insertMessageEvents(tx, events, toTimestamp(now));
          await upsertLatestStates(tx, events, toTimestamp(now));
          await progress(tx, moved.size);
          return moved.size;
        },
        // The pump decides ahead on what it has read: the generation tells it that flights have gone.
        { fence, exclusive: 'others' },
      );
      size = nextSize(size, performance.now() - heldAt, FLIGHTS);
      return { rows, end: flights.length < asked ? 'nothing-left' : null };
    },
  };
}

function tombstone(
  { timeZone, publication }: JobContext,
  { flid, version, operationDay: day }: OldFlight,
  now: number,
): NewMessageEvent {
  const record = {
    // A tombstone tells no state.
    ...emptyRegisters(flidOf(flid)),
    ...{ version: version + 1, operationDay: day, deleted: true, lastMsgId: msgId(0n) },
    updatedAt: airportTime(now, timeZone),
  };
  const body = messageEventBody(record, { type: 'TOMBSTONE', changed: ['deleted'] }, null, publication);
  const names = publication.names === undefined ? {} : { names: {} };
  return {
    ...{ flid, eventType: 'TOMBSTONE', stateVersion: version + 1, msgId: null },
    body: JSON.stringify({ ...body, ...names }),
  };
}

/** Archives messages that ended long ago and whose mark is settled. */
export function messageRun({ database, fence, clock, retention }: JobContext): Run {
  return walking(async (after, progress) => {
    const before = clock.now() - retention.procStateMs;
    const { ready, ...stretch } = await selectMessageStretch(database, after, before, STRETCH_ROWS);
    if (ready.length === 0) return { ...stretch, rows: 0 };
    const rows = await database.transaction(
      async (tx) => {
        const moved = await archiveMessages(tx, ready, before, clock.now());
        await progress(tx, moved);
        return moved;
      },
      { fence },
    );
    return { ...stretch, rows };
  });
}
