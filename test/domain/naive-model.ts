/**
 * The dialect's merge rules applied in the order of message IDs, with no stamps at all: what the fold must agree
 * with where messages run in order (dialect.md, "Merge rules"). Written apart from the code it checks.
 */
import { COLLECTIONS, SCALARS } from '../../src/domain/fields.ts';
import type { Flid } from '../../src/domain/ids.ts';
import type { DecodedMessage, Write } from '../../src/domain/message.ts';

type Plain = Record<string, unknown>;

/** One flight by the plain rules. */
export class NaiveFlight {
  deleted = false;
  version = 0;
  readonly scalars = new Map<string, unknown>();
  readonly lists = new Map<string, Plain[]>();
  readonly delays = new Map<string, Plain>();
  readonly pushes = new Map<string, { time: string; indicator: string | null }>();
  readonly tractors = new Map<string, string>();
  readonly flid: Flid;

  constructor(flid: Flid) {
    this.flid = flid;
  }

  write(write: Write): void {
    switch (write.kind) {
      case 'scalar':
        this.scalars.set(write.field, write.value);
        break;
      case 'list':
        this.lists.set(write.field, write.entries as Plain[]);
        break;
      case 'delay':
        this.delays.set(write.code, { code: write.code, ...write.value });
        break;
      case 'delays-cleared':
        this.delays.clear();
        break;
      case 'push':
        if (write.value === null) this.pushes.delete(write.stand);
        else this.pushes.set(write.stand, write.value);
        break;
      case 'tractor':
        if (write.value === null) this.tractors.delete(write.stand);
        else this.tractors.set(write.stand, write.value);
        break;
    }
  }

  /** The published flight. */
  render(): Plain {
    const state: Plain = { flid: this.flid };
    for (const { path } of SCALARS) assign(state, path, this.scalars.get(path) ?? null);
    for (const { name, order, attributes } of COLLECTIONS) {
      let source = name === 'delays' ? [...this.delays.values()] : [...(this.lists.get(name) ?? [])];
      if (name === 'delays') source = source.sort((a, b) => (String(a['code']) < String(b['code']) ? -1 : 1));
      if (order === 'seq') source = source.sort((a, b) => Number(a['seq']) - Number(b['seq']));
      state[name] = source.map((entry) => {
        const code = String(entry['code']);
        const joined: Plain =
          name === 'stands'
            ? { ...entry, push: this.pushes.get(code) ?? {}, tractorAt: this.tractors.get(code) ?? null }
            : entry;
        const result: Plain = {};
        for (const { path } of attributes) assign(result, path, read(joined, path) ?? null);
        return result;
      });
    }
    return state;
  }
}

/** Flights by the plain rules; a message that does not match leaves no trace. */
export class NaiveWorld {
  readonly flights = new Map<Flid, NaiveFlight>();
  /** `FLID version type` of each event, in order. */
  readonly events: string[] = [];

  run({ body }: DecodedMessage): void {
    if (body.kind === 'deletion') {
      for (const flid of body.flids) {
        const flight = this.flights.get(flid);
        if (flight === undefined || flight.deleted) continue;
        flight.deleted = true;
        this.emit(flight);
      }
      return;
    }
    if (body.kind !== 'schedule' && body.kind !== 'operation') throw new Error('no message about flights');
    for (const flid of new Set(body.records.map((record) => record.flid))) {
      if (body.kind === 'schedule' && !this.flights.has(flid)) this.flights.set(flid, new NaiveFlight(flid));
      const flight = this.flights.get(flid);
      if (flight === undefined || (body.kind === 'operation' && flight.deleted)) continue;
      const before = JSON.stringify(flight.render());
      const visible = flight.version === 0 || flight.deleted;
      flight.deleted = false;
      for (const record of body.records) {
        if (record.flid === flid) for (const write of record.writes) flight.write(write);
      }
      if (visible || JSON.stringify(flight.render()) !== before) this.emit(flight);
    }
  }

  private emit(flight: NaiveFlight): void {
    flight.version += 1;
    this.events.push(`${flight.flid} ${flight.version} ${flight.deleted ? 'TOMBSTONE' : 'UPSERT'}`);
  }
}

function assign(target: Plain, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop();
  let place = target;
  for (const key of keys) place = (place[key] ??= {}) as Plain;
  if (last !== undefined) place[last] = value;
}

function read(source: Plain, path: string): unknown {
  let value: unknown = source;
  for (const key of path.split('.')) value = (value as Plain | undefined)?.[key];
  return value;
}
