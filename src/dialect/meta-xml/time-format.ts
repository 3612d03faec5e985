/**
 * Time formats of a profile: fixed-width patterns such as `ddMMMyyHHmm` (dialect.md, "Time"). A text *fits* a
 * format by its shape alone; whether the moment exists is another question (`local-time.ts`).
 */

/** English month names, whatever the process's locale. */
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const;
const TOKENS = ['yyyy', 'MMM', 'yy', 'MM', 'dd', 'HH', 'mm', 'ss'] as const;
const SEPARATORS = new Set(['-', '/', '.', ':', ' ', 'T', '_']);
/** Two-digit years from here on belong to the last century. */
const CENTURY_PIVOT = 80;

type Token = (typeof TOKENS)[number];
type Part =
  | { readonly token: Token; readonly at: number; readonly length: number }
  | { readonly separator: string; readonly at: number };

/** The fields of a local time as written; not yet known to exist. Hour may be 24. */
export interface WrittenTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** A compiled format. */
export interface TimeFormat {
  readonly pattern: string;
  /** Shape by character class; two formats of one shape would be ambiguous. */
  readonly shape: string;
  /** The fields of a text that fits; null where it does not. */
  parse(text: string): WrittenTime | null;
  /** Writes a local time. */
  print(time: WrittenTime): string;
}

/** Compiles a pattern; a text says what is wrong with it. */
export function compileTimeFormat(pattern: string): TimeFormat | string {
  const parts = split(pattern);
  if (typeof parts === 'string') return parts;
  const tokens = parts.flatMap((part) => ('token' in part ? [part.token] : []));
  const has = (...wanted: Token[]): boolean => tokens.filter((token) => wanted.includes(token)).length === 1;
  if (!has('yyyy', 'yy') || !has('MMM', 'MM') || !has('dd') || !has('HH') || !has('mm')) {
    return 'a time format names year, month, day, HH and mm exactly once each';
  }
  if (tokens.filter((token) => token === 'ss').length > 1) return 'a time format names ss at most once';
  return {
    pattern,
    shape: parts.map(shapeOf).join(''),
    parse: (text) => (text.length === pattern.length ? parse(parts, text) : null),
    print: (time) => parts.map((part) => print(part, time)).join(''),
  };
}

function split(pattern: string): readonly Part[] | string {
  const parts: Part[] = [];
  let at = 0;
  while (at < pattern.length) {
    const token = TOKENS.find((candidate) => pattern.startsWith(candidate, at));
    if (token !== undefined) {
      parts.push({ token, at, length: token.length });
      at += token.length;
      continue;
    }
    const separator = pattern.charAt(at);
    if (!SEPARATORS.has(separator))
      return `a time format knows ${TOKENS.join(', ')}; not what begins at '${separator}'`;
    parts.push({ separator, at });
    at += 1;
  }
  return parts;
}

function shapeOf(part: Part): string {
  if ('separator' in part) return part.separator;
  return (part.token === 'MMM' ? 'a' : '9').repeat(part.length);
}

function parse(parts: readonly Part[], text: string): WrittenTime | null {
  const time = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const part of parts) {
    if ('separator' in part) {
      if (text.charAt(part.at) !== part.separator) return null;
      continue;
    }
    const value =
      part.token === 'MMM' ? monthOf(text.slice(part.at, part.at + 3)) : digits(text, part.at, part.length);
    if (value < 0) return null;
    switch (part.token) {
      case 'yyyy':
        time.year = value;
        break;
      case 'yy':
        time.year = value < CENTURY_PIVOT ? 2000 + value : 1900 + value;
        break;
      case 'MMM':
      case 'MM':
        time.month = value;
        break;
      case 'dd':
        time.day = value;
        break;
      case 'HH':
        time.hour = value;
        break;
      case 'mm':
        time.minute = value;
        break;
      case 'ss':
        time.second = value;
        break;
    }
  }
  return time;
}

/** A number of ASCII digits; -1 where there is anything else. */
function digits(text: string, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** 1–12; -1 where it is no English month: then the text is of another format. */
function monthOf(name: string): number {
  // Only ASCII letters: upper-casing would also turn some other letters into them.
  if (!/^[A-Za-z]{3}$/.test(name)) return -1;
  const index = MONTHS.findIndex((month) => month === name.toUpperCase());
  return index < 0 ? -1 : index + 1;
}

function print(part: Part, time: WrittenTime): string {
  if ('separator' in part) return part.separator;
  const padded = (value: number): string => String(value).padStart(part.length, '0');
  switch (part.token) {
    case 'yyyy':
      return padded(time.year);
    case 'yy':
      return padded(time.year % 100);
    case 'MMM':
      return MONTHS[time.month - 1] ?? '';
    case 'MM':
      return padded(time.month);
    case 'dd':
      return padded(time.day);
    case 'HH':
      return padded(time.hour);
    case 'mm':
      return padded(time.minute);
    case 'ss':
      return padded(time.second);
  }
}
