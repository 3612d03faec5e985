/**
 * Text → element tree. No entity is expanded, nothing is fetched, depth is capped, and time and memory grow
 * with the text alone, whose size is capped before (dialect.md, "Envelope"; contract, `max-depth`). Millions of
 * tiny elements take seconds all the same, so the reader works in steps, between which others may have the thread.
 */
import { SaxesParser } from 'saxes';
import { reason } from '../../domain/reasons.ts';

/** An attribute: name without prefix, value trimmed. */
export type XmlAttribute = readonly [name: string, value: string];

/** An element. Prefixes are dropped: namespaces may be declared, but mean nothing here. */
export interface XmlElement {
  readonly name: string;
  /** In document order. Namespace declarations and `xsi:` hints are left out. */
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /** Own text, CDATA included, without that of the children; trimmed. */
  readonly text: string;
  /** Where `<` stands in the text, in UTF-16 code units. */
  readonly offset: number;
}

/** What became of a text. */
export type ReadOutcome =
  | { readonly ok: true; readonly root: XmlElement }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly message: string;
      readonly offset: number | null;
      /** What had been read before the fault; null where not even the root had begun. */
      readonly partial: XmlElement | null;
    };

interface OpenElement {
  readonly name: string;
  readonly attributes: readonly XmlAttribute[];
  /** The shared empty array until the first child comes: most elements have none. */
  children: XmlElement[];
  text: string;
  readonly offset: number;
}

const NO_ATTRIBUTES: readonly XmlAttribute[] = [];
const NO_CHILDREN: XmlElement[] = [];
/** UTF-16 code units read in a step: some 20 ms of the most laborious markup. */
const STEP = 64 * 1024;
/** Attributes of one element at most: the parser keeps them in an object, which is slow with very many. */
const MOST_ATTRIBUTES = 1_000;
/** Characters between `&` and `;`, where a text has more than one step. */
const LONGEST_REFERENCE = 1_000;
const LEADING_BLANK = /^[\uFEFF\s]+/;

/** Ends the parse; never leaves this file. */
class ReadFailure extends Error {
  readonly reason: string;
  readonly offset: number;

  constructor(why: string, message: string, offset: number) {
    super(message);
    this.reason = why;
    this.offset = offset;
  }
}

/**
 * Reads a text. A byte-order mark and leading white space are skipped; an `encoding` in the declaration is
 * ignored, because the text has been decoded already. An unexpected failure of the parser becomes
 * `codec:reader`.
 *
 * More than 1,000 attributes on an element are `codec:attributes`, more elements and attributes than allowed
 * `codec:elements`: a tree of two million empty elements, which fit in 8 MiB, would take hundreds of megabytes.
 *
 * @param maxDepth deepest element allowed; the root is depth 1
 * @param maxNodes most elements and attributes together
 * @param step UTF-16 code units read at once
 */
export function* readXml(
  text: string,
  maxDepth: number,
  maxNodes: number,
  step = STEP,
): Generator<undefined, ReadOutcome> {
  // XML has no lone surrogates, and PostgreSQL no text with them; the parser would let one at the end pass.
  if (!text.isWellFormed()) {
    return failure('not-well-formed', 'half of a surrogate pair', null, null);
  }
  const skipped = LEADING_BLANK.exec(text)?.[0].length ?? 0;
  const source = skipped === 0 ? text : text.slice(skipped);
  const tree: { root: OpenElement | null } = { root: null };
  try {
    // 1.0 is forced: 1.1 would let control characters in by reference.
    const parser = new SaxesParser({
      xmlns: false,
      position: false,
      forceXMLVersion: true,
      defaultXMLVersion: '1.0',
    });
    const open: OpenElement[] = [];
    let current: OpenElement | undefined;
    const addText = (part: string): void => {
      if (current !== undefined) current.text = current.text === '' ? part : current.text + part;
    };
    parser.on('error', (error) => {
      throw new ReadFailure('not-well-formed', error.message, parser.position);
    });
    parser.on('doctype', () => {
      const offset = source.lastIndexOf('<!DOCTYPE', parser.position);
      throw new ReadFailure('doctype-forbidden', 'a document type declaration is refused', offset);
    });
    parser.on('text', addText);
    parser.on('cdata', addText);
    let attributes: XmlAttribute[] | null = null;
    let attributesHere = 0;
    let nodes = 0;
    // A name stands in a message thousands of times; one text serves all.
    const names = new Map<string, string>();
    const nameOf = (written: string): string => {
      const known = names.get(written);
      if (known !== undefined) return known;
      const name = withoutPrefix(written);
      names.set(written, name);
      return name;
    };
    const count = (): void => {
      nodes += 1;
      if (nodes <= maxNodes) return;
      const message = `more than ${maxNodes} elements and attributes`;
      throw new ReadFailure(reason('codec', 'elements'), message, parser.position);
    };
    // As they come: an object with as many keys as a hostile element has attributes is slow to walk over.
    parser.on('attribute', ({ name, value }) => {
      count();
      attributesHere += 1;
      if (attributesHere > MOST_ATTRIBUTES) {
        const message = `an element with more than ${MOST_ATTRIBUTES} attributes`;
        throw new ReadFailure(reason('codec', 'attributes'), message, parser.position);
      }
      if (name === 'xmlns' || name.startsWith('xmlns:') || name.startsWith('xsi:')) return;
      (attributes ??= []).push([nameOf(name), value.trim()]);
    });
    parser.on('opentag', (tag) => {
      // `<` cannot stand in an attribute value, so the last one before here began this element.
      const offset = source.lastIndexOf('<', parser.position - 1);
      if (open.length >= maxDepth) {
        throw new ReadFailure('too-deep', `an element deeper than ${maxDepth}`, offset);
      }
      count();
      const element: OpenElement = {
        name: nameOf(tag.name),
        attributes: attributes ?? NO_ATTRIBUTES,
        children: NO_CHILDREN,
        text: '',
        offset: offset + skipped,
      };
      attributes = null;
      attributesHere = 0;
      if (current === undefined) tree.root ??= element;
      else if (current.children === NO_CHILDREN) current.children = [element];
      else current.children.push(element);
      open.push(element);
      current = element;
    });
    parser.on('closetag', () => {
      const closed = open.pop();
      if (closed !== undefined) closed.text = closed.text.trim();
      current = open.at(-1);
    });
    for (let from = 0; from < source.length; from += step) {
      if (from > 0) yield;
      parser.write(source.length <= step ? source : source.slice(from, from + step));
      // The parser looks for the end of a reference as far as the text goes, and keeps a string for each line of it.
      const reference: unknown = Reflect.get(parser, 'entity');
      if (typeof reference === 'string' && reference.length > LONGEST_REFERENCE) {
        throw new ReadFailure('not-well-formed', 'a reference without end', parser.position);
      }
    }
    parser.close();
  } catch (error) {
    if (error instanceof ReadFailure) {
      return failure(error.reason, error.message, Math.min(error.offset + skipped, text.length), tree.root);
    }
    return failure(reason('codec', 'reader'), 'the reader failed unexpectedly', null, tree.root);
  }
  const { root } = tree;
  return root === null ? failure('not-well-formed', 'no root element', null, null) : { ok: true, root };
}

function failure(
  why: string,
  message: string,
  offset: number | null,
  partial: XmlElement | null,
): ReadOutcome {
  return { ok: false, reason: why, message: oneLine(message), offset, partial };
}

/** The parser names the offending tag in its messages; a tag can be as long as the message. */
function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').slice(0, 200);
}

function withoutPrefix(name: string): string {
  const colon = name.indexOf(':');
  // `a:` has nothing behind its prefix; it stays as it is, so that no name is ever empty.
  return colon < 0 || colon === name.length - 1 ? name : name.slice(colon + 1);
}
