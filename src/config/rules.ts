/** What texts of the configuration must look like; `expects` completes "must be …". */
import { nearest } from './nearest.ts';

export const NON_EMPTY = {
  pattern: /^[^\p{Cc}]*[^\p{Cc}\s][^\p{Cc}]*$/u,
  expects: 'a text that is not empty',
};
export const ZONE = { pattern: NON_EMPTY.pattern, expects: 'an IANA time zone' };
export const PATH = { pattern: NON_EMPTY.pattern, expects: 'a path' };
export const IATA = { pattern: /^[A-Z]{3}$/, expects: 'an IATA airport code: three capital letters' };
/** As long as a SNDR may be: our own messages have to be found again by it. */
export const SENDER = { pattern: /^[A-Z0-9_-]{1,8}$/i, expects: '1 to 8 letters, digits, _ or -' };
export const CLOCK_TIME = { pattern: /^([01]\d|2[0-3]):[0-5]\d$/, expects: 'a time of day HH:mm' };
/** Also what the store accepts: it stands unquoted in the search path. */
export const SCHEMA = {
  pattern: /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/,
  expects: 'a plain lower-case name (letters, digits, _; not beginning with pg_)',
};
export const IDENTIFIER = { pattern: /^[^\p{Cc}"`]{1,128}$/u, expects: 'the name of a table or column' };
export const TOPIC = {
  pattern: /^(?:[A-Za-z0-9._-]|\{airport\}){1,240}$/,
  expects: 'a topic name (letters, digits, . _ - and {airport})',
};
export const BROKER = { pattern: /^(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):\d{1,5}$/, expects: 'host:port' };
export const MESSAGE_TYPE = { pattern: /^[A-Z0-9]{2,8}$/, expects: 'a message type in capitals' };
export const TYPE_RULE = {
  pattern: /^[A-Z0-9]{2,8}(\/[A-Z0-9]{2,8})?$/,
  expects: 'TYPE or TYPE/STYP in capitals',
};
export const START_REQUEST = {
  pattern: /^(today|tomorrow|reference|[A-Z0-9]{2,8})$/,
  expects: 'today, tomorrow, reference or a reference type in capitals',
};

/** Completes "time-zone …" where the name is no IANA zone; null where it is one. */
export function unknownZone(name: string): string | null {
  // An offset like +08:00 is accepted by Intl but is no zone: it knows no summer time and no history.
  if (/^[A-Za-z]/.test(name)) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: name });
      return null;
    } catch {
      // Falls through to the suggestion.
    }
  }
  return `must be a known IANA time zone, e.g. ${nearest(name, Intl.supportedValuesOf('timeZone')) ?? 'Asia/Shanghai'}`;
}
