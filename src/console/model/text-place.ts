/** Where faults stand in the text of a message, and which part of a long text is shown. Pure. */

/** From the first character to behind the last; empty at the end of a text that breaks off. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A piece of the text: marked, plain, or left out (then its length alone is told). */
export type Piece =
  | { readonly kind: 'plain' | 'marked'; readonly text: string }
  | { readonly kind: 'left-out'; readonly characters: number };

/** Longest element that is marked as a whole; of a longer one its tag. */
const LONGEST_ELEMENT = 240;
/** A fault that stands at no tag is marked this far, or to the next tag. */
const LONGEST_WORD = 40;
/** Up to here a text is shown as a whole. */
const WHOLE = 60_000;
/** Shown around a fault in a longer text. */
const AROUND = 3_000;

/**
 * The place of a fault: the element that begins there, else the words up to the next tag.
 * @param line from 1; ends at LF, CR or both together, as the reader counts (dialect)
 * @param column from 1, in UTF-16 units; a byte-order mark does not count
 */
export function placeOf(text: string, line: number, column: number): Place | null {
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  for (let at = 1; at < line; at += 1) {
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = start;
    if (ends.exec(text) === null) return null;
    start = ends.lastIndex;
  }
  start += column - 1;
  if (start > text.length) return null;
  return { start, end: endOf(text, start) };
}

/** Where a text stands as the whole content of an element: the places of a flight that a fault names. */
export function placesNaming(text: string, content: string): readonly Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(content); at !== -1; at = text.indexOf(content, at + content.length)) {
    const end = at + content.length;
    if (/>\s*$/.test(text.slice(Math.max(0, at - 16), at)) && /^\s*</.test(text.slice(end, end + 16))) {
      places.push({ start: at, end });
    }
  }
  return places;
}

function endOf(text: string, start: number): number {
  if (text[start] !== '<') {
    const tag = text.indexOf('<', start);
    return Math.min(tag === -1 ? text.length : tag, start + LONGEST_WORD);
  }
  const tagEnd = text.indexOf('>', start) + 1;
  if (tagEnd === 0) return Math.min(text.length, start + LONGEST_WORD);
  const name = /^<([^\s/>]+)/.exec(text.slice(start, start + LONGEST_ELEMENT))?.[1];
  if (name === undefined || text[tagEnd - 2] === '/') return tagEnd;
  const close = text.indexOf(`</${name}>`, tagEnd);
  const end = close + name.length + 3;
  return close === -1 || end - start > LONGEST_ELEMENT ? tagEnd : end;
}

/** Cuts a text at the marked places; of a long text only what is around them, or its beginning. */
export function piecesOf(text: string, places: readonly Place[]): readonly Piece[] {
  const marks = apart(places);
  const shown =
    text.length <= WHOLE
      ? [{ start: 0, end: text.length }]
      : apart(
          (marks.length === 0 ? [{ start: 0, end: 0 }] : marks).map(({ start, end }) => ({
            start: Math.max(0, start - AROUND),
            end: Math.min(text.length, end + AROUND),
          })),
        );
  const pieces: Piece[] = [];
  let at = 0;
  const plain = (end: number): void => {
    if (end > at) pieces.push({ kind: 'plain', text: text.slice(at, end) });
    at = Math.max(at, end);
  };
  for (const window of shown) {
    if (window.start > at) pieces.push({ kind: 'left-out', characters: window.start - at });
    at = Math.max(at, window.start);
    for (const mark of marks.filter(({ start }) => start >= window.start && start <= window.end)) {
      plain(mark.start);
      pieces.push({ kind: 'marked', text: text.slice(mark.start, mark.end) });
      at = mark.end;
    }
    plain(window.end);
  }
  if (at < text.length) pieces.push({ kind: 'left-out', characters: text.length - at });
  return pieces;
}

/** In their order, those that touch each other as one. */
function apart(places: readonly Place[]): readonly Place[] {
  const found: Place[] = [];
  for (const place of [...places].sort((left, right) => left.start - right.start)) {
    const before = found.at(-1);
    if (before === undefined || place.start > before.end) found.push(place);
    else found[found.length - 1] = { start: before.start, end: Math.max(before.end, place.end) };
  }
  return found;
}
