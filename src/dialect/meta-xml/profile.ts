/** Loading profiles of the META-XML family: built in or from a file, checked as a whole. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { DialectOptions } from '../port.ts';
import { DialectLoadError } from '../load-error.ts';
import { checkProfile } from './profile-check.ts';
import type { Profile } from './profile-schema.ts';

/** Names of the profiles that come with the program. */
export const BUILT_IN_PROFILES = ['sis'] as const;

/** What of the options decides how a text is judged, with the profile's own lists put in. */
export interface Rules {
  /** TYPE or TYPE/STYP. */
  readonly ignore: readonly string[];
  /** Reference types. */
  readonly reference: readonly string[];
}

/**
 * Loads a built-in profile, or a YAML or JSON file.
 *
 * @throws DialectLoadError with every fault where it cannot be read or is not valid
 */
export async function loadProfile(nameOrFile: string): Promise<Profile> {
  const builtIn = BUILT_IN_PROFILES.find((name) => name === nameOrFile);
  const location =
    builtIn === undefined ? nameOrFile : new URL(`../profiles/${builtIn}.yaml`, import.meta.url);
  let input: unknown;
  try {
    input = parse(await readFile(location, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    throw new DialectLoadError(`dialect profile ${nameOrFile} cannot be read`, [why]);
  }
  const checked = checkProfile(input);
  if (!checked.ok) throw new DialectLoadError(`dialect profile ${nameOrFile} is not valid`, checked.faults);
  return checked.profile;
}

/** The lists of `msgx.rules.*`, or the profile's own. */
export function rulesOf(profile: Profile, options: DialectOptions): Rules {
  return {
    ignore: options.ignore ?? profile.kinds.ignore,
    reference: options.reference ?? profile.kinds.reference.types,
  };
}

/**
 * SHA-256 (hex) of everything that decides how a text is judged: the profile, zone, cutoff, lists and limits
 * (proc_state.profile_hash). Its name, the names of codes, the outbound templates and the mailbox's names judge nothing and are
 * left out, so that correcting one of them does not make old messages uncheckable.
 */
export function profileHash(profile: Profile, options: DialectOptions): string {
  const { envelope, times, kinds, flight } = profile;
  const { ignore, reference } = rulesOf(profile, options);
  const judging = {
    envelope,
    times,
    kinds,
    flight,
    timeZone: options.timeZone,
    operationDayCutoff: options.operationDayCutoff,
    maxMessageBytes: options.maxMessageBytes,
    maxDepth: options.maxDepth,
    ignore: ignore.toSorted(),
    reference: reference.toSorted(),
  };
  return hash('sha256', canonical(judging));
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
