/** The day itself, without repeats and faults: an exact number of messages in the order in which they are sent. */
import { tellAmendment, codeshareElements } from './amendments.ts';
import { tellArrival } from './arrival.ts';
import { tellDeparture } from './departure.ts';
import { tellFillers } from './fillers.ts';
import { planFlights, type FlightPlan } from './flights.ts';
import type { DayTimes } from './local-time.ts';
import { randomStream } from './random.ts';
import { gateChange, referencePackages, referencePayload } from './reference-data.ts';
import { codeshareRecord, schedulePayload, scheduleRecord } from './schedule.ts';
import { Script, record } from './script.ts';
import type { Draft } from './steps.ts';
import { tellTrouble } from './trouble.ts';
import { leaf } from './xml.ts';

export interface BaseDay {
  /** In the order in which they are sent. */
  readonly drafts: readonly Draft[];
  /** Flights of the schedule, known to the receiver from `opening` on. */
  readonly scheduled: readonly FlightPlan[];
  /** Drafts that come before anything else may: reference data and schedule. */
  readonly opening: number;
}

/** Messages that one flight has to tell, on average. */
const MESSAGES_PER_FLIGHT = 14;
const MOST_FLIGHTS = 1_200;
const RECORDS_PER_PACKAGE = 150;
// The evening before, minutes from midnight.
const REFERENCE_FROM = -185;
const SCHEDULE_FROM = -150;
const RELEASE = -110;

/** Makes the day. */
export function baseDay(
  count: number,
  { seed, airport, times }: { seed: string; airport: string; times: DayTimes },
): BaseDay {
  const reference = referencePackages().slice(0, Math.floor(count / 12));
  const flights = planFlights(
    Math.min(MOST_FLIGHTS, Math.max(1, Math.round((count - reference.length) / MESSAGES_PER_FLIGHT))),
    { times, seed, airport, random: randomStream(seed, `flights ${times.day}`) },
  );
  const listed = flights.filter(({ adHoc }) => !adHoc);
  // A day of one flight has it in the schedule.
  const scheduled = listed.length > 0 ? listed : flights;
  const opening = [
    ...reference.map(({ type, records }, index) => {
      const payload = referencePayload(records);
      return draft((REFERENCE_FROM + index) * 60, 'reference', type, 'DNLD', payload);
    }),
    ...schedulePackages(scheduled, airport, times),
  ].slice(0, count);
  const wanted = count - opening.length;
  const context = { seed, airport, times, flights };
  let fillers = 0;
  let told = dayOf(context, fillers, wanted);
  while (told.length < wanted) {
    fillers += Math.max(1, Math.ceil(((wanted - told.length) / flights.length) * 1.1));
    told = dayOf(context, fillers, wanted);
  }
  const kept = shorten(told, wanted, seed);
  return { drafts: [...opening, ...kept], scheduled, opening: opening.length };
}

function dayOf(
  {
    seed,
    airport,
    times,
    flights,
  }: { seed: string; airport: string; times: DayTimes; flights: readonly FlightPlan[] },
  fillers: number,
  wanted: number,
): Draft[] {
  const drafts = flights.flatMap((flight, number) => {
    const script = new Script(flight, times, seed);
    if (flight.movement === 'A') tellArrival(script);
    else tellDeparture(script);
    tellTrouble(script, airport);
    tellAmendment(script, number, airport);
    tellFillers(script, fillers);
    const [release, announcement] = announce(script, airport);
    return [...announcement, ...shares(script, release), ...script.drafts(release)];
  });
  drafts.push(...besides(wanted, seed, times));
  // Stable: what falls into one second keeps its order.
  return drafts.sort((left, right) => left.at - right.at);
}

/** An ad-hoc flight begins with its own package. */
function announce(script: Script, airport: string): [release: number, drafts: Draft[]] {
  const { flight, times, random } = script;
  if (!flight.adHoc) return [RELEASE, []];
  const minute = Math.max(RELEASE + 2, flight.scheduled - random.int(200, 330));
  const records = [flightRecords(flight, airport, times)].flat();
  return [minute + 1, [draft(minute * 60, 'ad-hoc', 'SCHD', 'ADFT', schedulePayload(records))]];
}

/** What is said about the codeshares alone. */
function shares({ flight }: Script, release: number): Draft[] {
  return flight.codeshares.map((share) => ({
    ...draft(
      Math.max(release + 1, flight.scheduled - 280) * 60,
      'operation',
      'FLOP',
      'CSFT',
      record(share, codeshareElements(flight)),
    ),
    priority: 1,
  }));
}

/** Reference changes of the day, and updates of flights that this airport never had. */
function besides(wanted: number, seed: string, times: DayTimes): Draft[] {
  const random = randomStream(seed, `besides ${times.day}`);
  const minutes = (number: number) =>
    Array.from({ length: number }, () => random.int(0, times.length - 1)).sort((left, right) => left - right);
  const operations = ['ADD', 'UPD', 'DEL'] as const;
  const changes = minutes(Math.min(60, Math.floor(wanted / 300))).map((minute, number): Draft => {
    const operation = operations[number % operations.length] ?? 'ADD';
    const payload = gateChange(operation, Math.floor(number / operations.length));
    return { ...draft(minute * 60, 'reference', 'GLST', operation, payload), priority: 1 };
  });
  const strangers = minutes(Math.floor(wanted / 500)).map((minute, number): Draft => {
    // Yesterday's day number; no flight of any day has so high a counter.
    const flid = `${times.dayNumber - 1}0000${9000 + (number % 1000)}`;
    const stranger = { flid, ffid: `ZZ-ZZ${100 + (number % 900)}-A-${times.body(minute)}-D` };
    const payload = record(stranger, leaf('ESTM', times.body(minute + 20)));
    return { ...draft(minute * 60 + 30, 'no-match', 'FLOP', 'ESTM', payload), priority: 1 };
  });
  return [...changes, ...strangers];
}

function schedulePackages(flights: readonly FlightPlan[], airport: string, times: DayTimes): Draft[] {
  const records = flights.flatMap((flight) => flightRecords(flight, airport, times));
  const packages: Draft[] = [];
  for (let from = 0; from < records.length; from += RECORDS_PER_PACKAGE) {
    const payload = schedulePayload(records.slice(from, from + RECORDS_PER_PACKAGE));
    packages.push(draft((SCHEDULE_FROM + packages.length) * 60, 'schedule', 'SCHD', 'DNLD', payload));
  }
  return packages;
}

function flightRecords(flight: FlightPlan, airport: string, times: DayTimes): string[] {
  return [
    scheduleRecord(flight, airport, times),
    ...flight.codeshares.map((share) => codeshareRecord(share, flight, airport, times)),
  ];
}

function draft(at: number, kind: Draft['kind'], type: string, subtype: string, payload: string): Draft {
  return { at, priority: 0, kind, sender: 'AODB', type, subtype, payload };
}

/** Leaves out what matters least, evenly over the day. */
function shorten(drafts: readonly Draft[], wanted: number, seed: string): readonly Draft[] {
  const random = randomStream(seed, 'shorten');
  const ranked = random
    .shuffle(drafts.map((_, index) => index))
    .sort((left, right) => (drafts[left]?.priority ?? 0) - (drafts[right]?.priority ?? 0));
  const kept = new Set(ranked.slice(0, wanted));
  return drafts.filter((_, index) => kept.has(index));
}
