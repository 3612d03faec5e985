/** An airport day made up for the console. */
import { SCALARS, COLLECTIONS } from '../../src/domain/fields.ts';
import type { Json } from '../../src/domain/json.ts';
import type { EventRow, FlightRow } from '../../src/console/api/types.ts';

const OFFSET_HOURS = 8;
const MINUTE = 60_000;

/** A moment as flights carry it: airport offset, seconds. */
export function airportTime(at: number): string {
  return new Date(at + OFFSET_HOURS * 60 * MINUTE).toISOString().slice(0, 19) + '+08:00';
}

export const airportDate = (at: number): string => airportTime(at).slice(0, 10);

/** A flight with every field of the catalogue, those not given null or empty. */
export function publishedFlight(flid: string, known: Readonly<Record<string, Json>>): Record<string, Json> {
  const flight: Record<string, Json> = { flid };
  const put = (path: string, value: Json): void => {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let place = flight;
    for (const key of keys) {
      const next = (place[key] ?? {}) as Record<string, Json>;
      place[key] = next;
      place = next;
    }
    place[last] = value;
  };
  for (const { path } of SCALARS) put(path, known[path] ?? null);
  for (const { name } of COLLECTIONS) put(name, known[name] ?? []);
  return flight;
}

const AIRLINES = ['YY', 'CA', 'MU', 'CZ', 'HU', 'SQ', 'LH', '3U'];
const AIRPORTS = ['PEK', 'CAN', 'SHA', 'CTU', 'XMN', 'KMG', 'HKG', 'SIN', 'FRA', 'URC', 'SZX', 'TAO'];
const AIRCRAFT = ['738', '320', '321', '359', '77W', 'E90'];

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** One flight of the day; the same index gives the same flight. */
export function fixtureFlight(index: number, count: number, now: number): FlightRow {
  const midnight = Date.parse(`${airportDate(now)}T00:00:00+08:00`);
  const scheduled = midnight + Math.floor((index * 1439) / count) * MINUTE;
  const airline = pick(AIRLINES, index * 7);
  const number = `${airline}${String(1000 + ((index * 37) % 8000)).padStart(4, '0')}`;
  const movement = index % 2 === 0 ? 'D' : 'A';
  const other = pick(AIRPORTS, index * 5);
  const delay = index % 9 === 0 ? 15 + (index % 70) : (index % 6) - 3;
  const done = scheduled + delay * MINUTE < now;
  const cancelled = index % 67 === 5;
  const gate = `G${String(10 + (index % 38))}`;
  const at = (minutes: number): string => airportTime(scheduled + minutes * MINUTE);
  const known: Record<string, Json> = {
    ffid: `${number}-${airportDate(now)}-${movement}`,
    airline,
    flightNumber: number,
    movement,
    scheduledTime: at(0),
    estimatedTime: scheduled < now + 180 * MINUTE && !cancelled ? at(delay) : null,
    actualTime: done && !cancelled ? at(delay) : null,
    flightType: 'W/Z',
    flightIndicator: index % 5 === 0 ? 'I' : 'D',
    aircraftType: pick(AIRCRAFT, index),
    registration: `B-${String(5000 + index)}`,
    terminal: `T${String(1 + (index % 3))}`,
    maxPassengers: 120 + (index % 180),
    currentStand: String(200 + (index % 140)),
    cancelledAt: cancelled ? at(-90) : null,
    status: done ? (movement === 'A' ? 'ONB' : 'DEP') : scheduled < now + 60 * MINUTE ? 'BOR' : null,
    remark: cancelled ? '天气原因取消' : null,
    'externalStatus.code': index % 9 === 0 && !cancelled ? 'DELAY' : null,
    'externalStatus.remark': index % 9 === 0 && !cancelled ? '流量控制，请等待' : null,
    'irregular.diversion.airport': index % 211 === 7 ? 'CKG' : null,
    'irregular.diversion.reason': index % 211 === 7 ? 'thunderstorm' : null,
    'master.flightNumber': index % 31 === 3 ? `CA${String(1000 + index)}` : null,
    stands: [
      {
        seq: 1,
        code: String(200 + (index % 140)),
        plannedFrom: at(-60),
        plannedTo: at(20),
        push: { time: null, indicator: null },
        tractorAt: null,
      },
    ],
    route:
      movement === 'D'
        ? [
            { seq: 1, airport: 'CSX', arrival: null, departure: at(0) },
            { seq: 2, airport: other, arrival: at(130), departure: null },
          ]
        : [
            { seq: 1, airport: other, arrival: null, departure: at(-130) },
            { seq: 2, airport: 'CSX', arrival: at(0), departure: null },
          ],
    delays: index % 9 === 0 ? [{ code: 'ATC', start: at(-20), minutes: delay, remark: 'flow control' }] : [],
  };
  if (movement === 'D') {
    known['gates'] = [
      {
        seq: 1,
        code: gate,
        plannedFrom: at(-50),
        plannedTo: at(-10),
        actualFrom: done ? at(-48) : null,
        actualTo: null,
        indicator: 'D',
      },
    ];
    known['checkins'] = [
      {
        seq: 1,
        code: `A${String(1 + (index % 20))}`,
        class: 'Y',
        plannedFrom: at(-150),
        plannedTo: at(-40),
        actualFrom: null,
        actualTo: null,
        indicator: null,
      },
    ];
  } else {
    known['carousels'] = [
      {
        seq: 1,
        code: String(1 + (index % 12)),
        class: null,
        plannedFrom: at(5),
        plannedTo: at(40),
        firstBag: null,
        lastBag: null,
        indicator: null,
      },
    ];
  }
  const flid = String(700_001 + index);
  return {
    flid,
    version: 1 + (index % 8),
    operationDay: airportDate(now),
    deleted: index % 401 === 9,
    updatedAt: airportTime(Math.min(now, scheduled)),
    lastMsgId: String(1000 + index * 3),
    flight: publishedFlight(flid, known),
  };
}

/** The event that a version of a flight made. */
export function fixtureEvent(
  eventId: number,
  row: FlightRow,
  changed: readonly string[],
  now: number,
): EventRow {
  const number = row.flight['flightNumber'];
  return {
    eventId: String(eventId),
    target: 'KAFKA:msg',
    flid: row.flid,
    flightNumber: typeof number === 'string' ? number : null,
    type: 'UPSERT',
    version: row.version,
    state: 'SENT',
    createdAt: new Date(now).toISOString(),
    sentAt: new Date(now).toISOString(),
    changed,
    msgId: row.lastMsgId,
  };
}
