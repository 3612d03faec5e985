/** Loads the configuration: file, environment, defaults; validated once, then read-only (contract, "Configuration"). */
import { readFileSync } from 'node:fs';
import { crossFaults, crossWarnings } from './cross-checks.ts';
import { evaluate, type Draft, type Environment, type ReadFile } from './evaluate.ts';
import type { Key } from './keys.ts';
import type { Config } from './schema.ts';
import { broken, parseSource, sourceOf, type Source } from './source.ts';

export const DEFAULT_FILE = 'msgx.yaml';

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  /** All faults, one line each, none with a secret. */
  | { readonly ok: false; readonly faults: readonly string[] };

export interface LoadOptions {
  /** Path of the YAML file. Default `msgx.yaml`. */
  readonly file?: string;
  /** Default process.env. */
  readonly env?: Environment;
  /** The file may be missing. Default: exactly where it was not named. */
  readonly optional?: boolean;
}

/** Loads and validates the whole configuration. */
export function loadConfig(options: LoadOptions = {}): ConfigResult {
  const source = read(options);
  const result = finish(source, options.env ?? process.env);
  if (result.ok || !source.missing) return result;
  // What is missing would stand in the file: say that there is none.
  return { ok: false, faults: [`${options.file ?? DEFAULT_FILE}: there is no such file`, ...result.faults] };
}

/**
 * The same for an object that holds what stands under `msgx:` in the file, e.g.
 * `{ airport: 'HGH', database: { url: 'embedded' }, mailbox: { url: 'embedded' } }`.
 */
export function configFromObject(settings: object, env: Environment = {}): ConfigResult {
  return finish(sourceOf(settings), env);
}

/** The part of the configuration that judging a text needs. */
export type DecodingConfig = Pick<
  Config,
  'timeZone' | 'dialect' | 'operationDayCutoff' | 'maxMessageBytes' | 'maxDepth' | 'rules'
>;

/** Loads what decoding needs; connections need not be configured for it. */
export function loadDecodingConfig(
  options: LoadOptions = {},
):
  | { readonly ok: true; readonly config: DecodingConfig }
  | { readonly ok: false; readonly faults: readonly string[] } {
  const source = read(options);
  if (source.broken) return { ok: false, faults: source.faults };
  const { draft, faults } = evaluate(source, options.env ?? process.env, readText, isForDecoding);
  const all = [...source.faults, ...faults];
  if (all.length > 0) return { ok: false, faults: all };
  return { ok: true, config: deepFreeze(draft as DecodingConfig) };
}

const DECODING_FIELDS: ReadonlySet<string> = new Set<keyof DecodingConfig>([
  'timeZone',
  'dialect',
  'operationDayCutoff',
  'maxMessageBytes',
  'maxDepth',
  'rules',
]);

function isForDecoding(key: Key): boolean {
  return DECODING_FIELDS.has(key.fields[0] ?? '');
}

function finish(source: Source, env: Environment): ConfigResult {
  if (source.broken) return { ok: false, faults: source.faults };
  const evaluation = evaluate(source, env, readText);
  const draft = withTopics(evaluation.draft);
  const faults = [...source.faults, ...evaluation.faults, ...crossFaults(draft)];
  if (faults.length > 0) return { ok: false, faults };
  // Without faults nothing of the draft is undefined.
  const config = deepFreeze(draft as Config);
  return { ok: true, config, warnings: crossWarnings(config) };
}

/** Replaces {airport} in the topic names. */
function withTopics(draft: Draft): Draft {
  const { airport, delivery } = draft;
  if (airport === undefined) return draft;
  const named = (topic: string | undefined) => topic?.replaceAll('{airport}', airport);
  const { topicMsg, topicSchd } = delivery.kafka;
  const kafka = { ...delivery.kafka, topicMsg: named(topicMsg), topicSchd: named(topicSchd) };
  return { ...draft, delivery: { ...delivery, kafka } };
}

function read(options: LoadOptions): Source & { readonly missing: boolean } {
  const file = options.file ?? DEFAULT_FILE;
  const optional = options.optional ?? options.file === undefined;
  let text: string;
  try {
    text = readText(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    if (optional && code === 'ENOENT') return { values: new Map(), faults: [], broken: false, missing: true };
    return { ...broken([`${file}: cannot be read: ${code}`]), missing: false };
  }
  return { ...parseSource(text, file), missing: false };
}

const readText: ReadFile = (path) => readFileSync(path, 'utf8');

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
