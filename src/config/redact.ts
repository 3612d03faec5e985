/** Shows a configuration without its secrets. */
import type { Json } from '../domain/json.ts';
import { KEYS } from './keys.ts';
import type { Config } from './schema.ts';

/** What stands in the place of a secret. */
export const HIDDEN = '***';

/** Every key with its value as one would write it in the file, secrets hidden; null = unset. */
export function shownConfig(config: Config): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    KEYS.map(({ name, fields, setting }) => {
      const value = fields.reduce<unknown>(
        (group, field) => (group as Record<string, unknown>)[field],
        config,
      );
      if (value === null || value === undefined) return [name, null];
      const text = setting.show(value);
      return [name, setting.secret ? redactSecret(text) : text];
    }),
  );
}

/** A secret for people: of a URL everything but the password, of anything else nothing. */
export function redactSecret(value: string): string {
  if (value === 'embedded') return value;
  return URL.canParse(value) && value.includes('://') ? redactUrl(value) : HIDDEN;
}

/** A URL without its password, and without parameters that may be one. */
export function redactUrl(value: string): string {
  if (!URL.canParse(value)) return HIDDEN;
  const url = new URL(value);
  if (url.password !== '') url.password = HIDDEN;
  for (const name of [...url.searchParams.keys()]) {
    if (/pass|pwd|secret|token|key/i.test(name)) url.searchParams.set(name, HIDDEN);
  }
  url.hash = '';
  return url.href;
}
