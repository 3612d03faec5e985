/**
 * The end of a restore. When everything forgotten has been processed again, some flights still stand at or below a
 * version that consumers know: a message of theirs came out differently or is gone. Each gets one more version with its
 * state as it is, so that consumers end where the database is.
 */
import { messageEventBody, type Publication } from '../../domain/event.ts';
import type { FlightRecord } from '../../domain/flight.ts';
import { codesOf, namesOf } from '../../domain/names.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Mailbox } from '../../mailbox/port.ts';
import { airportTime } from '../../runtime/airport-time.ts';
import type { Log } from '../../runtime/log.ts';
import { writeBatch } from '../../store/batch.ts';
import type { Database } from '../../store/database.ts';
import { selectFlights } from '../../store/flight.ts';
import { readCursor } from '../../store/inbox-cursor.ts';
import type { NewMessageEvent } from '../../store/msg-event.ts';
import { selectRecords } from '../../store/reference-names.ts';
import {
  hasRestoredUnfinished,
  restoreCeiling,
  selectUnsettled,
  settleFloors,
  type ToldVersion,
} from '../../store/restore.ts';
import { toTimestamp } from '../../store/time.ts';
import { heldGeneration, type Fence, type Transaction } from '../../store/transaction.ts';

/** Flights of one transaction. */
const BATCH = 100;

export interface SettleContext {
  readonly database: Database;
  readonly mailbox: Pick<Mailbox, 'bounds'>;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  /** IANA name. */
  readonly timeZone: string;
  readonly publication: Publication;
  readonly profileHash: string;
}

/** One batch. `done` where nothing is left, `waiting` while forgotten messages are. Throws Outage and LostLease. */
export async function settle(context: SettleContext): Promise<'done' | 'waiting' | 'more'> {
  const { database, mailbox, fence } = context;
  if ((await selectUnsettled(database, 1)).length === 0) return 'done';
  if (await hasRestoredUnfinished(database)) return 'waiting';
  const ceiling = await restoreCeiling(database);
  const { watermark } = await readCursor(database);
  if (watermark < ceiling) {
    // Rows that the mailbox has lost since are not waited for.
    const bounds = await mailbox.bounds();
    if (bounds !== null && watermark < bounds.max) return 'waiting';
  }
  const left = await database.transaction((tx) => settleBatch(context, tx), { fence, exclusive: 'others' });
  return left ? 'more' : 'done';
}

async function settleBatch(context: SettleContext, tx: Transaction): Promise<boolean> {
  const { clock, log, timeZone, publication, profileHash } = context;
  const floors = await selectUnsettled(tx, BATCH);
  const flights = await selectFlights(
    tx,
    floors.map(({ flid }) => flid),
    timeZone,
  );
  const now = clock.now();
  const at = toTimestamp(now);
  const behind: FlightRecord[] = [];
  const gone: ToldVersion[] = [];
  for (const floor of floors) {
    const flight = flights.get(floor.flid);
    if (flight === undefined || flight.archived) {
      if (flight === undefined || flight.record.version <= floor.version) gone.push(floor);
    } else if (flight.record.version <= floor.version) {
      behind.push({ ...flight.record, version: floor.version + 1, updatedAt: airportTime(now, timeZone) });
    }
  }
  const { names: rules } = publication;
  const codes = rules === undefined ? [] : behind.flatMap(({ state }) => codesOf(state, rules));
  const recordOf = rules === undefined ? null : await selectRecords(tx, codes);
  const eventOf = (record: FlightRecord): NewMessageEvent => {
    const type = record.deleted ? 'TOMBSTONE' : 'UPSERT';
    const body = messageEventBody(record, { type, changed: [] }, null, publication);
    const names =
      rules === undefined || recordOf === null
        ? {}
        : { names: record.deleted ? {} : namesOf(record.state, rules, recordOf) };
    return {
      flid: record.flid,
      eventType: type,
      stateVersion: record.version,
      msgId: null,
      body: JSON.stringify({ ...body, ...names }),
    };
  };
  const events = behind.map(eventOf);
  await writeBatch(
    tx,
    {
      flights: behind,
      events,
      latestStates: events.map(({ flid, eventType, stateVersion }) => ({
        flid,
        eventType,
        stateVersion,
        msgId: null,
      })),
      flightMessages: [],
      terminals: [],
    },
    { at, profileHash, generation: await heldGeneration(tx), name: 'restore', behind: null },
    async () => undefined,
  );
  await settleFloors(
    tx,
    floors.map(({ flid }) => flid),
    now,
  );
  if (behind.length > 0) {
    log.warn(
      { flights: behind.length, flids: behind.slice(0, 20).map(({ flid }) => flid) },
      'after the restore: flights whose messages did not bring them beyond what consumers know are told as they are, in a version of their own',
    );
  }
  if (gone.length > 0) {
    log.error(
      { flights: gone.length, flids: gone.slice(0, 20).map(({ flid }) => flid) },
      'after the restore: consumers know flights of which neither the database nor the mailbox has anything left; see the runbook, "Restore from backup"',
    );
  }
  return floors.length === BATCH;
}
