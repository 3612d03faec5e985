/** One flight record → what it writes (dialect.md, "Schedule payload" and "Merge rules"). */
import type { ListName, ScalarPath } from '../../domain/fields.ts';
import { flid, type Flid } from '../../domain/ids.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Entry, FieldValue, Write } from '../../domain/message.ts';
import type { LeafReader, LeafValue } from './leaves.ts';
import type { XmlElement } from './reader.ts';
import type { ElementMeaning, EntryShape, RecordVocabulary } from './vocabulary.ts';

/** What a record says. */
export interface FlightRecordContent {
  /** Null where it is missing or faulty. */
  readonly flid: Flid | null;
  /** Each scalar and list once: within a record the later element wins. */
  readonly writes: readonly Write[];
  /** Push and tractor elements that name no stand. */
  readonly unmatchedStands: number;
}

/** Decimal, up to 18 digits: fits a 64-bit column wherever someone keeps it as a number. */
const FLID = /^\d{1,18}$/;

type Meaning<K extends ElementMeaning['kind']> = Extract<ElementMeaning, { kind: K }>;

/** An entry with its place in the collection. */
interface PlacedEntry {
  readonly sequence: number | null;
  readonly entry: Entry;
}

/** Reads a record; `path` names it in reports, e.g. `SCHD/FLTR`. */
export function readFlightRecord(
  record: XmlElement,
  path: string,
  vocabulary: RecordVocabulary,
  leaves: LeafReader,
): FlightRecordContent {
  return new RecordReader(record, path, vocabulary, leaves).read();
}

/** The flight ID in its element; null where it is empty or no decimal number. */
export function readFlid(element: XmlElement, leaves: LeafReader): Flid | null {
  if (element.text === '' && element.children.length === 0) return null;
  if (FLID.test(element.text)) return flid(element.text);
  leaves.faults.bad(
    'unknown-format',
    element.name,
    `${element.name} is no decimal number of at most 18 digits`,
    element.offset,
  );
  return null;
}

class RecordReader {
  readonly #record: XmlElement;
  readonly #path: string;
  readonly #vocabulary: RecordVocabulary;
  readonly #leaves: LeafReader;
  readonly #scalars = new Map<ScalarPath, FieldValue>();
  readonly #lists = new Map<ListName, PlacedEntry[]>();
  readonly #patches: Write[] = [];
  #names: ReadonlySet<string> | null = null;
  #flid: Flid | null = null;
  #unmatchedStands = 0;

  constructor(record: XmlElement, path: string, vocabulary: RecordVocabulary, leaves: LeafReader) {
    this.#record = record;
    this.#path = path;
    this.#vocabulary = vocabulary;
    this.#leaves = leaves;
  }

  read(): FlightRecordContent {
    for (const [name] of this.#record.attributes) this.#leaves.unknown(this.#path, `@${name}`);
    for (const element of this.#record.children) {
      const meaning = this.#vocabulary.get(element.name);
      if (meaning === undefined) this.#leaves.unknown(this.#path, element.name);
      else this.#element(element, meaning);
    }
    const writes: Write[] = [];
    for (const [field, value] of this.#scalars) writes.push({ kind: 'scalar', field, value });
    for (const [field, entries] of this.#lists)
      writes.push({ kind: 'list', field, entries: inOrder(entries) });
    // One by one: a call cannot take a hundred thousand arguments.
    for (const patch of this.#patches) writes.push(patch);
    return { flid: this.#flid, writes, unmatchedStands: this.#unmatchedStands };
  }

  #element(element: XmlElement, meaning: ElementMeaning): void {
    switch (meaning.kind) {
      case 'key':
        this.#flid = readFlid(element, this.#leaves);
        return;
      case 'marker':
        return;
      case 'scalar':
        this.#scalars.set(meaning.field, this.#leaves.leaf(element, meaning.rule, this.#path) ?? null);
        return;
      case 'attributed': {
        const values = this.#leaves.parts(element, meaning.parts, this.#path);
        if (this.#isStrange(element, values)) return;
        for (const [index, field] of meaning.fields.entries())
          this.#scalars.set(field, values[index] ?? null);
        return;
      }
      case 'discriminated':
        this.#discriminated(element, meaning);
        return;
      case 'list':
        this.#list(element, meaning);
        return;
      case 'delay':
        this.#delay(element, meaning);
        return;
      case 'push': {
        const [stand, time, indicator] = this.#leaves.parts(element, meaning.parts, this.#path);
        const value = typeof time === 'string' ? { time, indicator: asText(indicator) } : null;
        if (typeof stand === 'string') this.#patches.push({ kind: 'push', stand, value });
        else this.#unmatchedStands += 1;
        return;
      }
      case 'tractor': {
        const [stand, time] = this.#leaves.parts(element, meaning.parts, this.#path);
        if (typeof stand === 'string') this.#patches.push({ kind: 'tractor', stand, value: asText(time) });
        else this.#unmatchedStands += 1;
        return;
      }
    }
  }

  #discriminated(element: XmlElement, meaning: Meaning<'discriminated'>): void {
    const values = this.#leaves.parts(element, meaning.parts, this.#path);
    if (this.#isStrange(element, values)) return;
    const [by, value] = values;
    if (by === undefined) return;
    if (typeof by === 'string') {
      const field = meaning.fields.get(by);
      if (field !== undefined) this.#scalars.set(field, value ?? null);
    } else if (value === null) {
      for (const field of meaning.fields.values()) this.#scalars.set(field, null);
    } else {
      this.#missing(meaning.by, element);
    }
  }

  #list(element: XmlElement, meaning: Meaning<'list'>): void {
    const { unless } = meaning;
    if (unless !== null && this.#has(unless)) return;
    let entries = this.#lists.get(meaning.collection);
    if (entries === undefined) this.#lists.set(meaning.collection, (entries = []));
    const values = this.#leaves.parts(element, meaning.parts, this.#path);
    if (this.#isStrange(element, values, meaning.sequence)) return;
    // An entry of which only the number is known says "present but empty".
    if (values.every((value, index) => value === null || index === meaning.sequence)) return;
    const sequence = meaning.sequence === null ? null : values[meaning.sequence];
    entries.push({
      sequence: typeof sequence === 'number' ? sequence : null,
      entry: entryOf(meaning.shape, values),
    });
  }

  /**
   * Whether an element holds something, but nothing that the profile describes: that is not "clear", it is a form
   * we cannot read, like a leaf that holds elements. A part that is faulty (undefined) has been reported itself.
   */
  #isStrange(element: XmlElement, values: readonly LeafValue[], sequence: number | null = null): boolean {
    const known = values.some((value, index) => value !== null && index !== sequence);
    if (known || isBlank(element, sequence === null ? 0 : 1)) return false;
    this.#leaves.faults.bad(
      'unknown-format',
      element.name,
      `${element.name} holds nothing that the profile describes`,
      element.offset,
    );
    return true;
  }

  /** Looked up once per record: a hostile one may ask for each of a million elements. */
  #has(name: string): boolean {
    this.#names ??= new Set(this.#record.children.map((child) => child.name));
    return this.#names.has(name);
  }

  #delay(element: XmlElement, meaning: Meaning<'delay'>): void {
    const values = this.#leaves.parts(element, meaning.parts, this.#path);
    if (this.#isStrange(element, values)) return;
    const [code, start, minutes, remark] = values;
    if (code === undefined) return;
    if (typeof code === 'string') {
      const value = {
        start: asText(start),
        minutes: typeof minutes === 'number' ? minutes : null,
        remark: asText(remark),
      };
      this.#patches.push({ kind: 'delay', code, value });
    } else if (start === null && minutes === null && remark === null) {
      this.#patches.push({ kind: 'delays-cleared' });
    } else {
      this.#missing(meaning.code, element);
    }
  }

  #missing(name: string, element: XmlElement): void {
    this.#leaves.faults.missing('payload-missing', name, `${element.name} without ${name}`, element.offset);
  }
}

/** Whether an element says nothing: no text, no value in it or its children; a sequence number is none. */
function isBlank(element: XmlElement, sequenceNumbers: number): boolean {
  const valued = element.attributes.filter(([, value]) => value.trim() !== '').length;
  return (
    element.text === '' && valued <= sequenceNumbers && element.children.every((child) => isBlank(child, 0))
  );
}

/** By sequence number, those without one last, as given; of one number the later entry wins. */
function inOrder(placed: readonly PlacedEntry[]): readonly Entry[] {
  const bySequence = new Map<number, Entry>();
  const unnumbered: Entry[] = [];
  for (const { sequence, entry } of placed) {
    if (sequence === null) unnumbered.push(entry);
    else bySequence.set(sequence, entry);
  }
  const numbered = [...bySequence].sort(([left], [right]) => left - right);
  return [...numbered.map(([, entry]) => entry), ...unnumbered];
}

function entryOf(shape: EntryShape, values: readonly LeafValue[]): JsonObject {
  const entry: Record<string, Json> = {};
  for (const [key, part] of shape) {
    if (part === null) entry[key] = null;
    else if (typeof part === 'number') entry[key] = values[part] ?? null;
    else entry[key] = entryOf(part, values);
  }
  return entry;
}

function asText(value: LeafValue): string | null {
  return typeof value === 'string' ? value : null;
}
