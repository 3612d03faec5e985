/**
 * Bytes → text (dialect.md, "Envelope"): byte-order mark, then XML declaration, else UTF-8. Broken bytes are
 * refused, never replaced.
 */
import { reason } from '../../domain/reasons.ts';

/** What became of bytes. `charset` is the one read, or the label that nobody knows. */
export type CharsetOutcome =
  | { readonly text: string; readonly charset: string }
  | { readonly text: null; readonly reason: string; readonly charset: string };

type Charset = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030';

/**
 * Labels → charset. GB 2312 and GBK are read as GB 18030, their superset: bytes labelled gb2312 are commonly
 * GBK (lessons.md). A declaration that could be read byte by byte is not UTF-16, whatever it says: programs
 * that build XML in UTF-16 memory and write it as UTF-8 leave that label behind.
 */
const LABELS: ReadonlyMap<string, Charset> = new Map([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['ascii', 'utf-8'],
  ['utf-16', 'utf-8'],
  ['utf-16le', 'utf-8'],
  ['utf-16be', 'utf-8'],
  ['gbk', 'gb18030'],
  ['x-gbk', 'gb18030'],
  ['cp936', 'gb18030'],
  ['gb2312', 'gb18030'],
  ['gb_2312-80', 'gb18030'],
  ['gb18030', 'gb18030'],
]);
const DECLARATION = /^[\s]*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]{0,80})["']/;
/** A declaration stands at the beginning or nowhere. */
const DECLARATION_BYTES = 512;

/** Decodes bytes. A NUL in the text is left to decoding, which refuses it. */
export function toText(bytes: Uint8Array): CharsetOutcome {
  const marked = fromMark(bytes);
  if (marked !== null) return decode(bytes, marked);
  const head = Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1');
  const label = DECLARATION.exec(head)?.[1];
  if (label === undefined) return decode(bytes, 'utf-8');
  const charset = LABELS.get(label.trim().toLowerCase());
  if (charset !== undefined) return decode(bytes, charset);
  const shown = label.replace(/[^A-Za-z0-9._:-]/g, '?').slice(0, 32);
  return { text: null, reason: reason('codec', `charset ${shown}`), charset: shown };
}

/** By byte-order mark, or by how `<?` looks in UTF-16 without one. */
function fromMark(bytes: Uint8Array): Charset | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x3c && second === 0 && third === 0x3f && fourth === 0) return 'utf-16le';
  if (first === 0 && second === 0x3c && third === 0 && fourth === 0x3f) return 'utf-16be';
  return null;
}

function decode(bytes: Uint8Array, charset: Charset): CharsetOutcome {
  try {
    return { text: new TextDecoder(charset, { fatal: true }).decode(bytes), charset };
  } catch {
    return { text: null, reason: 'not-well-formed', charset };
  }
}
