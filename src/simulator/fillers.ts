/** Further updates for a day that must be longer than its flights have to tell: estimates that come nearer. */
import { arrivalTimes } from './arrival.ts';
import { REMARKS } from './catalogue.ts';
import { departureTimes } from './departure.ts';
import type { Script } from './script.ts';
import { leaf } from './xml.ts';

/** Tells a number of further updates before the flight lands or takes off. */
export function tellFillers(script: Script, count: number): void {
  const { flight, random } = script;
  const arrives = flight.movement === 'A';
  const end = arrives ? arrivalTimes(script).landing : departureTimes(script).takeOff;
  const start = flight.scheduled - 240;
  for (let number = 0; number < count; number++) {
    const minute = random.int(start, end - 3);
    // The nearer, the better known.
    const error = Math.ceil((end - minute) / 15);
    const expected = script.time(end + random.int(-error, error));
    const subtype = random.pick(
      arrives ? ['ESTM', 'ESTM', 'IEST', 'REMC'] : ['TOBT', 'CTOT', 'ESTM', 'IEST', 'REMC'],
    );
    script.say(minute, subtype, leaf(subtype, subtype === 'REMC' ? random.pick(REMARKS) : expected), {
      priority: 2,
      sender: subtype === 'TOBT' || subtype === 'CTOT' ? 'ACDM' : 'AODB',
    });
  }
}
