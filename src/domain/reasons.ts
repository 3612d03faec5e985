/**
 * Reasons (contract, "Reasons"): the closed list of prefixes and the only place that spells them. They stand
 * in `last_error` of FAILED and DEAD and in `reason` of SKIPPED and SUCCEEDED; operators search for them, so a
 * prefix is never renamed or reused.
 */

/** Every prefix, and whether `:` and something follows it. */
export const REASONS = {
  'raw-missing': 'alone',
  'not-well-formed': 'alone',
  'doctype-forbidden': 'alone',
  'too-large': 'alone',
  'too-deep': 'alone',
  'meta-missing': 'named',
  'payload-missing': 'named',
  'bad-value': 'named',
  'unknown-format': 'named',
  'unknown-value': 'named',
  codec: 'named',
  unsupported: 'named',
  'recs-mismatch': 'named',
  'duplicate-flid': 'named',
  'operation-day-conflict': 'named',
  'duplicate-of': 'named',
  ignored: 'named',
  'no-match': 'named',
  'no-open-request': 'alone',
  'empty-reference': 'alone',
  operator: 'named',
  unchanged: 'alone',
  superseded: 'named',
} as const;

/** A prefix of the closed list. */
export type ReasonPrefix = keyof typeof REASONS;
/** Prefixes that stand alone. */
export type AloneReason = {
  [P in ReasonPrefix]: (typeof REASONS)[P] extends 'alone' ? P : never;
}[ReasonPrefix];
/** Prefixes that name something after a colon. */
export type NamedReason = Exclude<ReasonPrefix, AloneReason>;

/** Longest text of an upstream that is echoed in a reason, in characters. */
const ECHO_LIMIT = 32;
/** Most names listed in one reason; all of them stand in `detail`. */
const LIST_LIMIT = 50;

/** A reason that names something, e.g. `bad-value:APPT`. */
export function reason(prefix: NamedReason, name: string): string {
  return `${prefix}:${name}`;
}

/** A reason that lists names, e.g. `no-match:700001,700002`; very long lists end in a count. */
export function listReason(prefix: 'no-match' | 'superseded', names: readonly string[]): string {
  const listed = reason(prefix, names.slice(0, LIST_LIMIT).join(','));
  return andMore(listed, names.length - Math.min(names.length, LIST_LIMIT));
}

/** `recs-mismatch:DECLARED/FOUND`; `missing` where nothing was declared. */
export function recsMismatch(declared: string | null, found: number): string {
  return reason(
    'recs-mismatch',
    `${declared === null || declared === '' ? 'missing' : echo(declared)}/${found}`,
  );
}

/** `duplicate-of:ID`, with its suffix where the content is another. */
export function duplicateOf(original: bigint, contentDiffers: boolean): string {
  return reason('duplicate-of', `${original.toString()}${contentDiffers ? ' content-differs' : ''}`);
}

/** `ignored:TYPE/STYP` or `unsupported:TYPE/STYP`. */
export function kindReason(
  prefix: 'ignored' | 'unsupported',
  header: { type: string; subtype: string },
): string {
  return reason(prefix, `${header.type}/${header.subtype}`);
}

/** The first of several reasons and how many more there are: `duplicate-flid:700001 (+2 more)`. */
export function firstOf(reasons: readonly [string, ...string[]]): string {
  return andMore(reasons[0], reasons.length - 1);
}

/** The prefix of a reason; null where the text is none of the closed list. */
export function prefixOf(text: string): ReasonPrefix | null {
  const plain = text.replace(/ \(\+\d+ more\)$/, '');
  const colon = plain.indexOf(':');
  const prefix = colon < 0 ? plain : plain.slice(0, colon);
  if (!isPrefix(prefix)) return null;
  return (REASONS[prefix] === 'named') === (colon >= 0 && colon < plain.length - 1) ? prefix : null;
}

function isPrefix(text: string): text is ReasonPrefix {
  return Object.hasOwn(REASONS, text);
}

function andMore(text: string, more: number): string {
  return more > 0 ? `${text} (+${more} more)` : text;
}

/** An upstream's own text, short and on one line. */
function echo(text: string): string {
  return Array.from(text.replace(/\s+/g, ' ')).slice(0, ECHO_LIMIT).join('');
}
