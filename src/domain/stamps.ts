/**
 * Stamps: which message last wrote each register (decisions.md, "State"). They are kept as decimal text in
 * jsonb and compared as 64-bit integers. Codes of delays and stands come from messages, so they are only ever
 * keys of maps here: as keys of plain objects, `constructor` and `__proto__` would be something else.
 */
import type { Stamps } from './flight.ts';
import type { MsgId } from './ids.ts';

/** Push-back at a stand as kept; a null time is a push that was cleared. */
export type KeptPush = Stamps['push'][string];
/** Tractor at a stand as kept; a null time is one that was cleared. */
export type KeptTractor = Stamps['tractor'][string];

/** Stamps being rewritten. The original stays as it is, and what is not looked at is not copied. */
export class StampsDraft {
  readonly #before: Stamps;
  readonly #fields = new Map<string, string>();
  #delays: Map<string, string> | null = null;
  #push: Map<string, KeptPush> | null = null;
  #tractor: Map<string, KeptTractor> | null = null;
  deleted: string;
  floor: string | null;

  constructor(stamps: Stamps) {
    this.#before = stamps;
    this.deleted = stamps.deleted;
    this.floor = stamps.delays.floor;
  }

  /** Who wrote a scalar or a list; the names are those of the catalogue. */
  field(name: string): string | undefined {
    return this.#fields.get(name) ?? this.#before.fields[name];
  }

  setField(name: string, by: string): void {
    this.#fields.set(name, by);
  }

  /** By code. */
  get delays(): Map<string, string> {
    return (this.#delays ??= new Map(Object.entries(this.#before.delays.codes)));
  }

  set delays(codes: Map<string, string>) {
    this.#delays = codes;
  }

  /** By stand code. */
  get push(): Map<string, KeptPush> {
    return (this.#push ??= new Map(Object.entries(this.#before.push)));
  }

  /** By stand code. */
  get tractor(): Map<string, KeptTractor> {
    return (this.#tractor ??= new Map(Object.entries(this.#before.tractor)));
  }

  /** As they are stored. */
  finish(): Stamps {
    const { fields, delays, push, tractor } = this.#before;
    return {
      fields: this.#fields.size === 0 ? fields : { ...fields, ...Object.fromEntries(this.#fields) },
      deleted: this.deleted,
      delays: {
        floor: this.floor,
        codes: this.#delays === null ? delays.codes : Object.fromEntries(this.#delays),
      },
      push: this.#push === null ? push : Object.fromEntries(this.#push),
      tractor: this.#tractor === null ? tractor : Object.fromEntries(this.#tractor),
    };
  }
}

/** Stamps of a flight that no message has written; every message is newer than '0' or equal to it. */
export const NO_STAMPS: Stamps = {
  fields: {},
  deleted: '0',
  delays: { floor: null, codes: {} },
  push: {},
  tractor: {},
};

/** Whether a message may not write a register: it is older than the one that wrote it last. */
export function isOlder(msgId: MsgId, stamp: string | null | undefined): boolean {
  return stamp !== null && stamp !== undefined && msgId < BigInt(stamp);
}

/** Field lineage for people: register name → the message that last wrote it, e.g. `gates` or `delays[81]`. */
export function lineage(stamps: Stamps): ReadonlyMap<string, string> {
  const all = new Map<string, string>(Object.entries(stamps.fields));
  all.set('deleted', stamps.deleted);
  if (stamps.delays.floor !== null) all.set('delays', stamps.delays.floor);
  for (const [code, by] of Object.entries(stamps.delays.codes)) all.set(`delays[${code}]`, by);
  for (const [stand, { by }] of Object.entries(stamps.push)) all.set(`stands[${stand}].push`, by);
  for (const [stand, { by }] of Object.entries(stamps.tractor)) all.set(`stands[${stand}].tractorAt`, by);
  return all;
}
