/** Collects what is said about one flight, minute by minute, and puts it in operational order. */
import type { FlightPlan } from './flights.ts';
import type { DayTimes } from './local-time.ts';
import { randomStream, type Random } from './random.ts';
import type { BaseKind, Draft } from './steps.ts';
import { leaf, node } from './xml.ts';

/** One thing said about a flight, before it has its second. */
interface Line {
  readonly minute: number;
  readonly priority: Draft['priority'];
  readonly kind: BaseKind;
  readonly type: string;
  readonly subtype: string;
  readonly sender: Draft['sender'];
  readonly payload: string;
}

/** How one operational update is sent. */
export interface Sending {
  /** Default 1. */
  readonly priority?: Draft['priority'];
  /** Default AODB. */
  readonly sender?: Draft['sender'];
  /** Default operation. */
  readonly kind?: BaseKind;
  /** Its codeshares get the same record, in the same message. Default false. */
  readonly withCodeshares?: boolean;
}

/** A time during which nothing else is said: the flight is cancelled, deleted, elsewhere. */
interface Silence {
  readonly from: number;
  readonly to: number;
}

export class Script {
  readonly flight: FlightPlan;
  readonly times: DayTimes;
  /** A stream of its own per flight: what one flight does leaves the others as they are. */
  readonly random: Random;
  readonly #lines: Line[] = [];
  readonly #turns: Line[] = [];
  readonly #silences: Silence[] = [];

  constructor(flight: FlightPlan, times: DayTimes, seed: string) {
    this.flight = flight;
    this.times = times;
    this.random = randomStream(seed, `flight ${flight.flid}`);
  }

  /** Text of a time. */
  time(minute: number): string {
    return this.times.body(Math.round(minute));
  }

  /** A FLOP about this flight. */
  say(minute: number, subtype: string, elements: string, sending: Sending = {}): void {
    this.#lines.push(this.#operation(minute, subtype, elements, sending));
  }

  /** The same, said even in a silence: the incident itself. */
  turn(minute: number, subtype: string, elements: string, sending: Sending = {}): void {
    this.#turns.push(this.#operation(minute, subtype, elements, { priority: 0, ...sending }));
  }

  /** A message that is no FLOP. */
  other(
    minute: number,
    line: Pick<Line, 'type' | 'subtype' | 'payload' | 'kind'>,
    priority: Draft['priority'] = 0,
  ): void {
    const { kind } = line;
    const target = kind === 'ignored' ? this.#lines : this.#turns;
    target.push({ minute, priority, sender: 'AODB', ...line });
  }

  /** Nothing but turns is said between the two minutes. */
  silence(from: number, to: number = Number.POSITIVE_INFINITY): void {
    this.#silences.push({ from, to });
  }

  /**
   * Everything in order of time, none before `release`: what would have been said before is said then, in the
   * same order.
   */
  drafts(release: number): Draft[] {
    const spoken = this.#lines.filter(
      ({ minute }) => !this.#silences.some(({ from, to }) => from <= minute && minute < to),
    );
    // A stable sort: what falls into one minute keeps the order in which it was written here.
    const ordered = [...this.#turns, ...spoken].sort((left, right) => left.minute - right.minute);
    let at = release * 60;
    return ordered.map(({ minute, ...line }) => {
      at = Math.max(Math.round(minute) * 60 + this.random.int(0, 50), at + this.random.int(1, 8));
      return { at, ...line };
    });
  }

  #operation(minute: number, subtype: string, elements: string, sending: Sending): Line {
    const { priority = 1, sender = 'AODB', kind = 'operation', withCodeshares = false } = sending;
    const named = withCodeshares ? [this.flight, ...this.flight.codeshares] : [this.flight];
    const payload = named.map((one) => record(one, elements)).join('');
    return { minute, priority, sender, kind, type: 'FLOP', subtype, payload };
  }
}

/** One FLOP record. */
export function record(flight: { readonly flid: string; readonly ffid: string }, elements: string): string {
  return node('FLOP', leaf('FLID', flight.flid) + leaf('FFID', flight.ffid) + elements);
}
