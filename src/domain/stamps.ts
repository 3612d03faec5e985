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

/** Stamps being rewritten. Nothing of the original is shared. */
export interface StampsDraft {
  readonly fields: Map<string, string>;
  deleted: string;
  floor: string | null;
  delays: Map<string, string>;
  readonly push: Map<string, KeptPush>;
  readonly tractor: Map<string, KeptTractor>;
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

/** A working copy. */
export function draftStamps(stamps: Stamps): StampsDraft {
  return {
    fields: new Map(Object.entries(stamps.fields)),
    deleted: stamps.deleted,
    floor: stamps.delays.floor,
    delays: new Map(Object.entries(stamps.delays.codes)),
    push: new Map(Object.entries(stamps.push)),
    tractor: new Map(Object.entries(stamps.tractor)),
  };
}

/** The working copy as it is stored. */
export function finishStamps(draft: StampsDraft): Stamps {
  return {
    fields: Object.fromEntries(draft.fields),
    deleted: draft.deleted,
    delays: { floor: draft.floor, codes: Object.fromEntries(draft.delays) },
    push: Object.fromEntries(draft.push),
    tractor: Object.fromEntries(draft.tractor),
  };
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
