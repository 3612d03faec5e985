/** The life of an arrival, from its departure elsewhere to the last bag on the belt. */
import { ABNORMALITIES, SERVICES } from './catalogue.ts';
import {
  airbridgeElements,
  beltElement,
  chockElement,
  portElement,
  serviceElement,
  standElement,
} from './elements.ts';
import { RUNWAYS } from './resources.ts';
import type { Script } from './script.ts';
import { leaf } from './xml.ts';

/** Minutes of what really happens. */
export function arrivalTimes({ flight }: Pick<Script, 'flight'>) {
  const landing = flight.scheduled + flight.delay;
  return { off: landing - flight.other.minutes, landing, onBlock: landing + 6 };
}

/** Says everything that belongs to an uneventful arrival. */
export function tellArrival(script: Script): void {
  const { flight, times, random } = script;
  const { scheduled, stand, other } = flight;
  const { off, landing, onBlock } = arrivalTimes(script);
  const belt = { plannedFrom: onBlock + 8, plannedTo: onBlock + 35 };

  script.say(scheduled - other.minutes - 40, 'PEDT', leaf('PEDT', script.time(off - random.int(0, 15))), {
    priority: 2,
  });
  script.say(scheduled - 180, 'CLDT', beltElement(flight, { ...belt, from: null, to: null }, times), {
    priority: 2,
  });
  script.say(off, 'PADT', leaf('PADT', script.time(off)));
  estimate(script, off + 6, landing + random.int(-8, 12), 0);
  if (other.minutes > 90) estimate(script, landing - 55, landing + random.int(-5, 6), 2);
  estimate(script, landing - 28, landing + random.int(-2, 2), 1);
  script.say(landing - 45, 'IEST', leaf('IEST', script.time(landing + random.int(-3, 3))), { priority: 2 });
  script.say(landing - 26, 'FTSS', leaf('FTSS', 'EST'), { priority: 2 });
  script.say(landing - 18, 'RUNW', leaf('RUNW', random.pick(RUNWAYS)), { priority: 2 });
  script.say(landing, 'ACTM', actual(script, landing), { priority: 0, withCodeshares: true });
  script.say(landing + 1, 'FTSS', leaf('FTSS', 'LND'), { priority: 2 });
  script.say(onBlock, 'CHOT', chockElement(stand, 'ON', onBlock, times), { priority: 0 });
  script.say(onBlock + 1, 'STND', leaf('STND', stand.code), { priority: 2 });
  if (stand.airbridges.length > 0) {
    script.say(onBlock + 4, 'ABTM', airbridgeElements(stand, 'A', onBlock + 2, times));
  }
  script.say(onBlock + 4, 'PORT', portElement('O', onBlock + 4, times), { priority: 2 });
  const first = onBlock + random.int(9, 14);
  const last = first + random.int(8, 22);
  script.say(first, 'CLDT', beltElement(flight, { ...belt, from: first, to: null }, times));
  script.say(first + 1, 'FTSS', leaf('FTSS', 'BAG'), { priority: 2 });
  script.say(last, 'CLDT', beltElement(flight, { ...belt, from: first, to: last }, times));
  tellServices(script, onBlock + 6);
}

/** The stand is another one than the schedule said. */
export function tellStandChange(script: Script): void {
  const { flight, times } = script;
  const elements = standElement(flight.stand, flight.onStand, times) + leaf('STND', flight.stand.code);
  script.say(flight.scheduled - 75, 'PSDT', elements, { priority: 0 });
}

/** Services at the stand: first while they run, then with their end. */
export function tellServices(script: Script, minute: number): void {
  const { flight, times, random } = script;
  const chosen = random.shuffle(SERVICES).slice(0, random.int(1, 3));
  const trouble = random.chance(0.1) ? random.pick(ABNORMALITIES) : null;
  const services = (ended: boolean) =>
    chosen
      .map((service, index) =>
        serviceElement(
          {
            code: service.code,
            quantity: 1 + (index % 2),
            from: minute + index * 2,
            to: ended ? minute + index * 2 + 12 : null,
            provider: flight.agents.field,
            abnormal:
              ended && index === 0 && trouble !== null
                ? { code: trouble.code, remark: trouble.chinese }
                : null,
          },
          times,
        ),
      )
      .join('');
  script.say(minute, 'SRVT', services(false), { priority: 2 });
  script.say(minute + 18, 'SRVT', services(true), { priority: 2 });
}

function estimate(script: Script, minute: number, expected: number, priority: 0 | 1 | 2): void {
  script.say(minute, 'ESTM', leaf('ESTM', script.time(expected)), { priority, withCodeshares: true });
}

/** Actual time, and what the load message told. */
function actual({ flight, random, times }: Script, minute: number): string {
  const passengers = Math.floor(flight.aircraft.seats * (0.55 + 0.45 * random.next()));
  return (
    leaf('ACTM', times.body(minute)) +
    leaf('PAXN', passengers) +
    leaf('BAGN', Math.floor(passengers * 0.7)) +
    leaf('BAGW', Math.floor(passengers * 0.7) * 14)
  );
}
