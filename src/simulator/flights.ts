/**
 * The flights of the day as they will really go: turnarounds of an arrival and a departure on one stand,
 * aircraft that stay the night, what goes wrong with whom. Everything else is told about these plans.
 */
import { AGENTS, AIRCRAFT, AIRLINES, AIRPORTS, type AircraftType, type Airport } from './catalogue.ts';
import { assignIncidents, delayOf, type Incident } from './incidents.ts';
import type { DayTimes } from './local-time.ts';
import { hashOf, type Random } from './random.ts';
import { BELTS, CHUTES, COUNTERS, GATES, STANDS, Timetable, type Stand } from './resources.ts';

/** A flight number under which another airline sells the flight. */
export interface Codeshare {
  readonly flid: string;
  readonly ffid: string;
  readonly airline: string;
  readonly flightNumber: string;
}

/** One flight. Minutes count from the day's first instant. */
export interface FlightPlan {
  readonly flid: string;
  readonly ffid: string;
  readonly airline: string;
  readonly flightNumber: string;
  readonly movement: 'A' | 'D';
  /** SODT. */
  readonly scheduled: number;
  /** Minutes later than planned; negative is early. */
  readonly delay: number;
  readonly indicator: 'D' | 'I';
  readonly serviceType: string;
  readonly aircraft: AircraftType;
  readonly registration: string;
  /** The airport it comes from or goes to. */
  readonly other: Airport;
  /** A stop on the way; null for most. */
  readonly via: Airport | null;
  /** The stand it is really on. */
  readonly stand: Stand;
  /** The stand the schedule says: another one where the stand is changed later. */
  readonly firstStand: Stand;
  /** When the aircraft is on the stand, as planned. */
  readonly onStand: { readonly from: number; readonly to: number };
  /** Gates for boarding, in the order of use: a second one is a gate change. Empty for arrivals. */
  readonly gates: readonly string[];
  readonly counters: readonly string[];
  /** Belt of an arrival, chute of a departure. */
  readonly baggage: string;
  readonly agents: { readonly passenger: string; readonly field: string; readonly maintenance: string };
  readonly turnaround: {
    readonly airline: string;
    readonly flightNumber: string;
    readonly flid: string;
  } | null;
  readonly codeshares: readonly Codeshare[];
  readonly incident: Incident | null;
  /** Not in the schedule; announced on the day. */
  readonly adHoc: boolean;
}

/** One aircraft's visit: at least one of the two. */
interface Visit {
  readonly arrival: number | null;
  readonly departure: number | null;
}

/** Letters of registrations: none that reads like a digit. */
const LETTERS = Array.from('CDEFHKLMNPRSTUVWXYZ');
const MINIMUM_TURNAROUND = 35;
/** Traffic per hour of the day, relative. */
const HOURS = [1, 0, 0, 0, 0, 1, 4, 7, 8, 7, 7, 8, 8, 7, 7, 8, 8, 8, 8, 7, 7, 6, 4, 2];

/** Plans a number of flights, in order of their scheduled times; codeshare records are not counted. */
export function planFlights(
  count: number,
  { times, seed, airport, random }: { times: DayTimes; seed: string; airport: string; random: Random },
): FlightPlan[] {
  const slots: Slot[] = [];
  for (const visit of planVisits(count, times.length, random)) {
    const aircraft = aircraftOf(airport, random);
    const pair: Slot[] = [];
    if (visit.arrival !== null) pair.push({ movement: 'A', scheduled: visit.arrival, visit, aircraft });
    if (visit.departure !== null) pair.push({ movement: 'D', scheduled: visit.departure, visit, aircraft });
    const [first, second] = pair;
    if (first !== undefined && second !== undefined) {
      first.linked = second;
      second.linked = first;
    }
    slots.push(...pair);
  }
  slots.sort((left, right) => left.scheduled - right.scheduled);
  const incidents = assignIncidents(
    slots.map((slot) => slot.movement),
    random,
  );
  slots.forEach((slot, index) => (slot.incident = incidents[index] ?? null));
  const numbers = flightIds({ times, seed, airport, random });
  for (const slot of slots) numbers.name(slot);
  setDelays(slots, random);
  const timetable = new Timetable();
  for (const slot of slots) placeOnStand(slot, times.length, timetable, random);
  return slots.map((slot) => planOf(slot, numbers, timetable, random));
}

/** A flight while it is being planned. */
interface Slot {
  readonly movement: 'A' | 'D';
  readonly scheduled: number;
  readonly visit: Visit;
  readonly aircraft: ReturnType<typeof aircraftOf>;
  linked?: Slot;
  incident?: Incident | null;
  delay?: number;
  named?: Named;
  parked?: { stand: Stand; first: Stand; from: number; to: number };
}

interface Named {
  readonly flid: string;
  readonly ffid: string;
  readonly flightNumber: string;
  readonly other: Airport;
}

function planVisits(count: number, length: number, random: Random): Visit[] {
  const visits: Visit[] = [];
  const last = length - 6;
  let flights = 0;
  while (flights < count) {
    const roll = random.next();
    if (roll < 0.1) {
      visits.push({ arrival: null, departure: random.int(360, 540) });
      flights += 1;
    } else if (roll < 0.2) {
      visits.push({
        arrival: random.chance(0.15) ? random.int(6, 80) : random.int(1200, last),
        departure: null,
      });
      flights += 1;
    } else {
      const arrival = Math.min(minuteOfTraffic(random), last);
      const departure = arrival + random.int(9, 24) * 5;
      const both = departure <= last && flights + 2 <= count;
      visits.push({ arrival, departure: both ? departure : null });
      flights += both ? 2 : 1;
    }
  }
  return visits;
}

function minuteOfTraffic(random: Random): number {
  const hour = weighted(
    HOURS,
    (weight) => weight,
    random,
    (_, index) => index,
  );
  return Math.max(6, hour * 60 + random.int(0, 11) * 5);
}

function aircraftOf(airport: string, random: Random) {
  const airline = weighted(
    AIRLINES,
    ({ weight }) => weight,
    random,
    (item) => item,
  );
  const reachable = AIRPORTS.filter(
    (other) =>
      other.code !== airport && (airline.abroad ? other.abroad : !other.abroad || random.chance(0.3)),
  );
  const other = random.pick(reachable);
  const types = AIRCRAFT.filter(
    ({ wide }) => wide === (other.minutes > 240 || (!wide && random.chance(0.05))),
  );
  return {
    airline,
    other,
    type: random.pick(types.length > 0 ? types : AIRCRAFT),
    registration: `B${random.chance(0.5) ? random.int(1000, 9999) : `${random.int(100, 999)}${random.pick(LETTERS)}`}`,
  };
}

function flightIds(context: { times: DayTimes; seed: string; airport: string; random: Random }) {
  const { times, random, airport } = context;
  const used = new Set<string>();
  let count = 0;
  // Day and seed are part of the ID: other days and seeds are other flights. 13 digits, more than 32 bits hold.
  const base = `${times.dayNumber}${String(hashOf(context.seed) % 10_000).padStart(4, '0')}`;
  const flightId = () => `${base}${String(++count).padStart(4, '0')}`;
  const flightNumber = (airline: string) => {
    for (;;) {
      const number = `${airline}${random.int(100, 9899)}`;
      if (used.has(number)) continue;
      used.add(number);
      return number;
    }
  };
  const readable = (airline: string, number: string, slot: Slot) =>
    `${airline}-${number}-${slot.movement}-${times.body(slot.scheduled)}-${indicatorOf(slot)}`;
  return {
    name: (slot: Slot) => {
      const { airline, other } = slot.aircraft;
      const number = flightNumber(airline.code);
      // A departure mostly goes on elsewhere.
      const far = AIRPORTS.filter(({ code, abroad }) => abroad === other.abroad && code !== airport);
      slot.named = {
        flid: flightId(),
        flightNumber: number,
        ffid: readable(airline.code, number, slot),
        other: slot.movement === 'D' && slot.linked !== undefined ? random.pick(far) : other,
      };
    },
    codeshare: (slot: Slot): Codeshare => {
      const partner = random.pick(AIRLINES.filter(({ code }) => code !== slot.aircraft.airline.code)).code;
      const number = flightNumber(partner);
      return {
        flid: flightId(),
        ffid: readable(partner, number, slot),
        airline: partner,
        flightNumber: number,
      };
    },
  };
}

/** Delays in order of time: a late arrival makes its departure late. */
function setDelays(slots: readonly Slot[], random: Random): void {
  for (const slot of slots) {
    const own = delayOf(slot.incident ?? null, random);
    const before = slot.movement === 'D' ? slot.linked : undefined;
    const ready =
      before === undefined ? 0 : before.scheduled + (before.delay ?? 0) + MINIMUM_TURNAROUND - slot.scheduled;
    slot.delay = Math.max(own, ready);
  }
}

/** One stand for the whole visit, as planned and as it will really be. */
function placeOnStand(slot: Slot, length: number, timetable: Timetable, random: Random): void {
  if (slot.movement === 'D' && slot.linked?.parked !== undefined) {
    slot.parked = slot.linked.parked;
    return;
  }
  const leaving = slot.movement === 'D' ? slot : slot.linked;
  const from = slot.movement === 'A' ? slot.scheduled + 5 : slot.scheduled - 120;
  const to = leaving === undefined ? Math.max(slot.scheduled + 90, length) : leaving.scheduled + 5;
  const arrivalDelay = slot.movement === 'A' ? (slot.delay ?? 0) : 0;
  const extra = leaving?.incident === 'return' ? 180 : 0;
  const busy = {
    from: from + Math.min(0, arrivalDelay),
    to: to + Math.max(0, leaving?.delay ?? arrivalDelay) + extra + 10,
  };
  const { wide } = slot.aircraft.type;
  const stands = STANDS.filter((stand) => stand.wide || !wide);
  const contact = stands.filter(({ airbridges }) => airbridges.length > 0);
  const stand = timetable.claim(random.chance(0.8) ? contact : stands, busy.from, busy.to, random, stands);
  const first = slot.incident === 'stand-change' ? timetable.claim(stands, from, to, random) : stand;
  slot.parked = { stand, first, from, to };
}

function planOf(
  slot: Slot,
  ids: ReturnType<typeof flightIds>,
  timetable: Timetable,
  random: Random,
): FlightPlan {
  const { aircraft, movement, scheduled, named, parked, linked, incident = null, delay = 0 } = slot;
  if (named === undefined || parked === undefined) throw new Error('a flight without number or stand');
  const { terminal } = parked.stand;
  const departs = movement === 'D';
  const boarding = { from: scheduled - 60 + Math.min(0, delay), to: scheduled + Math.max(0, delay) };
  const gates = departs
    ? Array.from({ length: incident === 'gate-change' ? 2 : 1 }, () =>
        timetable.claim(GATES[terminal], boarding.from, boarding.to, random),
      )
    : [];
  const counters = departs
    ? Array.from({ length: aircraft.type.wide ? 4 : random.int(1, 3) }, () =>
        timetable.claim(COUNTERS[terminal], scheduled - 150, scheduled - 30 + Math.max(0, delay), random),
      )
    : [];
  const bags = departs ? CHUTES : BELTS;
  return {
    flid: named.flid,
    ffid: named.ffid,
    airline: aircraft.airline.code,
    flightNumber: named.flightNumber,
    movement,
    scheduled,
    delay,
    indicator: indicatorOf(slot),
    serviceType: random.chance(0.94) ? 'W/Z' : random.pick(['C/B', 'L/W']),
    aircraft: aircraft.type,
    registration: aircraft.registration,
    other: named.other,
    via: random.chance(0.06)
      ? random.pick(AIRPORTS.filter((stop) => stop.minutes < 130 && stop !== named.other))
      : null,
    stand: parked.stand,
    firstStand: movement === 'A' ? parked.first : parked.stand,
    onStand: { from: parked.from, to: parked.to },
    gates,
    counters: counters.sort(),
    baggage: timetable.claim(
      bags[terminal],
      departs ? scheduled - 150 : scheduled + delay + 10,
      departs ? scheduled : scheduled + delay + 40,
      random,
    ),
    agents: {
      passenger: random.pick(AGENTS).code,
      field: random.pick(AGENTS).code,
      maintenance: 'AMECO',
    },
    turnaround:
      linked?.named === undefined
        ? null
        : {
            airline: aircraft.airline.code,
            flightNumber: linked.named.flightNumber,
            flid: linked.named.flid,
          },
    codeshares: random.chance(0.07) ? [ids.codeshare(slot)] : [],
    incident,
    adHoc: incident === 'ad-hoc',
  };
}

function indicatorOf(slot: Slot): 'D' | 'I' {
  return (slot.named?.other ?? slot.aircraft.other).abroad ? 'I' : 'D';
}

function weighted<T, R>(
  items: readonly T[],
  weightOf: (item: T) => number,
  random: Random,
  result: (item: T, index: number) => R,
): R {
  let left = random.next() * items.reduce((sum, item) => sum + weightOf(item), 0);
  for (const [index, item] of items.entries()) {
    left -= weightOf(item);
    if (left < 0) return result(item, index);
  }
  throw new RangeError('nothing to pick from');
}
