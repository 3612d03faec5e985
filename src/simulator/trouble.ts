/** What goes wrong with a flight, told as it happens: delays, cancellations, deletions, diversions, returns. */
import { arrivalTimes, tellStandChange } from './arrival.ts';
import {
  AIRPORTS,
  DELAY_CODES,
  DELAY_REMARKS,
  DIVERSION_REASONS,
  GO_AROUND_REASONS,
  RETURN_REASONS,
} from './catalogue.ts';
import { departureTimes } from './departure.ts';
import { delayElement, pushElement } from './elements.ts';
import type { Incident } from './incidents.ts';
import { schedulePayload, scheduleRecord } from './schedule.ts';
import type { Script } from './script.ts';
import { empty, escaped, leaf, node } from './xml.ts';

/** Tells the flight's incident and its delay, where it has them. */
export function tellTrouble(script: Script, airport: string): void {
  const { delay, incident } = script.flight;
  if (delay > 12 || incident === 'delay-cleared') tellDelay(script);
  if (incident !== null) STORIES[incident]?.(script, airport);
}

/** Null where the story is told elsewhere: with the gates, as a delay, by the announcement itself. */
const STORIES: Readonly<Record<Incident, ((script: Script, airport: string) => void) | null>> = {
  'ad-hoc': null,
  cancelled: (script) => tellCancellation(script, null),
  'cancelled-reinstated': (script) => tellCancellation(script, 45),
  deleted: (script) => tellDeletion(script, null),
  'deleted-reinstated': tellDeletion,
  diverted: tellDiversion,
  'diverted-landed-later': tellDiversion,
  'go-around': tellGoAround,
  return: tellReturn,
  'long-delay': null,
  'delay-cleared': null,
  'gate-change': null,
  'stand-change': tellStandChange,
  vip: tellVips,
};

function tellDelay(script: Script): void {
  const { flight, times, random } = script;
  const { scheduled, delay, incident } = flight;
  const known = scheduled - random.int(15, 30);
  const remark = random.pick(DELAY_REMARKS);
  const shown = Math.max(delay, 15);
  const [first, second] = random.shuffle(DELAY_CODES);
  const element = (code: string, minutes: number, text: string) =>
    delayElement(code, scheduled, minutes, text, times);
  script.say(known, 'DELY', element(first?.code ?? '81', shown, remark), { priority: 0 });
  script.say(known + 1, 'EXSS', leaf('EXSC', 'DELAY') + leaf('EXSR', `${remark}，约 ${shown} 分钟`), {
    priority: 2,
  });
  script.say(known + 2, 'FTSS', leaf('FTSS', 'DEL'), { priority: 2 });
  // A second code beside the first, then what is said anew of it.
  if (delay > 60) {
    script.say(known + 20, 'DELY', element(second?.code ?? '93', 15, 'late inbound'), { priority: 1 });
    script.say(known + 45, 'DELY', element(second?.code ?? '93', 25, '前序航班晚到'), { priority: 2 });
  }
  if (incident === 'delay-cleared') {
    script.say(known + 12, 'DELY', empty('DELY'), { priority: 0 });
    script.say(known + 13, 'EXSS', empty('EXSC') + empty('EXSR'), { priority: 1 });
  }
}

function tellCancellation(script: Script, reinstatedAfter: number | null): void {
  const { flight, random } = script;
  const at = flight.scheduled - random.int(60, 180);
  script.turn(at, 'CNCL', leaf('CNCL', script.time(at)), { withCodeshares: true });
  script.turn(at + 1, 'EXSS', leaf('EXSC', 'CNL') + leaf('EXSR', '航班取消，请旅客办理退改签'));
  if (reinstatedAfter === null) {
    script.silence(at);
    return;
  }
  script.silence(at, at + reinstatedAfter);
  script.turn(at + reinstatedAfter, 'CNCL', empty('CNCL'), { withCodeshares: true });
  script.turn(at + reinstatedAfter + 1, 'EXSS', leaf('EXSC', 'SCH') + leaf('EXSR', '航班恢复'));
}

/** With an airport: the flight is announced again later. */
function tellDeletion(script: Script, airport: string | null): void {
  const { flight, times, random } = script;
  const at = flight.scheduled - random.int(190, 260);
  script.turn(at, 'FDEL', empty('FDEL'), { kind: 'deletion' });
  // The other system has not heard of it yet.
  script.turn(at + 5, 'RENO', leaf('RENO', 'B3079'), { kind: 'no-match' });
  if (airport === null) {
    script.turn(at + 40, 'TOBT', leaf('TOBT', script.time(flight.scheduled)), {
      kind: 'no-match',
      sender: 'ACDM',
    });
    script.silence(at);
    return;
  }
  script.silence(at, at + 60);
  script.other(at + 60, {
    type: 'SCHD',
    subtype: 'ADFT',
    kind: 'ad-hoc',
    payload: schedulePayload([scheduleRecord(flight, airport, times)]),
  });
}

function tellDiversion(script: Script): void {
  const { flight, random } = script;
  const at = flight.scheduled - 25;
  const alternate = random.pick(
    AIRPORTS.filter(({ minutes, code }) => minutes < 130 && code !== flight.other.code),
  );
  const reason = escaped(random.pick(DIVERSION_REASONS));
  script.turn(at, 'FDIV', `<FDIV DDES="${alternate.code}" DDIR="TO">${reason}</FDIV>`);
  script.turn(at + 1, 'FTSS', leaf('FTSS', 'DIV'));
  if (flight.incident === 'diverted') {
    script.silence(at);
    return;
  }
  // It comes after all: the diversion is cleared when it is on its way again.
  const { landing } = arrivalTimes(script);
  script.silence(at, landing - 62);
  script.turn(landing - 62, 'FDIV', '<FDIV DDES="" DDIR=""></FDIV>');
}

function tellGoAround(script: Script): void {
  const { random } = script;
  const { landing } = arrivalTimes(script);
  const kind = random.pick(['O', 'G']);
  const reason = escaped(random.pick(GO_AROUND_REASONS));
  script.turn(landing - 14, 'FLAB', `<FLAB ARES="${kind}">${reason}</FLAB>`);
  script.turn(landing - 13, 'ESTM', leaf('ESTM', script.time(landing + 1)), { withCodeshares: true });
}

/** Comes back to its stand and leaves again two hours later. */
function tellReturn(script: Script): void {
  const { flight, times, random } = script;
  const { takeOff, landing } = departureTimes(script);
  const kind = random.pick(['G', 'A']);
  const back = takeOff + 12;
  const again = back + 110;
  script.silence(back);
  script.turn(back, 'FRET', `<FRET REID="${kind}">${escaped(random.pick(RETURN_REASONS))}</FRET>`);
  script.turn(back + 1, 'FTSS', leaf('FTSS', 'RTN'));
  script.turn(back + 2, 'ACTM', empty('ACTM'), { withCodeshares: true });
  script.turn(back + 20, 'PSHT', pushElement(flight.stand, null, times));
  script.turn(again - 20, 'FRET', '<FRET REID=""></FRET>');
  script.turn(again, 'PSHT', pushElement(flight.stand, again, times));
  script.turn(again + 12, 'ACTM', leaf('ACTM', script.time(again + 12)), { withCodeshares: true });
  script.turn(
    again + 12 + landing - takeOff,
    'NAAT',
    leaf('NAAT', script.time(again + 12 + landing - takeOff)),
  );
}

function tellVips(script: Script): void {
  const { flight, random } = script;
  const count = random.int(1, 2);
  script.say(flight.scheduled - 140, 'VIPP', leaf('VIPP', count) + leaf('VIPR', random.int(1, 3)), {
    priority: 0,
  });
  const persons = Array.from({ length: count }, () =>
    node('VIPF', leaf('VPCD', `VP${random.int(100, 999)}`) + leaf('VFES', random.int(0, 4))),
  );
  script.say(flight.scheduled - 120, 'VIPF', persons.join(''), { priority: 0 });
}
