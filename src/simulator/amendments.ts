/** Small corrections to a flight, so that every kind of operational update is seen in a day. */
import { AIRCRAFT, REMARKS } from './catalogue.ts';
import { routeElements } from './elements.ts';
import type { FlightPlan } from './flights.ts';
import type { Script } from './script.ts';
import { leaf } from './xml.ts';

interface Amendment {
  readonly subtype: string;
  /** Null where the flight has no use for it. */
  readonly elements: (script: Script, airport: string) => string | null;
}

const AMENDMENTS: readonly Amendment[] = [
  { subtype: 'REMC', elements: ({ random }) => leaf('REMC', random.pick(REMARKS)) },
  { subtype: 'RENO', elements: ({ random }) => leaf('RENO', `B${random.int(1000, 9999)}`) },
  {
    subtype: 'ACFT',
    elements: ({ flight, random }) => {
      const types = AIRCRAFT.filter(({ wide }) => wide === flight.aircraft.wide);
      const type = random.pick(types);
      return leaf('ACFT', type.code) + leaf('MAXP', type.seats);
    },
  },
  {
    subtype: 'MAXP',
    elements: ({ flight, random }) => leaf('MAXP', flight.aircraft.seats - random.int(1, 12)),
  },
  { subtype: 'TRML', elements: ({ flight }) => leaf('TRML', flight.stand.terminal) },
  {
    subtype: 'HNAG',
    elements: ({ flight: { agents } }) =>
      leaf('FHAG', agents.maintenance) + leaf('PHAG', agents.passenger) + leaf('MHAG', agents.maintenance),
  },
  { subtype: 'FLTY', elements: ({ random }) => leaf('FLTY', random.pick(['W/Z', 'L/W'])) },
  {
    subtype: 'FLIN',
    elements: ({ flight, random }) => leaf('FLIN', random.chance(0.3) ? 'M' : flight.indicator),
  },
  {
    subtype: 'TAOP',
    elements: ({ flight: { turnaround } }) =>
      turnaround === null
        ? null
        : leaf('TAOP', turnaround.airline) +
          leaf('TAFL', turnaround.flightNumber) +
          leaf('TAID', turnaround.flid),
  },
  {
    subtype: 'ERUT',
    elements: ({ flight, times }, airport) => routeElements('ERUT', flight, airport, flight.via, times),
  },
  { subtype: 'STND', elements: ({ flight }) => leaf('STND', flight.stand.code) },
];

/** Tells about one amendment for two flights, a few hours before their time. */
export function tellAmendment(script: Script, number: number, airport: string): void {
  const { flight, random } = script;
  if (number % 2 === 1) return;
  const chosen = AMENDMENTS[(number / 2) % AMENDMENTS.length];
  const elements = chosen?.elements(script, airport) ?? null;
  if (chosen === undefined || elements === null) return;
  script.say(flight.scheduled - random.int(45, 240), chosen.subtype, elements);
}

/** The codeshares' own update: which flight operates them. */
export function codeshareElements(flight: FlightPlan): string {
  return leaf('CSFT', flight.flightNumber) + leaf('CSOP', flight.airline) + leaf('CSID', flight.flid);
}
