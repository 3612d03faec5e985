/**
 * Reading leaves, and keeping account of what is wrong and what is not known. One account per message.
 */
import type { FieldValue } from '../../domain/message.ts';
import type { FaultLog } from './faults.ts';
import type { XmlElement } from './reader.ts';
import type { ValueReader, ValueRule } from './values.ts';
import type { Parts } from './vocabulary.ts';

/** Unknown paths kept of one message, and characters kept of a name: both come from the upstream. */
const UNKNOWN_LIMIT = 100;
const NAME_LIMIT = 64;

/** A value read; undefined where it is faulty, which is in the account already. */
export type LeafValue = FieldValue | undefined;

/** Reads the leaves of one message. */
export class LeafReader {
  readonly faults: FaultLog;
  readonly values: ValueReader;
  readonly #unknown = new Set<string>();

  constructor(faults: FaultLog, values: ValueReader) {
    this.faults = faults;
    this.values = values;
  }

  /** Paths of elements (and `@attributes`) without meaning, once each, in document order; at most 100. */
  get unknownElements(): readonly string[] {
    return [...this.#unknown];
  }

  /** Notes an element that the profile does not know; it stays out of the state (dialect.md). */
  unknown(path: string, name: string): void {
    if (this.#unknown.size >= UNKNOWN_LIMIT) return;
    const cut = shortName(name);
    this.#unknown.add(path === '' ? cut : `${path}/${cut}`);
  }

  /** The value of a leaf element; null where it is empty. `path` is that of its parent. */
  leaf(element: XmlElement, rule: ValueRule, path: string): LeafValue {
    if (element.attributes.length > 0 || element.children.length > 0) this.#strangers(element, path);
    if (element.text !== '') return this.text(element.text, rule, element.name, element.offset);
    if (element.children.length === 0) return null;
    // Not empty, so not "clear": this form is one that the profile does not describe.
    this.faults.bad(
      'unknown-format',
      element.name,
      `${element.name} carries elements, no text`,
      element.offset,
    );
    return undefined;
  }

  /** The value of a trimmed text; null where it is empty. */
  text(text: string, rule: ValueRule, name: string, offset: number): LeafValue {
    if (text === '') return null;
    const read = this.values.read(text, rule);
    if (read.ok) return read.value;
    this.faults.bad(read.reason, name, `${name} ${read.message}`, offset);
    return undefined;
  }

  /** The leaves of an element, by index; of one that stands there twice the later wins. */
  parts(element: XmlElement, parts: Parts, path: string): readonly LeafValue[] {
    const values = new Array<LeafValue>(parts.rules.length).fill(null);
    for (const [name, text] of element.attributes) {
      const index = parts.attributes.get(name);
      const rule = index === undefined ? undefined : parts.rules[index];
      if (index !== undefined && rule !== undefined)
        values[index] = this.text(text, rule, name, element.offset);
      else if (!parts.unused.has(`@${name}`)) this.unknown(`${path}/${element.name}`, `@${name}`);
    }
    for (const child of element.children) {
      const index = parts.children.get(child.name);
      const rule = index === undefined ? undefined : parts.rules[index];
      if (index !== undefined && rule !== undefined) {
        values[index] = this.leaf(child, rule, `${path}/${element.name}`);
      } else if (!parts.unused.has(child.name)) this.unknown(`${path}/${element.name}`, child.name);
    }
    const textRule = parts.text === null ? undefined : parts.rules[parts.text];
    if (parts.text !== null && textRule !== undefined) {
      values[parts.text] = this.text(element.text, textRule, element.name, element.offset);
    }
    return values;
  }

  #strangers(element: XmlElement, path: string): void {
    const inside = `${path}/${element.name}`;
    for (const [name] of element.attributes) this.unknown(inside, `@${name}`);
    for (const child of element.children) this.unknown(inside, child.name);
  }
}

/** An upstream's own name, short enough for a reason or a log line. */
export function shortName(name: string): string {
  return name.length <= NAME_LIMIT ? name : `${name.slice(0, NAME_LIMIT)}…`;
}
