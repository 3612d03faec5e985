/** Schedule packages: the day's DNLD and ad-hoc ADFT (dialect.md, "Schedule payload"). */
import { routeElements, standElement } from './elements.ts';
import type { Codeshare, FlightPlan } from './flights.ts';
import type { DayTimes } from './local-time.ts';
import { leaf, node } from './xml.ts';

/** A package of records. */
export function schedulePayload(records: readonly string[]): string {
  return node('SCHD', `${leaf('RECS', records.length)}\n    ${records.join('\n    ')}\n  `);
}

/** The record of a flight, as planned. */
export function scheduleRecord(flight: FlightPlan, airport: string, times: DayTimes): string {
  const { turnaround, agents, aircraft, firstStand, via } = flight;
  // Some records bring the route without this airport.
  const route = Number(flight.flid.slice(-2)) % 12 === 0 ? 'ROUT' : 'ERUT';
  return node(
    'FLTR',
    head(flight, flight.scheduled, times) +
      leaf('FLTY', flight.serviceType) +
      leaf('FLIN', flight.indicator) +
      leaf('ACFT', aircraft.code) +
      leaf('RENO', flight.registration) +
      leaf('TAOP', turnaround?.airline) +
      leaf('TAFL', turnaround?.flightNumber) +
      leaf('TAID', turnaround?.flid) +
      leaf('TRML', firstStand.terminal) +
      leaf('MAXP', aircraft.seats) +
      leaf('STND', firstStand.code) +
      leaf('PHAG', agents.passenger) +
      leaf('FHAG', agents.field) +
      leaf('MHAG', agents.maintenance) +
      standElement(firstStand, flight.onStand, times) +
      routeElements(route, flight, airport, via, times),
  );
}

/** The record of a flight with what no update changes. */
export function answerRecord(flight: FlightPlan, times: DayTimes): string {
  return node('FLTR', head(flight, flight.scheduled, times) + leaf('FLTY', flight.serviceType));
}

/** The record of a codeshare: the operating flight under another number. */
export function codeshareRecord(
  share: Codeshare,
  flight: FlightPlan,
  airport: string,
  times: DayTimes,
): string {
  return node(
    'FLTR',
    head({ ...share, movement: flight.movement }, flight.scheduled, times) +
      leaf('FLTY', flight.serviceType) +
      leaf('FLIN', flight.indicator) +
      leaf('ACFT', flight.aircraft.code) +
      leaf('CSOP', flight.airline) +
      leaf('CSFT', flight.flightNumber) +
      leaf('CSID', flight.flid) +
      leaf('TRML', flight.firstStand.terminal) +
      routeElements('ERUT', flight, airport, flight.via, times),
  );
}

function head(
  flight: Pick<FlightPlan, 'flid' | 'ffid' | 'airline' | 'flightNumber' | 'movement'>,
  scheduled: number,
  times: DayTimes,
): string {
  return (
    leaf('FLID', flight.flid) +
    leaf('FFID', flight.ffid) +
    leaf('ALCD', flight.airline) +
    leaf('FLNO', flight.flightNumber) +
    leaf('MVIN', flight.movement) +
    leaf('SODT', times.body(scheduled))
  );
}
