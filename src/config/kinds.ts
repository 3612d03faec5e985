/** The kinds of settings: integers, durations, sizes, names, lists, URLs, files. */
import { z } from 'zod';
import { MAX_ID, msgId, type MsgId } from '../domain/ids.ts';
import { REQUIRED, Setting, type Description } from './setting.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

interface WithDefault<D> extends Description {
  readonly fallback: D;
}
interface Range {
  readonly min?: number;
  readonly max?: number;
}
interface DurationRange {
  /** As written, e.g. `1s`. Default 10ms. */
  readonly min?: string;
  /** Default 24d: the longest a timer of Node can wait is 24.8 days. */
  readonly max?: string;
}
interface TextRule {
  readonly pattern: RegExp;
  /** Completes "must be …". */
  readonly expects: string;
}

/** A whole number. */
export function integer(options: WithDefault<number> & Required<Range>): Setting<number> {
  const expects = `an integer from ${options.min} to ${options.max}`;
  const error = `must be ${expects}`;
  return new Setting({
    ...options,
    expects,
    schema: z.int({ error }).min(options.min, { error }).max(options.max, { error }),
    fromText: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  });
}

/** True or false. */
export function flag(options: WithDefault<boolean>): Setting<boolean> {
  return new Setting({
    ...options,
    expects: 'true or false',
    schema: z.boolean({ error: 'must be true or false' }),
    fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  });
}

/** A duration with its unit; read as milliseconds, so the field's name ends in Ms. */
export function duration(options: WithDefault<string> & DurationRange): Setting<number> {
  const { expects, schema } = durationRule(options);
  return new Setting({ ...options, suffix: 'Ms', expects, schema, show: formatDuration });
}

/** Waits between attempts, one per tier; read as milliseconds. */
export function durations(
  options: WithDefault<readonly string[]> & DurationRange,
): Setting<readonly number[]> {
  const { expects, schema } = durationRule(options);
  return new Setting({
    ...options,
    suffix: 'Ms',
    expects: `a list, each ${expects}`,
    schema: z.array(schema, { error: `must be a list, each ${expects}` }).readonly(),
    fromText: splitList,
    show: (value) => showList(value.map(formatDuration)),
  });
}

function durationRule(range: DurationRange): { expects: string; schema: z.ZodType<number> } {
  const [min, max] = [range.min ?? '10ms', range.max ?? '24d'];
  const expects = `a duration from ${min} to ${max}, like 500ms, 30s, 5m, 24h or 7d`;
  const [low, high] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  const schema = z.unknown().transform((raw, context): number => {
    const value = typeof raw === 'string' ? parseDuration(raw) : null;
    if (value !== null && value >= low && value <= high) return value;
    context.addIssue({ code: 'custom', message: `must be ${expects}` });
    return z.NEVER;
  });
  return { expects, schema };
}

/** A size in bytes. */
export function size(
  options: WithDefault<string> & { readonly min: string; readonly max: string },
): Setting<number> {
  const expects = `a size from ${options.min} to ${options.max}, like 16 MiB, 64 KiB or a number of bytes`;
  const [low, high] = [parseSize(options.min) ?? 0, parseSize(options.max) ?? 0];
  const schema = z.unknown().transform((raw, context): number => {
    const value = typeof raw === 'string' || typeof raw === 'number' ? parseSize(String(raw)) : null;
    if (value !== null && value >= low && value <= high) return value;
    context.addIssue({ code: 'custom', message: `must be ${expects}` });
    return z.NEVER;
  });
  return new Setting({ ...options, expects, schema, show: formatSize });
}

/** One of a closed list of words. */
export function oneOf<const W extends readonly [string, ...string[]]>(
  words: W,
  options: WithDefault<W[number]>,
): Setting<W[number]> {
  const expects = `one of ${words.join(', ')}`;
  return new Setting<W[number]>({
    ...options,
    expects,
    schema: z.enum(words, { error: `must be ${expects}` }),
  });
}

/** A text that follows a rule. */
export function text(
  rule: TextRule,
  options: WithDefault<string | typeof REQUIRED> & { readonly check?: (value: string) => string | null },
): Setting<string> {
  return new Setting({ ...options, expects: rule.expects, schema: textRule(rule, options.check) });
}

/** A text that may stay unset. `none` in the file or an empty environment variable unsets it. */
export function optionalText(
  rule: TextRule,
  options: Description & {
    readonly secret?: boolean;
    readonly fromFile?: boolean;
    readonly orNone?: boolean;
  },
): Setting<string | null> {
  const error = options.orNone === true ? `${rule.expects}, or none` : rule.expects;
  const { pattern } = rule;
  const unset = (raw: unknown) => (options.orNone === true && raw === 'none' ? null : raw);
  return new Setting({
    ...options,
    fallback: null,
    expects: error,
    schema: z.preprocess(unset, textRule({ pattern, expects: error }).nullable()),
    fromText: (value) => (value === '' ? null : value),
  });
}

/** A list of texts that follow a rule. An empty environment variable is an empty list. */
export function list(rule: TextRule, options: WithDefault<readonly string[]>): Setting<readonly string[]> {
  return new Setting({
    ...options,
    expects: `a list, each ${rule.expects}`,
    schema: listRule(rule),
    fromText: splitList,
    show: showList,
  });
}

/** A list that may stay unset, which is not the same as empty. */
export function optionalList(rule: TextRule, options: Description): Setting<readonly string[] | null> {
  return new Setting({
    ...options,
    fallback: null,
    expects: `a list, each ${rule.expects}`,
    schema: listRule(rule).nullable(),
    fromText: splitList,
    show: showList,
  });
}

/** A list for which the word `none` may stand alone. */
export function listOrNone(rule: TextRule, options: Description): Setting<readonly string[]> {
  return new Setting({
    ...options,
    fallback: 'none',
    expects: `none, or a list, each ${rule.expects}`,
    schema: z.preprocess((raw) => (raw === 'none' ? [] : raw), listRule(rule)),
    fromText: (value) => (value === 'none' ? value : splitList(value)),
    show: (value) => (value.length === 0 ? 'none' : showList(value)),
  });
}

function textRule(rule: TextRule, check?: (value: string) => string | null): z.ZodType<string> {
  const error = `must be ${rule.expects}`;
  const base = z.string({ error }).regex(rule.pattern, { error, abort: true });
  if (check === undefined) return base;
  return base.superRefine((value, context) => {
    const message = check(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });
}

function listRule(rule: TextRule): z.ZodType<readonly string[]> {
  return z.array(textRule(rule), { error: `must be a list, each ${rule.expects}` }).readonly();
}

/**
 * Where a database is: `embedded` or a URL of one of the given schemes, which map to the scheme the program
 * goes on with. Required, and a secret.
 */
export function databaseUrl(
  options: Description & { readonly schemes: Readonly<Record<string, string>> },
): Setting<string> {
  const names = [...new Set(Object.values(options.schemes))];
  const expects = `embedded, or a URL ${names.map((scheme) => `${scheme}://…`).join(' or ')}`;
  const schema = z.string({ error: `must be ${expects}` }).transform((raw, context): string => {
    const value = raw.trim();
    if (value === 'embedded') return value;
    const written = /^([a-z]+):\/\//.exec(value)?.[1] ?? '';
    const scheme = options.schemes[written];
    if (scheme === undefined) {
      context.addIssue({ code: 'custom', message: `must be ${expects}` });
    } else if (!URL.canParse(value)) {
      context.addIssue({
        code: 'custom',
        message: 'is no valid URL (special characters of a user name or password are written as %XX)',
      });
    }
    return scheme === undefined ? value : scheme + value.slice(written.length);
  });
  return new Setting({ ...options, fallback: REQUIRED, expects, schema, secret: true, fromFile: true });
}

/** A network address to listen on. */
export interface ListenAddress {
  /** Host name or address, without brackets. */
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
}

/** `host:port`; port 0 = any free one. */
export function listenAddress(options: WithDefault<string>): Setting<ListenAddress> {
  const expects = 'host:port with a port from 0 to 65535, e.g. 127.0.0.1:8080 or [::1]:0';
  const schema = z.unknown().transform((raw, context): ListenAddress => {
    const match =
      typeof raw === 'string' ? /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(raw.trim()) : null;
    const host = match?.[1] ?? match?.[2];
    const port = Number(match?.[3]);
    if (host !== undefined && port <= 65_535) return { host, port };
    context.addIssue({ code: 'custom', message: `must be ${expects}` });
    return z.NEVER;
  });
  const show = ({ host, port }: ListenAddress) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Setting({ ...options, expects, schema, show });
}

/** Where the watermark starts: a rule, or the watermark itself (seed §4.4). */
export type CutoverWatermark = 'min' | 'zero' | 'max' | MsgId;

/** min, zero, max or an ID; unset by default. */
export function watermark(options: Description): Setting<CutoverWatermark | null> {
  const expects = `min, zero, max or an ID from 0 to ${MAX_ID}`;
  const schema = z.unknown().transform((raw, context): CutoverWatermark | null => {
    if (raw === null || raw === 'min' || raw === 'zero' || raw === 'max') return raw;
    // The file's integers come as number, or as BigInt beyond 2^53.
    const digits =
      typeof raw === 'bigint' || (typeof raw === 'number' && Number.isSafeInteger(raw)) ? String(raw) : raw;
    if (typeof digits === 'string' && /^\d{1,19}$/.test(digits) && BigInt(digits) <= MAX_ID)
      return msgId(digits);
    context.addIssue({ code: 'custom', message: `must be ${expects}` });
    return z.NEVER;
  });
  return new Setting({
    ...options,
    fallback: null,
    expects,
    schema,
    fromText: (value) => (value === '' ? null : value),
  });
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function showList(values: readonly string[]): string {
  return `[${values.join(', ')}]`;
}
