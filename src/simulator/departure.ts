/** The life of a departure, from the first counter to its landing elsewhere. */
import { tellServices } from './arrival.ts';
import {
  airbridgeElements,
  chockElement,
  chuteElement,
  counterElements,
  gateElements,
  portElement,
  pushElement,
} from './elements.ts';
import { RUNWAYS } from './resources.ts';
import type { Script } from './script.ts';
import { leaf, node } from './xml.ts';

/** Minutes of what really happens. */
export function departureTimes({ flight }: Pick<Script, 'flight'>) {
  const offBlock = flight.scheduled + flight.delay;
  return { offBlock, takeOff: offBlock + 14, landing: offBlock + 14 + flight.other.minutes };
}

/** Says everything that belongs to an uneventful departure. */
export function tellDeparture(script: Script): void {
  tellTerminal(script);
  tellMilestones(script);
  tellApron(script);
  const { flight, random } = script;
  const { takeOff, landing } = departureTimes(script);
  script.say(takeOff, 'ACTM', leaf('ACTM', script.time(takeOff)), { priority: 0, withCodeshares: true });
  script.say(takeOff + 1, 'FTSS', leaf('FTSS', 'DEP'), { priority: 2 });
  script.say(takeOff + 4, 'NEAT', leaf('NEAT', script.time(landing + random.int(-6, 8))), { priority: 2 });
  script.say(landing, 'NAAT', leaf('NAAT', script.time(landing)));
  script.other(
    takeOff - 16,
    {
      type: 'LDM',
      subtype: 'NONE',
      kind: 'ignored',
      payload: leaf('LDM', `${flight.flightNumber}.${flight.registration}.Y${flight.aircraft.seats}`),
    },
    2,
  );
}

/** Check-in, chute, gate and boarding. */
function tellTerminal(script: Script): void {
  const { flight, times, random } = script;
  const { scheduled, gates, incident } = flight;
  const { offBlock } = departureTimes(script);
  const checkIn = { plannedFrom: scheduled - 150, plannedTo: scheduled - 40 };
  const opened = scheduled - 150 + random.int(-5, 4);
  const closed = Math.max(scheduled - 40, offBlock - 42);
  const counters = (from: number | null, to: number | null) =>
    counterElements(flight, { ...checkIn, from, to }, times);
  script.say(scheduled - 320, 'CKDT', counters(null, null), { priority: 2 });
  script.say(scheduled - 300, 'CHDT', chuteElement(flight, { ...checkIn, from: null, to: null }, times), {
    priority: 2,
  });
  script.say(opened, 'CKDT', counters(opened, null));
  script.say(opened + 1, 'FTSS', leaf('FTSS', 'CKI'), { priority: 2 });
  script.say(opened + 6, 'CHDT', chuteElement(flight, { ...checkIn, from: opened + 5, to: null }, times), {
    priority: 2,
  });
  script.say(closed, 'CKDT', counters(opened, closed));

  const boarding = { plannedFrom: scheduled - 45, plannedTo: scheduled - 10 };
  const open = offBlock - 38;
  const atGates = (used: readonly string[], from: number | null, to: number | null) =>
    gateElements(flight, used, { ...boarding, from, to }, times);
  script.say(scheduled - 260, 'GTDT', atGates(gates.slice(0, 1), null, null));
  if (incident === 'gate-change') {
    script.say(offBlock - 50, 'GTDT', atGates(gates.slice(1), null, null), { priority: 0 });
    script.say(offBlock - 49, 'REMC', leaf('REMC', `登机口变更：${gates[0] ?? ''} → ${gates[1] ?? ''}`), {
      priority: 0,
    });
  }
  const last = gates.slice(-1);
  script.say(open, 'BOTM', leaf('BOTM', script.time(open)), { priority: 0 });
  script.say(open + 1, 'GTDT', atGates(last, open, null), { priority: 2 });
  script.say(open + 1, 'FTSS', leaf('FTSS', 'BOR'), { priority: 2 });
  script.say(offBlock - 20, 'LACL', leaf('LACL', script.time(offBlock - 20)));
  script.say(offBlock - 12, 'FINT', leaf('FINT', script.time(offBlock - 12)));
  script.say(offBlock - 8, 'GTDT', atGates(last, open, offBlock - 8), { priority: 2 });
  script.say(offBlock - 8, 'FTSS', leaf('FTSS', 'POK'), { priority: 2 });
}

/** A-CDM milestones, from their own system. */
function tellMilestones(script: Script): void {
  const { flight, random } = script;
  const { offBlock, takeOff } = departureTimes(script);
  const { scheduled, delay } = flight;
  const milestone = (minute: number, name: string, value: number, priority: 0 | 1 | 2) =>
    script.say(minute, name, leaf(name, script.time(value)), { priority, sender: 'ACDM' });
  milestone(scheduled - 180, 'EOBT', scheduled, 2);
  milestone(scheduled - 60, 'TOBT', scheduled, 1);
  milestone(scheduled - 55, 'COBT', scheduled + Math.max(0, Math.floor(delay / 2)), 2);
  if (delay > 12) milestone(scheduled - 25, 'TOBT', offBlock + random.int(-4, 4), 1);
  if (random.chance(0.3)) milestone(offBlock - 45, 'CTOT', takeOff + random.int(-5, 5), 1);
  milestone(offBlock - 30, 'COBT', offBlock, 1);
  if (delay > 12) {
    script.say(scheduled - 20, 'ESTM', leaf('ESTM', script.time(takeOff + random.int(-6, 6))), {
      withCodeshares: true,
    });
  }
}

/** Doors, bridges, chocks and push-back. */
function tellApron(script: Script): void {
  const { flight, times, random } = script;
  const { stand } = flight;
  const { offBlock } = departureTimes(script);
  if (flight.turnaround === null) tellServices(script, offBlock - 60);
  const tractor = offBlock - 7;
  script.say(tractor, 'TIPT', node('TIPT', leaf('TRTM', script.time(tractor)) + leaf('TRST', stand.code)));
  script.say(offBlock - 6, 'PORT', portElement('C', offBlock - 6, times), { priority: 2 });
  if (stand.airbridges.length > 0) {
    script.say(offBlock - 3, 'ABTM', airbridgeElements(stand, 'D', offBlock - 5, times));
  }
  script.say(offBlock - 4, 'EGSR', leaf('EGSR', script.time(offBlock - 4)), { priority: 2 });
  script.say(offBlock - 2, 'APPT', leaf('APPT', script.time(offBlock - 2)), { priority: 2 });
  script.say(offBlock - 1, 'CHOT', chockElement(stand, 'OFF', offBlock - 1, times), { priority: 0 });
  script.say(offBlock, 'PSHT', pushElement(stand, offBlock, times), { priority: 0 });
  script.say(offBlock + 3, 'EGST', leaf('EGST', script.time(offBlock + 3)), { priority: 2 });
  script.say(offBlock + 8, 'RUNW', leaf('RUNW', random.pick(RUNWAYS)), { priority: 2 });
}
