/** What the whole content of elements becomes: the hash of a payload, the JSON of a reference record. */
import { createHash, hash, type Hash } from 'node:crypto';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { XmlElement } from './reader.ts';

/**
 * SHA-256 (hex) of the canonical payload (decisions.md, "Identities"): names, sorted attributes and trimmed
 * text of everything under the root but META. White space between elements, comments, CDATA and the order of
 * attributes make no difference. The separators are control characters, which no XML text can contain, so two
 * payloads never share one form.
 */
export function contentHash(root: XmlElement, meta: string): string {
  const canonical = new CanonicalForm();
  for (const child of root.children) if (child.name !== meta) write(child, canonical);
  return canonical.digest();
}

/** Pieces kept before they are hashed: a usual message stays below and is hashed in one call. */
const PIECES = 4096;

class CanonicalForm {
  #pieces: string[] = [];
  #hash: Hash | null = null;

  add(...pieces: readonly string[]): void {
    this.#pieces.push(...pieces);
    if (this.#pieces.length < PIECES) return;
    this.#hash ??= createHash('sha256');
    this.#hash.update(this.#pieces.join(''));
    this.#pieces = [];
  }

  digest(): string {
    const rest = this.#pieces.join('');
    return this.#hash === null ? hash('sha256', rest) : this.#hash.update(rest).digest('hex');
  }
}

function write(element: XmlElement, canonical: CanonicalForm): void {
  canonical.add('\u0001', element.name);
  if (element.attributes.length > 0) {
    const sorted = element.attributes.toSorted(([left], [right]) =>
      left < right ? -1 : left > right ? 1 : 0,
    );
    for (const [name, value] of sorted) canonical.add('\u0002', name, '\u0003', value);
  }
  if (element.text !== '') canonical.add('\u0004', element.text);
  for (const child of element.children) write(child, canonical);
  canonical.add('\u0005');
}

/**
 * A record as JSON (dialect.md, "Reference data"): children by name, repeated ones as arrays in document
 * order, attributes as `@NAME`, text beside them as `#text`, empty elements null.
 */
export function recordBody(record: XmlElement): JsonObject {
  const members = new Map<string, Json>();
  for (const [name, value] of record.attributes) members.set(`@${name}`, value === '' ? null : value);
  const repeated = new Map<string, Json[]>();
  for (const child of record.children) {
    const value = elementValue(child);
    const first = members.get(child.name);
    const group = repeated.get(child.name);
    if (group !== undefined) group.push(value);
    else if (first === undefined) members.set(child.name, value);
    else {
      const values = [first, value];
      repeated.set(child.name, values);
      members.set(child.name, values);
    }
  }
  if (record.text !== '') members.set('#text', record.text);
  // Defines each key as the object's own, `__proto__` too.
  return Object.fromEntries(members);
}

function elementValue(element: XmlElement): Json {
  if (element.attributes.length === 0 && element.children.length === 0) {
    return element.text === '' ? null : element.text;
  }
  return recordBody(element);
}
