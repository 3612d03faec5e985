/** From the values of file and environment to typed values, key by key, with all faults at once. */
import { hideCredentials } from '../runtime/secrets.ts';
import { shown } from './faults.ts';
import { KEYS, ROOT, VARIABLES, fileKeyOf, type Key } from './keys.ts';
import { nearest } from './nearest.ts';
import type { SETTINGS } from './schema.ts';
import type { Setting } from './setting.ts';
import type { Source } from './source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a small text file; throws as node:fs does. Injected, so that evaluation itself does no I/O. */
export type ReadFile = (path: string) => string;

type Drafted<T> = { readonly [K in keyof T]: T[K] extends Setting<infer V> ? V | undefined : Drafted<T[K]> };
/** A configuration in which a value that is missing or wrong is undefined. */
export type Draft = Drafted<typeof SETTINGS>;

export interface Evaluation {
  readonly draft: Draft;
  readonly faults: readonly string[];
}

/**
 * Evaluates every key that `wanted` names: environment before file before default; secrets also from the
 * file of their `…-file` key. Adds nothing for the shape of the file itself (source.ts).
 */
export function evaluate(
  source: Source,
  environment: Environment,
  readFile: ReadFile,
  wanted: (key: Key) => boolean = () => true,
): Evaluation {
  const faults = unknownVariables(environment);
  const draft: Record<string, unknown> = {};
  for (const key of KEYS) {
    const outcome = wanted(key) ? valueOf(key, source, environment, readFile) : { faults: [] };
    faults.push(...outcome.faults);
    place(draft, key.fields, 'value' in outcome ? outcome.value : undefined);
  }
  // The keys were placed by the very tree that the type is made of.
  return { draft: draft as unknown as Draft, faults };
}

type Outcome =
  { readonly value: unknown; readonly faults: readonly [] } | { readonly faults: readonly string[] };

function valueOf(key: Key, source: Source, environment: Environment, readFile: ReadFile): Outcome {
  const given = key.setting.fromFile
    ? secretOf(key, source, environment, readFile)
    : plainOf(key, source, environment);
  if (given === null) {
    if (key.setting.required) {
      const file = key.setting.fromFile ? ` or ${fileKeyOf(key).name.split('.').at(-1) ?? ''}` : '';
      return { faults: [`${key.name}${file}: is required: ${key.setting.expects}`] };
    }
    return { value: key.setting.schema.parse(key.setting.fallback), faults: [] };
  }
  if ('faults' in given) return given;
  const result = key.setting.schema.safeParse(given.raw);
  if (result.success) return { value: result.data, faults: [] };
  const got = key.setting.secret ? '' : `, got ${shown(given.raw)}`;
  const messages = new Set(
    result.error.issues.map((issue) => {
      const index = issue.path.at(-1);
      const entry = typeof index === 'number' ? `entry ${index + 1} ` : '';
      return `${key.name}: ${entry}${issue.message}${got}${given.from}`;
    }),
  );
  return { faults: [...messages] };
}

/** A value as it was given, and ` (MSGX_…)` where it was not the file that gave it. */
interface Given {
  readonly raw: unknown;
  readonly from: string;
}
type Found = Given | { readonly faults: readonly string[] } | null;

function plainOf(key: Key, source: Source, environment: Environment): Given | null {
  const text = environment[key.variable];
  if (text !== undefined) return { raw: key.setting.fromText(text.trim()), from: ` (${key.variable})` };
  if (!source.values.has(key.name)) return null;
  const raw = source.values.get(key.name);
  return raw === null && key.setting.required ? null : { raw, from: '' };
}

/** Secrets: the value, or the file that holds it; both in one layer contradict each other. */
function secretOf(key: Key, source: Source, environment: Environment, readFile: ReadFile): Found {
  const fileKey = fileKeyOf(key);
  const fromEnvironment =
    environment[key.variable] !== undefined || environment[fileKey.variable] !== undefined;
  const value = fromEnvironment ? environment[key.variable] : (source.values.get(key.name) ?? undefined);
  const path = fromEnvironment
    ? environment[fileKey.variable]
    : (source.values.get(fileKey.name) ?? undefined);
  if (value !== undefined && path !== undefined) {
    return { faults: [`${key.name}: both it and ${fileKey.name} are given; keep one`] };
  }
  if (path === undefined) return value === undefined ? null : plainOf(key, source, environment);
  const from = fromEnvironment ? ` (${fileKey.variable})` : ` (${fileKey.name})`;
  if (typeof path !== 'string' || path === '') return { faults: [`${fileKey.name}: must be a path`] };
  try {
    return { raw: readFile(path).trim(), from };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { faults: [`${fileKey.name}: ${hideCredentials(path)} cannot be read: ${code}`] };
  }
}

/**
 * Variables with our prefix that are not ours: those of test programs, and those that Kubernetes sets in
 * every pod beside a service named `msgx`.
 */
const NOT_OURS = /^MSGX_(TEST_|BENCH_|SERVICE_HOST$|SERVICE_PORT(_|$)|PORT(_|$))/;

function unknownVariables(environment: Environment): string[] {
  const known = new Set(VARIABLES);
  return Object.keys(environment)
    .filter((name) => name.startsWith(`${ROOT.toUpperCase()}_`) && !known.has(name) && !NOT_OURS.test(name))
    .map((name) => `${name}: unknown environment variable; did you mean ${nearest(name, VARIABLES) ?? ''}?`);
}

function place(target: Record<string, unknown>, fields: readonly string[], value: unknown): void {
  const [field, ...rest] = fields;
  if (field === undefined) return;
  if (rest.length === 0) {
    target[field] = value;
    return;
  }
  const group = (target[field] ??= {}) as Record<string, unknown>;
  place(group, rest, value);
}
