/** How values appear in faults: short, and never with a secret. */
import { hideCredentials } from '../runtime/secrets.ts';

/** A value of the file or the environment as a fault shows it. */
export function shown(value: unknown): string {
  if (value === null) return 'nothing';
  if (typeof value === 'object' && !Array.isArray(value)) return 'a group of keys';
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value, replaceBigInt);
  const safe = hideCredentials(text);
  return safe.length > 60 ? `${safe.slice(0, 57)}…` : safe;
}

function replaceBigInt(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
