/** Finds the dialect that `msgx.dialect` names: built in, a profile file, or a module. */
import { pathToFileURL } from 'node:url';
import { closest, distance } from 'fastest-levenshtein';
import { DialectLoadError } from './load-error.ts';
import { createMetaXmlDialect } from './meta-xml/dialect.ts';
import { BUILT_IN_PROFILES, loadProfile } from './meta-xml/profile.ts';
import type { Dialect, DialectOptions } from './port.ts';

const PROFILE_FILE = /\.(?:ya?ml|json)$/i;
const MODULE_FILE = /\.[cm]?[jt]s$/i;

/**
 * Loads a dialect.
 *
 * @param name a built-in profile (`sis`), the path of a profile (.yaml, .yml, .json), or the path of a module
 *   that exports `createDialect(options): Dialect` or a promise of one; paths are relative to the working folder
 * @throws DialectLoadError that names every fault
 */
export async function loadDialect(name: string, options: DialectOptions): Promise<Dialect> {
  const builtIn: readonly string[] = BUILT_IN_PROFILES;
  if (builtIn.includes(name) || PROFILE_FILE.test(name)) {
    return createMetaXmlDialect(await loadProfile(name), options);
  }
  if (MODULE_FILE.test(name)) return loadModule(name, options);
  const nearest = closest(name, builtIn);
  const hint = distance(name, nearest) <= 2 ? `; did you mean '${nearest}'?` : '';
  throw new DialectLoadError(`no dialect '${name}'${hint}`, [
    `built in: ${builtIn.join(', ')}; else the path of a profile (.yaml, .json) or of a module (.js, .ts)`,
  ]);
}

async function loadModule(path: string, options: DialectOptions): Promise<Dialect> {
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    throw new DialectLoadError(`dialect module ${path} cannot be loaded`, [messageOf(error)]);
  }
  const create: unknown = isRecord(loaded) ? loaded['createDialect'] : undefined;
  if (typeof create !== 'function') {
    throw new DialectLoadError(`dialect module ${path} is not one`, ['it exports no function createDialect']);
  }
  let made: unknown;
  try {
    made = await Reflect.apply(create, undefined, [options]);
  } catch (error) {
    throw new DialectLoadError(`dialect module ${path} failed`, [messageOf(error)]);
  }
  const faults = dialectFaults(made);
  if (faults.length > 0) throw new DialectLoadError(`dialect module ${path} makes no dialect`, faults);
  return made as Dialect;
}

/** What of the port a module's dialect lacks. */
function dialectFaults(made: unknown): readonly string[] {
  if (!isRecord(made)) return ['createDialect returned no object'];
  const faults: string[] = [];
  for (const key of ['name', 'profileHash'])
    if (typeof made[key] !== 'string') faults.push(`${key}: no text`);
  for (const key of ['decode', 'toText', 'encode']) {
    if (typeof made[key] !== 'function') faults.push(`${key}: no function`);
  }
  if (!isRecord(made['mailbox'])) faults.push('mailbox: no object');
  return faults;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
