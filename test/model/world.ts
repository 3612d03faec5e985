/**
 * The model: what messages do to the flights of an airport, one after the other, and how each of them ends. A plain
 * restatement of dialect.md ("Merge rules") and decisions.md ("State", "Order of judgement") that shares no code with
 * the pipeline. It knows the kinds of message that the simulator writes and throws at any other.
 */
import { equal } from './equal.ts';
import { Flight } from './flight.ts';
import { readMessage, type Body, type Entry, type FlightPart, type Json, type Write } from './message.ts';

/** How a message ends. */
export interface Verdict {
  readonly state: 'SUCCEEDED' | 'SKIPPED' | 'DEAD';
  /** As it stands at the end: what is repeated to no avail is EXHAUSTED. */
  readonly errorClass: 'MALFORMED' | 'PROTOCOL' | 'EXHAUSTED' | null;
  /** How its reason begins; null for a success, whose reason is left open. */
  readonly reason: string | null;
}

/** A visible change of a flight. */
export interface Change {
  readonly flid: string;
  readonly version: number;
  readonly msgId: bigint;
  readonly type: 'UPSERT' | 'TOMBSTONE';
  readonly operationDay: string;
  /** As it is stored and told; null in a TOMBSTONE. */
  readonly flight: Readonly<Record<string, Json>> | null;
}

export interface Result {
  readonly verdict: Verdict;
  /** Null where the message has none that could be read. */
  readonly identity: string | null;
  readonly changes: readonly Change[];
}

export interface Row {
  body: Entry;
  active: boolean;
  by: bigint;
}

export interface WorldOptions {
  /** IANA zone of the airport. */
  readonly timeZone: string;
  /** HH:mm, the operation-day cutoff. */
  readonly cutoff?: string;
  /** Whether the codes of VIP persons are kept. Default false. */
  readonly vipPersons?: boolean;
  /**
   * Who owns an identity, where that is known: of equal messages the first that was run is the original, and one that
   * came late may have run after its repeat. By default the first that is applied.
   */
  readonly owners?: ReadonlyMap<string, bigint>;
}

export class World {
  readonly flights = new Map<string, Flight>();
  /** Reference data by `TYPE KEY`. */
  readonly reference = new Map<string, Row>();
  readonly #timeZone: string;
  readonly #cutoff: string;
  readonly #vipPersons: boolean;
  readonly #owners: Map<string, bigint>;

  constructor({ timeZone, cutoff = '00:00', vipPersons = false, owners = new Map() }: WorldOptions) {
    this.#vipPersons = vipPersons;
    this.#timeZone = timeZone;
    this.#cutoff = cutoff;
    this.#owners = new Map(owners);
  }

  /** Runs a message. IDs need not ascend: each register keeps what the highest has said. */
  apply(msgId: bigint, text: string | null): Result {
    if (text === null || text === '') return result(dead('MALFORMED', 'raw-missing'));
    const reading = readMessage(text, this.#timeZone);
    if (!reading.ok) {
      const errorClass = reading.errorClass === 'CODEC_ERROR' ? 'EXHAUSTED' : reading.errorClass;
      return result(dead(errorClass, reading.reason));
    }
    const { identity, kind, body } = reading;
    const owner = this.#owners.get(identity) ?? msgId;
    this.#owners.set(identity, owner);
    if (owner !== msgId) return result(skipped(`duplicate-of:${String(owner)}`), identity);
    if (body.kind === 'ignored') return result(skipped(`ignored:${kind}`), identity);
    if (body.kind === 'unsupported') return result(dead('EXHAUSTED', `unsupported:${kind}`), identity);
    return { ...this.#decide(msgId, body), identity };
  }

  #decide(msgId: bigint, body: Exclude<Body, { kind: 'ignored' | 'unsupported' }>): Omit<Result, 'identity'> {
    switch (body.kind) {
      case 'schedule': {
        const { parts, declared } = body;
        if (declared !== String(parts.length))
          return { verdict: dead('PROTOCOL', 'recs-mismatch'), changes: [] };
        if (new Set(parts.map(({ flid }) => flid)).size < parts.length) {
          return { verdict: dead('PROTOCOL', 'duplicate-flid'), changes: [] };
        }
        if (this.#movesDay(parts))
          return { verdict: dead('PROTOCOL', 'operation-day-conflict'), changes: [] };
        return this.#run(msgId, parts, () => true, false);
      }
      case 'operation':
        if (this.#movesDay(body.parts))
          return { verdict: dead('PROTOCOL', 'operation-day-conflict'), changes: [] };
        return this.#run(msgId, body.parts, (flight) => !flight.deleted || msgId < flight.deletedBy, null);
      case 'deletion': {
        const parts = body.flids.map((flid) => ({ flid, writes: [] }));
        return this.#run(msgId, parts, (flight) => !flight.deleted, true);
      }
      case 'reference':
        return { verdict: this.#applyReference(msgId, body), changes: [] };
    }
  }

  /** @param deleted what the message says about the flight as a whole; null for nothing */
  #run(
    msgId: bigint,
    parts: readonly FlightPart[],
    matches: (flight: Flight) => boolean,
    deleted: boolean | null,
  ): Omit<Result, 'identity'> {
    const changes: Change[] = [];
    let matched = parts.length === 0;
    for (const flid of new Set(parts.map((part) => part.flid))) {
      const own = parts.filter((part) => part.flid === flid);
      const flight = this.flights.get(flid) ?? (deleted === false ? this.#create(own[0]) : null);
      if (flight === null || !matches(flight)) continue;
      matched = true;
      const before = flight.version === 0 || flight.deleted ? null : flight.state();
      for (const { writes } of own) for (const write of writes) flight.write(msgId, this.#kept(write));
      if (deleted !== null) flight.mark(msgId, deleted);
      const after = flight.deleted ? null : flight.state();
      if (equal(before, after)) continue;
      flight.version += 1;
      changes.push({
        flid,
        version: flight.version,
        msgId,
        type: after === null ? 'TOMBSTONE' : 'UPSERT',
        operationDay: flight.operationDay,
        flight: after,
      });
    }
    if (!matched) return { verdict: skipped('no-match:'), changes: [] };
    return { verdict: { state: 'SUCCEEDED', errorClass: null, reason: null }, changes };
  }

  #kept(write: Write): Write {
    if (this.#vipPersons || write.what !== 'list' || write.name !== 'vips') return write;
    return { ...write, entries: write.entries.map((vip) => ({ ...vip, code: null })) };
  }

  #create(part: FlightPart | undefined): Flight {
    const day = part === undefined ? null : this.#dayOf(part);
    if (part === undefined || day === null) throw new Error('a schedule record without its time');
    const flight = new Flight(part.flid, day);
    this.flights.set(part.flid, flight);
    return flight;
  }

  #movesDay(parts: readonly FlightPart[]): boolean {
    return parts.some((part) => {
      const known = this.flights.get(part.flid)?.operationDay;
      const day = this.#dayOf(part);
      return known !== undefined && day !== null && day !== known;
    });
  }

  /** Local date of the scheduled time, the day before where it is before the cutoff; null where the record has none. */
  #dayOf({ writes }: FlightPart): string | null {
    const write = writes.findLast((one) => one.what === 'scalar' && one.path === 'scheduledTime');
    if (write?.what !== 'scalar' || typeof write.value !== 'string') return null;
    const date = write.value.slice(0, 10);
    if (write.value.slice(11, 16) >= this.#cutoff) return date;
    return new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
  }

  #applyReference(msgId: bigint, body: Extract<Body, { kind: 'reference' }>): Verdict {
    const { rtype, operation, declared, parts } = body;
    if (declared !== String(parts.length)) return dead('PROTOCOL', 'recs-mismatch');
    if (parts.length === 0) return dead('PROTOCOL', 'empty-reference');
    if (operation === 'DNLD') {
      for (const [name, row] of this.reference) {
        if (name.startsWith(`${rtype} `) && row.by < msgId) row.active = false;
      }
    }
    for (const { key, body: told } of parts) {
      const name = `${rtype} ${key}`;
      const row = this.reference.get(name);
      if (row !== undefined && row.by > msgId) continue;
      const active = operation !== 'DEL';
      this.reference.set(name, { body: active || row === undefined ? told : row.body, active, by: msgId });
    }
    return { state: 'SUCCEEDED', errorClass: null, reason: null };
  }
}

function result(verdict: Verdict, identity: string | null = null): Result {
  return { verdict, identity, changes: [] };
}

function dead(errorClass: 'MALFORMED' | 'PROTOCOL' | 'EXHAUSTED', reason: string): Verdict {
  return { state: 'DEAD', errorClass, reason };
}

function skipped(reason: string): Verdict {
  return { state: 'SKIPPED', errorClass: null, reason };
}
