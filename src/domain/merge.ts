/**
 * The fold: one message's net effect on the registers of one flight, by stamps (decisions.md, "State"). It is
 * the only code that writes a flight, for live messages and for the audit alike. Whatever the order in which
 * messages are folded, the registers end the same.
 */
import type { ListName } from './fields.ts';
import type { FlightState, Stamps } from './flight.ts';
import type { Flid, MsgId } from './ids.ts';
import { jsonEqual, type Json } from './json.ts';
import type { Entry, Write } from './message.ts';
import { composeWrites, type NetEffect } from './net-effect.ts';
import { isOlder, NO_STAMPS, StampsDraft } from './stamps.ts';
import { canonicalEntries, canonicalEntry, emptyState, inCatalogueOrder, StateDraft } from './state.ts';

/** The registers of a flight: what messages write, without version and times. */
export interface Registers {
  readonly flid: Flid;
  readonly state: FlightState;
  readonly stamps: Stamps;
  readonly deleted: boolean;
}

/** What a fold did. */
export interface Fold {
  /** The registers afterwards; the very object that was given where nothing stored has changed. */
  readonly after: Registers;
  /** Whether anything stored has changed, stamps included. */
  readonly stored: boolean;
  /** Scalars and collections whose rendered value differs, and `deleted`; in catalogue order. */
  readonly changed: readonly string[];
  /** Registers that a newer message holds with another value, in catalogue order. */
  readonly superseded: readonly string[];
  /** Push and tractor writes whose stand code no stand of the flight carries. */
  readonly unmatchedStands: number;
}

/** Registers that no message has written. */
export function emptyRegisters(flid: Flid): Registers {
  return { flid, state: emptyState(flid), stamps: NO_STAMPS, deleted: false };
}

/** Folds the writes of one message, all of its records for this flight in document order. */
export function foldPatch(
  before: Registers,
  msgId: MsgId,
  writes: Iterable<Write>,
  deleted: boolean | null = null,
): Fold {
  return foldEffect(before, msgId, composeWrites(writes, deleted));
}

/** Folds a composed effect. */
export function foldEffect(before: Registers, msgId: MsgId, effect: NetEffect): Fold {
  const work: Work = {
    msgId,
    by: msgId.toString(),
    state: new StateDraft(before.state),
    stamps: new StampsDraft(before.stamps),
    changed: new Set(),
    superseded: new Set(),
    stored: false,
  };
  foldScalars(work, effect);
  for (const [name, entries] of effect.lists) if (name !== 'stands') foldList(work, name, entries);
  const unmatchedStands = foldStands(work, effect);
  foldDelays(work, effect.delays);
  const deleted = foldDeleted(work, before.deleted, effect.deleted);
  return {
    after: work.stored
      ? {
          flid: before.flid,
          state: work.state.finish(),
          stamps: work.stamps.finish(),
          deleted,
        }
      : before,
    stored: work.stored,
    changed: inCatalogueOrder(work.changed),
    superseded: inCatalogueOrder(work.superseded),
    unmatchedStands,
  };
}

/** The fold under way. */
interface Work {
  readonly msgId: MsgId;
  /** The message ID as it is stamped. */
  readonly by: string;
  readonly state: StateDraft;
  readonly stamps: StampsDraft;
  readonly changed: Set<string>;
  readonly superseded: Set<string>;
  stored: boolean;
}

/** Whether the message takes a register of `fields`; stamps it if so, notes the loss if not. */
function takes(work: Work, name: string, differs: boolean): boolean {
  const stamp = work.stamps.field(name);
  if (isOlder(work.msgId, stamp)) {
    if (differs) work.superseded.add(name);
    return false;
  }
  if (stamp !== work.by) {
    work.stamps.setField(name, work.by);
    work.stored = true;
  }
  return differs;
}

/** Notes a visible change. */
function change(work: Work, name: string): void {
  work.changed.add(name);
  work.stored = true;
}

function foldScalars(work: Work, effect: NetEffect): void {
  for (const [path, value] of effect.scalars) {
    if (!takes(work, path, work.state.scalar(path) !== value)) continue;
    work.state.setScalar(path, value);
    change(work, path);
  }
}

function foldList(work: Work, name: ListName, given: readonly Entry[]): void {
  const entries = canonicalEntries(name, given);
  if (!takes(work, name, !sameEntries(entries, work.state.entries(name)))) return;
  work.state.setEntries(name, entries);
  change(work, name);
}

/**
 * Stands are three kinds of register in one rendered collection: the list, and push and tractor by stand code,
 * joined to every stand of that code. Returns the count of push and tractor writes that meet no stand.
 */
function foldStands(work: Work, effect: NetEffect): number {
  const list = effect.lists.get('stands');
  if (list === undefined && effect.push.size === 0 && effect.tractor.size === 0) return 0;
  const shown = work.state.entries('stands');
  let bare = shown.map(withoutJoined);
  if (list !== undefined) {
    const entries = canonicalEntries('stands', list).map(withoutJoined);
    if (takes(work, 'stands', !sameEntries(entries, bare))) bare = entries;
  }
  for (const [stand, value] of effect.push) {
    const wanted = { by: work.by, time: value?.time ?? null, indicator: value?.indicator ?? null };
    foldKept(work, work.stamps.push, stand, wanted, (kept) => [kept.time, kept.indicator]);
  }
  for (const [stand, time] of effect.tractor) {
    foldKept(work, work.stamps.tractor, stand, { by: work.by, time }, (kept) => [kept.time]);
  }
  const joined = bare.map((entry) => withJoined(entry, work.stamps));
  if (!sameEntries(joined, shown)) {
    work.state.setEntries('stands', joined);
    change(work, 'stands');
  }
  const codes = new Set(joined.map((entry) => entry['code']));
  return [...effect.push.keys(), ...effect.tractor.keys()].filter((stand) => !codes.has(stand)).length;
}

function foldKept<Kept extends { readonly by: string }>(
  work: Work,
  registers: Map<string, Kept>,
  stand: string,
  wanted: Kept,
  valueOf: (kept: Kept) => Json,
): void {
  const kept = registers.get(stand);
  // A register that was never written reads as cleared, but is stamped all the same.
  const differs = kept === undefined || !jsonEqual(valueOf(kept), valueOf(wanted));
  if (kept !== undefined && isOlder(work.msgId, kept.by)) {
    if (differs) work.superseded.add('stands');
    return;
  }
  if (!differs && kept.by === wanted.by) return;
  registers.set(stand, wanted);
  work.stored = true;
}

function withoutJoined(entry: Entry): Entry {
  return canonicalEntry('stands', { ...entry, push: null, tractorAt: null });
}

function withJoined(entry: Entry, stamps: StampsDraft): Entry {
  const code = entry['code'];
  if (typeof code !== 'string') return entry;
  const push = stamps.push.get(code);
  const tractor = stamps.tractor.get(code);
  if (push === undefined && tractor === undefined) return entry;
  return {
    ...entry,
    push: { time: push?.time ?? null, indicator: push?.indicator ?? null },
    tractorAt: tractor?.time ?? null,
  };
}

/**
 * Delays merge by code; a clear of all of them is a floor. A code under the floor is gone for good and not
 * stored; one set by the very message that cleared, after the clear, stands on the floor.
 */
function foldDelays(work: Work, { cleared, codes }: NetEffect['delays']): void {
  if (!cleared && codes.size === 0) return;
  const shown = work.state.entries('delays');
  const entries = new Map<string, Entry>(shown.map((entry) => [codeOf(entry), entry]));
  const stamps = new Map(work.stamps.delays);
  let { floor } = work.stamps;
  if (cleared) {
    if (!isOlder(work.msgId, floor)) floor = work.by;
    for (const [code, stamp] of stamps) {
      if (isOlder(work.msgId, stamp)) {
        // The clear meant this code too, but a newer message has set it; one that it sets itself is judged below.
        if (!codes.has(code)) work.superseded.add('delays');
      } else {
        stamps.delete(code);
        entries.delete(code);
      }
    }
  }
  for (const [code, value] of codes) {
    const entry = canonicalEntry('delays', { code, ...value });
    if (isOlder(work.msgId, floor) || isOlder(work.msgId, stamps.get(code))) {
      const current = entries.get(code);
      if (current === undefined || !jsonEqual(current, entry)) work.superseded.add('delays');
    } else {
      stamps.set(code, work.by);
      entries.set(code, entry);
    }
  }
  if (floor !== work.stamps.floor || !sameStamps(stamps, work.stamps.delays)) work.stored = true;
  work.stamps.floor = floor;
  work.stamps.delays = stamps;
  const rendered = [...entries].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, entry]) => entry);
  if (!sameEntries(rendered, shown)) {
    work.state.setEntries('delays', rendered);
    change(work, 'delays');
  }
}

function codeOf(entry: Entry): string {
  const code = entry['code'];
  return typeof code === 'string' ? code : '';
}

function foldDeleted(work: Work, before: boolean, wanted: boolean | null): boolean {
  if (wanted === null) return before;
  if (isOlder(work.msgId, work.stamps.deleted)) {
    if (wanted !== before) work.superseded.add('deleted');
    return before;
  }
  if (work.stamps.deleted !== work.by) {
    work.stamps.deleted = work.by;
    work.stored = true;
  }
  if (wanted !== before) change(work, 'deleted');
  return wanted;
}

function sameEntries(left: readonly Entry[], right: readonly Entry[] | undefined): boolean {
  return jsonEqual(left, right ?? []);
}

function sameStamps(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left.size === right.size && [...left].every(([code, by]) => right.get(code) === by);
}
