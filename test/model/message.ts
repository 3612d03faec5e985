/** What a message says: a small reading of the dialect for the kinds of message that the simulator writes. */
import {
  ATTRIBUTED,
  DELAY,
  ELEMENTS_OF,
  IGNORED,
  LISTS,
  PORTS,
  REFERENCE,
  REFERENCE_KEYS,
  SCALARS,
  type Source,
} from './elements.ts';
import { readTime, readValue, Unreadable, type Value } from './value.ts';
import { all, readXml, textOf, type Element } from './xml.ts';

/** A plain JSON value. */
export type Json = Value | boolean | readonly Json[] | { readonly [key: string]: Json };
export type Entry = Readonly<Record<string, Json>>;

/** One thing that a record writes. */
export type Write =
  | { readonly what: 'scalar'; readonly path: string; readonly value: Value }
  | { readonly what: 'list'; readonly name: string; readonly entries: readonly Entry[] }
  | { readonly what: 'delay'; readonly code: string; readonly entry: Entry }
  | { readonly what: 'no-delays' }
  | { readonly what: 'push'; readonly stand: string; readonly value: Entry | null }
  | { readonly what: 'tractor'; readonly stand: string; readonly value: Value };

/** What a message writes about one flight. */
export interface FlightPart {
  readonly flid: string;
  readonly writes: readonly Write[];
}

export interface ReferencePart {
  readonly key: string;
  readonly body: Entry;
}

export type Body =
  | { readonly kind: 'schedule'; readonly declared: string; readonly parts: readonly FlightPart[] }
  | { readonly kind: 'operation'; readonly parts: readonly FlightPart[] }
  | { readonly kind: 'deletion'; readonly flids: readonly string[] }
  | {
      readonly kind: 'reference';
      readonly rtype: string;
      readonly operation: string;
      readonly declared: string;
      readonly parts: readonly ReferencePart[];
    }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsupported' };

/** A message, or why it is none: before its identity is known to be its own. */
export type Reading =
  | { readonly ok: true; readonly identity: string; readonly kind: string; readonly body: Body }
  | { readonly ok: false; readonly errorClass: 'MALFORMED' | 'CODEC_ERROR'; readonly reason: string };

const LISTED = new Set(Object.keys(LISTS));
const PARTS = new Map(SCALARS.map((source) => [source.from, source]));
const OPERATIONS = new Set(['DNLD', 'ADD', 'UPD', 'DEL']);

/** Reads a message as the mailbox has it. @param timeZone IANA zone of the airport */
export function readMessage(text: string, timeZone: string): Reading {
  const root = readXml(text);
  if (root?.name !== 'MSG')
    return refused('MALFORMED', text.includes('<!DOCTYPE') ? 'doctype-forbidden' : 'not-well-formed');
  const [meta] = all(root, 'META');
  const head = (name: string) => (meta === undefined ? '' : textOf(meta, name));
  for (const name of ['SNDR', 'SEQN', 'DTTM', 'TYPE', 'STYP']) {
    if (head(name) === '') return refused('MALFORMED', `meta-missing:${name}`);
  }
  const [type, subtype] = [head('TYPE'), head('STYP')];
  const sequence = head('SEQN').replace(/^0+(?=\d)/, '');
  try {
    const sent = readTime(head('DTTM'), timeZone).slice(0, 10);
    return {
      ok: true,
      identity: `${head('SNDR')}|${type}|${subtype}|${sequence}|${sent}`,
      kind: `${type}/${subtype}`,
      body: readBody(root, type, subtype, timeZone),
    };
  } catch (error) {
    if (error instanceof Missing) return refused('MALFORMED', `payload-missing:${error.element}`);
    if (!(error instanceof Unreadable)) throw error;
    return refused(error.fault === 'bad-value' ? 'MALFORMED' : 'CODEC_ERROR', error.fault);
  }
}

/** A required element that is not there. */
class Missing extends Error {
  readonly element: string;

  constructor(element: string) {
    super(`missing: ${element}`);
    this.element = element;
  }
}

function refused(errorClass: 'MALFORMED' | 'CODEC_ERROR', reason: string): Reading {
  return { ok: false, errorClass, reason };
}

function readBody(root: Element, type: string, subtype: string, timeZone: string): Body {
  if (IGNORED.includes(type)) return { kind: 'ignored' };
  if (type === 'SCHD' && (subtype === 'DNLD' || subtype === 'ADFT')) return readSchedule(root, timeZone);
  if (type === 'FLOP' && subtype === 'FDEL') {
    return { kind: 'deletion', flids: all(root, 'FLOP').map((record) => required(record, 'FLID')) };
  }
  if (type === 'FLOP') return readOperation(root, subtype, timeZone);
  if (REFERENCE.includes(type) && OPERATIONS.has(subtype)) {
    const parts = all(root, type).map((record) => referencePart(record, type));
    return { kind: 'reference', rtype: type, operation: subtype, declared: textOf(root, 'RECS'), parts };
  }
  if (type === 'SCHS') return { kind: 'unsupported' };
  throw new Error(`the model does not know ${type}/${subtype}: the simulator writes something new`);
}

function readSchedule(root: Element, timeZone: string): Body {
  const [payload] = all(root, 'SCHD');
  if (payload === undefined) throw new Missing('SCHD');
  const parts = all(payload, 'FLTR').map((record) => flightPart(record, timeZone));
  // Missing elements come after bad values.
  for (const record of all(payload, 'FLTR')) {
    for (const name of ['FLID', 'FLNO', 'MVIN', 'SODT']) required(record, name);
  }
  return { kind: 'schedule', declared: textOf(payload, 'RECS'), parts };
}

function readOperation(root: Element, subtype: string, timeZone: string): Body {
  const records = all(root, 'FLOP');
  const parts = records.map((record) => flightPart(record, timeZone));
  const wanted = ELEMENTS_OF[subtype] ?? [subtype];
  for (const record of records) {
    required(record, 'FLID');
    if (!record.children.some(({ name }) => wanted.includes(name))) throw new Missing(subtype);
  }
  return { kind: 'operation', parts };
}

function required(record: Element, name: string): string {
  const text = textOf(record, name);
  if (text === '') throw new Missing(name);
  return text;
}

function referencePart(record: Element, type: string): ReferencePart {
  const body = Object.fromEntries(record.children.map(({ name, text }) => [name, text]));
  const key = REFERENCE_KEYS[type] ?? record.children[0]?.name ?? '';
  return { key: textOf(record, key), body };
}

function flightPart(record: Element, timeZone: string): FlightPart {
  const writes: Write[] = [];
  const listed = new Map<string, Entry[]>();
  const hasRoute = all(record, 'ERUT').length > 0;
  for (const element of record.children) {
    const { name, text } = element;
    const scalar = PARTS.get(name);
    if (scalar !== undefined) {
      writes.push({
        what: 'scalar',
        path: scalar.to,
        value: checked(name, readValue(text, scalar.type, timeZone)),
      });
    } else if (LISTED.has(name)) {
      if (name === 'ROUT' && hasRoute) continue;
      const { name: list = '', sources = [] } = LISTS[name] ?? {};
      const entries = listed.get(list) ?? [];
      if (!isEmpty(element)) entries.push(entryOf(element, sources, timeZone));
      listed.set(list, entries);
    } else {
      writes.push(...otherWrites(element, timeZone));
    }
  }
  for (const [name, entries] of listed) writes.push({ what: 'list', name, entries: inOrder(entries) });
  return { flid: textOf(record, 'FLID'), writes };
}

/** Elements that are neither one scalar nor part of a list. */
function otherWrites(element: Element, timeZone: string): readonly Write[] {
  const { name } = element;
  const attributed = ATTRIBUTED[name];
  if (attributed !== undefined) {
    return attributed.map((source) => ({
      what: 'scalar',
      path: source.to,
      value: valueOf(element, source, timeZone),
    }));
  }
  switch (name) {
    case 'PORT': {
      const path = PORTS[textOf(element, 'POID')];
      if (path === undefined) throw new Unreadable('unknown-value', 'POID');
      return [{ what: 'scalar', path, value: readValue(textOf(element, 'POTM'), 'time', timeZone) }];
    }
    case 'DELY': {
      if (isEmpty(element)) return [{ what: 'no-delays' }];
      const entry = entryOf(element, DELAY, timeZone);
      return [{ what: 'delay', code: codeOf(entry), entry }];
    }
    case 'PSHT': {
      const time = readValue(textOf(element, 'PSTM'), 'time', timeZone);
      const value =
        time === null ? null : { time, indicator: readValue(textOf(element, 'PSID'), 'text', timeZone) };
      return [{ what: 'push', stand: textOf(element, 'PUST'), value }];
    }
    case 'TIPT': {
      const value = readValue(textOf(element, 'TRTM'), 'time', timeZone);
      return [{ what: 'tractor', stand: textOf(element, 'TRST'), value }];
    }
    case 'FLID':
    case 'FDEL':
      return [];
    default:
      throw new Error(`the model does not know the element ${name}: the simulator writes something new`);
  }
}

function checked(name: string, value: Value): Value {
  if (name === 'MVIN' && value !== null && value !== 'A' && value !== 'D') {
    throw new Unreadable('unknown-value', String(value));
  }
  return value;
}

function isEmpty({ text, children, attributes }: Element): boolean {
  return text === '' && children.length === 0 && Object.values(attributes).every((value) => value === '');
}

function entryOf(element: Element, sources: readonly Source[], timeZone: string): Entry {
  const entry: Record<string, Json> = {};
  for (const source of sources) place(entry, source.to, valueOf(element, source, timeZone));
  return entry;
}

function valueOf(element: Element, { from, type }: Source, timeZone: string): Value {
  const text =
    from === '#text'
      ? element.text
      : from.startsWith('@')
        ? (element.attributes[from.slice(1)] ?? '')
        : textOf(element, from);
  return readValue(text, type, timeZone);
}

/** By sequence number where entries have one, else as they came. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((left, right) => Number(left['seq'] ?? 0) - Number(right['seq'] ?? 0));
}

/** Sets a value at a path of dots. */
export function place(target: Record<string, Json>, path: string, value: Json): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let inner = target;
  for (const key of keys) inner = (inner[key] ??= {}) as Record<string, Json>;
  inner[last] = value;
}

/** The code of an entry; '' where it has none. */
export function codeOf({ code }: Entry): string {
  return typeof code === 'string' ? code : '';
}
