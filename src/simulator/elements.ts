/** The elements of flights (dialect.md, "Schedule payload"): one function per shape. */
import type { Airport } from './catalogue.ts';
import type { FlightPlan } from './flights.ts';
import type { DayTimes } from './local-time.ts';
import type { Stand } from './resources.ts';
import { escaped, leaf, node } from './xml.ts';

/** A planned stand. */
export function standElement(
  stand: Stand,
  { from, to }: { from: number; to: number },
  times: DayTimes,
  number = 1,
): string {
  return node(
    'PSDT',
    leaf('PSST', stand.code) + leaf('STST', times.body(from)) + leaf('STET', times.body(to)),
    { PSNO: number },
  );
}

/** A minute that is not known yet is null. */
export interface Use {
  readonly plannedFrom: number;
  readonly plannedTo: number;
  readonly from: number | null;
  readonly to: number | null;
}

/** Gates, in the order of use. */
export function gateElements(
  flight: FlightPlan,
  gates: readonly string[],
  use: Use,
  times: DayTimes,
): string {
  return gates
    .map((gate, index) =>
      node(
        'GTDT',
        leaf('GATE', gate) +
          leaf('PGOT', times.body(use.plannedFrom)) +
          leaf('PGCT', times.body(use.plannedTo)) +
          optional('GOTM', use.from, times) +
          optional('GCTM', use.to, times) +
          leaf('GTYP', flight.indicator),
        { GTNO: index + 1 },
      ),
    )
    .join('');
}

/** Check-in counters; the first one serves the first class. */
export function counterElements(flight: FlightPlan, use: Use, times: DayTimes): string {
  return flight.counters
    .map((counter, index) =>
      node(
        'CKDT',
        leaf('CHKC', counter) +
          leaf('CCLS', index === 0 ? 'F' : 'Y') +
          leaf('PCOT', times.body(use.plannedFrom)) +
          leaf('PCCT', times.body(use.plannedTo)) +
          optional('COTM', use.from, times) +
          optional('CCTM', use.to, times) +
          leaf('CTYP', flight.indicator),
        { CKNO: index + 1 },
      ),
    )
    .join('');
}

/** The chute of a departure. */
export function chuteElement(flight: FlightPlan, use: Use, times: DayTimes): string {
  return node(
    'CHDT',
    leaf('CHUT', flight.baggage) +
      leaf('CCLS', 'Y') +
      leaf('PCBT', times.body(use.plannedFrom)) +
      leaf('PCET', times.body(use.plannedTo)) +
      optional('CBTM', use.from, times) +
      optional('CETM', use.to, times) +
      leaf('CTYP', flight.indicator),
    { CHNO: 1 },
  );
}

/** The belt of an arrival, with first and last bag. */
export function beltElement(flight: FlightPlan, use: Use, times: DayTimes): string {
  return node(
    'CLDT',
    leaf('BELT', flight.baggage) +
      leaf('BCLS', 'Y') +
      leaf('PCOT', times.body(use.plannedFrom)) +
      leaf('PCCT', times.body(use.plannedTo)) +
      optional('FBAG', use.from, times) +
      optional('LBAG', use.to, times) +
      leaf('BTYP', flight.indicator),
    { CLNO: 1 },
  );
}

/** Airbridges attached (A) or detached (D), one minute apart. */
export function airbridgeElements(
  stand: Stand,
  operation: 'A' | 'D',
  minute: number,
  times: DayTimes,
): string {
  return stand.airbridges
    .map((bridge, index) =>
      node(
        'ABTM',
        leaf('ABDG', bridge) + leaf('ABOP', operation) + leaf('AOTM', times.body(minute + index)),
        {
          ASNO: index + 1,
        },
      ),
    )
    .join('');
}

/** Chocks on or off. */
export function chockElement(stand: Stand, indicator: 'ON' | 'OFF', minute: number, times: DayTimes): string {
  return node('CHOT', leaf('CHST', stand.code) + leaf('CHID', indicator) + leaf('CHTM', times.body(minute)), {
    CSNO: 1,
  });
}

/** Push-back; a null minute clears it. */
export function pushElement(stand: Stand, minute: number | null, times: DayTimes): string {
  const time = minute === null ? '<PSTM/>' : leaf('PSTM', times.body(minute));
  return node('PSHT', time + leaf('PSID', 'OUT') + leaf('PUST', stand.code), { PSHN: 1 });
}

/** Port: door opened (O) or closed (C). */
export function portElement(indicator: 'O' | 'C', minute: number, times: DayTimes): string {
  return node('PORT', leaf('POTM', times.body(minute)) + leaf('POID', indicator));
}

/** One delay. */
export function delayElement(
  code: string,
  from: number,
  minutes: number,
  remark: string,
  times: DayTimes,
): string {
  const duration = `${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
  return `<DELY CODE="${code}" STRT="${times.body(from)}" DURA="${duration}">${escaped(remark)}</DELY>`;
}

/** One service at the stand. */
export function serviceElement(
  service: {
    code: string;
    quantity: number;
    from: number;
    to: number | null;
    provider: string;
    abnormal: { code: string; remark: string } | null;
  },
  times: DayTimes,
): string {
  return node(
    'SRVT',
    leaf('SRTC', service.code) +
      leaf('SRQT', service.quantity) +
      leaf('SRST', times.body(service.from)) +
      optional('SRET', service.to, times) +
      leaf('SRPR', service.provider) +
      leaf('SANR', service.abnormal?.code) +
      leaf('SARR', service.abnormal?.remark),
  );
}

/** The route through this airport (ERUT), or without it (ROUT). */
export function routeElements(
  name: 'ERUT' | 'ROUT',
  flight: FlightPlan,
  airport: string,
  via: Airport | null,
  times: DayTimes,
): string {
  const { scheduled, other } = flight;
  const departs = flight.movement === 'D';
  const direction = departs ? 1 : -1;
  const far = scheduled + direction * other.minutes;
  const stop = via === null ? null : Math.round(scheduled + (direction * other.minutes) / 2);
  const here: Point = {
    code: airport,
    arrival: departs ? null : scheduled,
    departure: departs ? scheduled : null,
  };
  const there: Point = { code: other.code, arrival: departs ? far : null, departure: departs ? null : far };
  const between: Point[] =
    via === null || stop === null ? [] : [{ code: via.code, arrival: stop, departure: stop + 45 }];
  const all = departs ? [here, ...between, there] : [there, ...between, here];
  return all
    .filter((point) => name === 'ERUT' || point !== here)
    .map(({ code, arrival, departure }, index) =>
      node(name, leaf('APCD', code) + optional('SCAT', arrival, times) + optional('SCDT', departure, times), {
        RTNO: index + 1,
      }),
    )
    .join('');
}

interface Point {
  readonly code: string;
  readonly arrival: number | null;
  readonly departure: number | null;
}

function optional(name: string, minute: number | null, times: DayTimes): string {
  return minute === null ? '' : leaf(name, times.body(Math.round(minute)));
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
