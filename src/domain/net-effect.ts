/**
 * The net effect of one message on one flight: its records in document order, later ones over earlier ones
 * (decisions.md, "State"). It is composed before it meets the stamps, because all writes of a message carry
 * the same stamp: a delay set and then cleared would otherwise survive its own message.
 */
import type { ListName, ScalarPath } from './fields.ts';
import type { Flid } from './ids.ts';
import type { DecodedMessage, Entry, FieldValue, FlightPatch, Write } from './message.ts';

/** Attributes of a delay beside its code. */
export type DelayValue = Extract<Write, { kind: 'delay' }>['value'];
/** A push-back, or null to clear it. */
export type PushValue = Extract<Write, { kind: 'push' }>['value'];

/** What a message leaves in each register it writes. */
export interface NetEffect {
  readonly scalars: ReadonlyMap<ScalarPath, FieldValue>;
  readonly lists: ReadonlyMap<ListName, readonly Entry[]>;
  /** `cleared`: all delays but the given ones are cleared. */
  readonly delays: { readonly cleared: boolean; readonly codes: ReadonlyMap<string, DelayValue> };
  /** By stand code. */
  readonly push: ReadonlyMap<string, PushValue>;
  readonly tractor: ReadonlyMap<string, string | null>;
  /** Null where the message says nothing of it. */
  readonly deleted: boolean | null;
}

/** Composes writes in document order. `deleted` is what the kind of the message says of the deletion. */
export function composeWrites(writes: Iterable<Write>, deleted: boolean | null): NetEffect {
  const scalars = new Map<ScalarPath, FieldValue>();
  const lists = new Map<ListName, readonly Entry[]>();
  const codes = new Map<string, DelayValue>();
  const push = new Map<string, PushValue>();
  const tractor = new Map<string, string | null>();
  let cleared = false;
  for (const write of writes) {
    switch (write.kind) {
      case 'scalar':
        scalars.set(write.field, write.value);
        break;
      case 'list':
        lists.set(write.field, write.entries);
        break;
      case 'delay':
        codes.set(write.code, write.value);
        break;
      case 'delays-cleared':
        cleared = true;
        codes.clear();
        break;
      case 'push':
        push.set(write.stand, write.value);
        break;
      case 'tractor':
        tractor.set(write.stand, write.value);
        break;
    }
  }
  return { scalars, lists, delays: { cleared, codes }, push, tractor, deleted };
}

/** The effect of an FDEL. */
export const DELETION: NetEffect = composeWrites([], true);

/** The effect of a message on each flight it names, in order of first appearance; empty for other kinds. */
export function effectsOf(message: DecodedMessage): ReadonlyMap<Flid, NetEffect> {
  const { body } = message;
  switch (body.kind) {
    case 'schedule':
      return effectsOfRecords(body.records, false);
    case 'operation':
      return effectsOfRecords(body.records, null);
    case 'deletion':
      return new Map(body.flids.map((flid) => [flid, DELETION]));
    case 'reference':
    case 'ignored':
    case 'unsupported':
      return new Map();
  }
}

/** The effect of a message on one flight; null where it does not name it. */
export function effectOn(message: DecodedMessage, flid: Flid): NetEffect | null {
  const { body } = message;
  switch (body.kind) {
    case 'schedule':
    case 'operation': {
      const records = body.records.filter((record) => record.flid === flid);
      return effectsOfRecords(records, body.kind === 'schedule' ? false : null).get(flid) ?? null;
    }
    case 'deletion':
      return body.flids.includes(flid) ? DELETION : null;
    case 'reference':
    case 'ignored':
    case 'unsupported':
      return null;
  }
}

function effectsOfRecords(
  records: readonly FlightPatch[],
  deleted: boolean | null,
): ReadonlyMap<Flid, NetEffect> {
  const writes = new Map<Flid, Write[]>();
  for (const record of records) {
    const earlier = writes.get(record.flid);
    if (earlier === undefined) writes.set(record.flid, [...record.writes]);
    // One by one: a call cannot take a hundred thousand arguments.
    else for (const write of record.writes) earlier.push(write);
  }
  return new Map([...writes].map(([flid, all]) => [flid, composeWrites(all, deleted)]));
}
