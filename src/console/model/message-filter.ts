/** Which messages an address asks for, as the API wants it. Pure. */
import { momentOf } from './airport-local.ts';
import type { Query } from './route.ts';

/** Names of the API and of the address. Times stand in the address as they are typed, at the airport. */
export const FILTER_NAMES = ['state', 'class', 'type', 'styp', 'flight', 'attention', 'from', 'to'] as const;

/** @param zone of the airport; null: not known yet, and times are not asked for */
export function messageFilter(query: Query, zone: string | null): Readonly<Record<string, string>> {
  const filter: Record<string, string> = {};
  for (const name of FILTER_NAMES) {
    const value = query[name]?.trim() ?? '';
    if (value === '') continue;
    const isTime = name === 'from' || name === 'to';
    const wanted = isTime ? (zone === null ? null : momentOf(value, zone)) : value;
    if (wanted !== null) filter[name] = wanted;
  }
  return filter;
}
