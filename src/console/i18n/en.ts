/** The words of the console in English; the shape that every other language fills. */
import type { StationName, StationState } from '../api/types.ts';
import type { Finding } from '../model/verdict.ts';
import type { Span } from '../model/time.ts';
import { operate } from './en-operate.ts';
import { flightWords } from './en-flight.ts';
import { messageWords } from './en-messages.ts';
import { words } from './en-words.ts';

const many = (count: number, one: string, more: string): string =>
  `${number(count)} ${count === 1 ? one : more}`;
const number = (value: number): string => value.toLocaleString('en-GB');
const because = (reason: string | null): string => (reason === null ? '' : `: ${reason}`);

const station: Readonly<Record<StationName, string>> = {
  inbox: 'Inbox',
  pump: 'Pump',
  delivery: 'Delivery',
  backfill: 'Backfill',
  requests: 'Requests',
};

const stationState: Readonly<Record<StationState, string>> = {
  running: 'running',
  paused: 'paused',
  outage: 'outage',
  stopped: 'stopped',
};

function span({ days, hours, minutes, seconds }: Span): string {
  if (days > 0) return `${String(days)} d ${String(hours)} h`;
  if (hours > 0) return `${String(hours)} h ${String(minutes)} min`;
  if (minutes > 0) return `${String(minutes)} min ${String(seconds)} s`;
  return `${String(seconds)} s`;
}

function finding(found: Finding): string {
  switch (found.kind) {
    case 'stream-lost':
      return 'No connection to msgx: what you see is old';
    case 'outage':
      return `${station[found.station.name]} cannot reach its dependency${because(found.station.reason)}`;
    case 'stopped':
      return `${station[found.station.name]} has stopped${because(found.station.reason)}`;
    case 'paused':
      return `${station[found.station.name]} paused${found.station.by === null ? '' : ` by ${found.station.by}`}${because(found.station.reason)}`;
    case 'head-failed': {
      const { head } = found;
      const name = [head.type, head.styp].filter((part) => part !== null).join('/');
      return `Head of line ${head.msgId} ${name} has failed ${many(head.attempts, 'time', 'times')}${because(head.lastError)}`;
    }
    case 'head-waits':
      return `Head of line ${found.head.msgId} waits${because(found.head.why)}`;
    case 'dead-schedules':
      return found.count === 1
        ? 'A dead schedule needs a person: its flights are missing'
        : `${number(found.count)} dead schedules need a person: their flights are missing`;
    case 'dead-messages':
      return found.count === 1
        ? '1 dead message needs a person'
        : `${number(found.count)} dead messages need a person`;
    case 'dead-events':
      return `${many(found.count, 'event', 'events')} for ${found.target} could not be delivered`;
    case 'hole': {
      const { hole } = found;
      const ids = hole.from === hole.to ? hole.from : `${hole.from}–${hole.to}`;
      return `Inbox waits at hole ${ids}${hole.held ? ': held, a writer that could fill it is still at work' : ''}`;
    }
    case 'mailbox-silent':
      return 'The mailbox has not been read for a while';
    case 'outbox-old':
      return `${many(found.pending, 'event waits', 'events wait')} for ${found.target}`;
    case 'abandoned':
      return `${many(found.count, 'mark was', 'marks were')} given up: the mailbox does not show them as processed`;
    case 'job-failing':
      return `The upkeep job ${found.job} fails${because(found.error)}`;
    case 'standby':
      return 'Standby: another instance does the work';
    case 'flowing':
      return 'All flowing';
  }
}

/** What the countdown beside a finding counts down to. */
function until(kind: Finding['kind'], left: string): string {
  return kind === 'hole' ? `released in ${left}` : `next try in ${left}`;
}

const session = {
  title: 'Sign in',
  lead: 'This console is open to holders of a token with the role viewer or operator.',
  token: 'Token',
  enter: 'Sign in',
  leave: 'Sign out',
  role: { sender: 'sender', viewer: 'viewer', operator: 'operator' },
  notEnough: (role: string): string => `The role ${role} is not enough for the console.`,
  needsOperator: (name: string, role: string): string =>
    `This needs the role operator. You are signed in as ${name} with the role ${role}.`,
};

export const en = {
  ...words,
  session,
  msg: messageWords,
  flight: flightWords,
  act: operate,
  station,
  stationState,
  number,
  span,
  finding,
  until,
  since: (time: string) => `since ${time}`,
  ago: (time: string) => `${time} ago`,
  perMinute: (rate: number) => `${number(Math.round(rate))}/min`,
  flowingDetail: (rate: number) => `${number(Math.round(rate))} messages a minute, nothing waits`,
  retryIn: (left: string) => `next try in ${left}`,
  attempts: (done: number, of: number) => `${String(done)} of ${String(of)} attempts`,
  releasedIn: (left: string) => `released in ${left}`,
  ids: (count: number | string) => (String(count) === '1' ? '1 ID' : `${String(count)} IDs`),
  moreHoles: (count: number) => `and ${many(count, 'hole', 'holes')} more`,
  sparkline: (name: string, low: number, high: number) =>
    `${name}, rate of the last two minutes: ${number(low)} to ${number(high)} a minute`,
  flightsShown: (shown: number, all: number) =>
    shown === all ? many(all, 'flight', 'flights') : `${number(shown)} of ${many(all, 'flight', 'flights')}`,
  openFlight: (name: string) => `Open flight ${name}`,
  version: (version: number) => `version ${String(version)}`,
  message: (msgId: string) => `message ${msgId}`,
  referenceCount: (type: string, active: number, inactive: number) =>
    `${type} (${number(active)}${inactive === 0 ? '' : `, ${number(inactive)} inactive`})`,
  namedBy: (msgId: string) => `named by message ${msgId}`,
  untilMessage: (msgId: string, time: string) => `until message ${msgId}, ${time} `,
  reports: (waiting: number, sent: number) =>
    `Error reports: ${number(waiting)} queued, ${number(sent)} sent`,
  openRequests: (open: number) => `${number(open)} open`,
  requestOf: (type: string, day: string | null) => (day === null ? type : `Schedule ${day}`),
  outbound: (outId: string, sequence: string) => `ID ${outId}, SEQN ${sequence}`,
  waitsUntil: (time: string) => `until ${time}`,
  answeredBy: (msgId: string, matched: 'exact' | 'downgraded') =>
    matched === 'exact' ? `message ${msgId}` : `message ${msgId}, without an echoed SEQN`,
  unanswered: (because: 'timeout' | 'replaced'): string =>
    because === 'timeout' ? 'none in time' : 'asked again meanwhile',
  delayed: (minutes: number) => `+${String(minutes)} min`,
  divertedTo: (airport: string) => `Diverted ${airport}`,
};

export type Dictionary = typeof en;
