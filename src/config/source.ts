/** Reads the configuration file: YAML to the flat values of its keys, with every fault of its shape. */
import { LineCounter, parseDocument } from 'yaml';
import { shown } from './faults.ts';
import { GROUPS, NAMES, ROOT } from './keys.ts';
import { nearest } from './nearest.ts';

/** What a file says: values by key name, and what is wrong with it. */
export interface Source {
  readonly values: ReadonlyMap<string, unknown>;
  readonly faults: readonly string[];
  /** The text could not be read as keys at all: what else seems missing or wrong means nothing. */
  readonly broken: boolean;
}

/** Parses a YAML text whose root is `msgx:`. `file` is its name in faults. */
export function parseSource(text: string, file: string): Source {
  const lines = new LineCounter();
  // Integers as BigInt: an ID beyond 2^53 must not be rounded on its way.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, intAsBigInt: true });
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      return `${file}:${line}:${col}: not valid YAML: ${withoutSource(error.message)}`;
    });
    return broken(faults);
  }
  let root: unknown;
  try {
    root = document.toJS();
  } catch {
    // The parser's only complaint at this stage: an alias without anchor, or too many of them.
    return broken([`${file}: not valid YAML: aliases cannot be resolved`]);
  }
  if (root === null || root === undefined) return { values: new Map(), faults: [], broken: false };
  if (!isGroup(root)) return broken([`${file}: must be a mapping with the root key msgx`]);
  const values = new Map<string, unknown>();
  const faults: string[] = [];
  for (const [name, value] of Object.entries(root)) {
    if (name === ROOT) flattenGroup(value, ROOT, values, faults);
    else faults.push(`${printable(name)}: unknown key; the root key is msgx${suggestion(`${ROOT}.${name}`)}`);
  }
  return { values, faults, broken: false };
}

/** The same for an object that holds what stands under `msgx:` in the file. */
export function sourceOf(settings: object): Source {
  const values = new Map<string, unknown>();
  const faults: string[] = [];
  flattenGroup(settings, ROOT, values, faults);
  return { values, faults, broken: false };
}

/** A source of which nothing could be read. */
export function broken(faults: readonly string[]): Source {
  return { values: new Map(), faults, broken: true };
}

function flattenGroup(group: unknown, prefix: string, values: Map<string, unknown>, faults: string[]): void {
  // A group whose keys are all commented out is null in YAML.
  if (group === null || group === undefined) return;
  if (!isGroup(group)) {
    // The value is not shown: it may be a URL with a password, one level too high.
    faults.push(
      `${prefix}: must be a group of keys, got ${Array.isArray(group) ? 'a list' : 'a single value'}`,
    );
    return;
  }
  for (const [key, value] of Object.entries(group)) {
    const name = `${prefix}.${key}`;
    if (GROUPS.has(name)) flattenGroup(value, name, values, faults);
    else if (KNOWN.has(name)) values.set(name, plain(value));
    else faults.push(`${printable(name)}: unknown key${suggestion(name)}`);
  }
}

const KNOWN: ReadonlySet<string> = new Set(NAMES);

function suggestion(name: string): string {
  const known = nearest(name, [...NAMES, ...GROUPS]);
  return known === null ? '' : `; did you mean ${known}?`;
}

/** Integers that a number holds exactly become numbers again, in lists too. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'bigint') return value;
  return BigInt(Number.MIN_SAFE_INTEGER) <= value && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key's name on one line and without what might be a secret written in the wrong place. */
function printable(name: string): string {
  return shown(name).slice(1).replace(/"$/, '');
}

/** The parser's message without the piece of the file it quotes, which may be a secret. */
function withoutSource(message: string): string {
  return (message.split(/[:"\n]/)[0] ?? message).trim();
}
