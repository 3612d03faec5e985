/** Where the console is, and going elsewhere. Links are plain `<a href={hrefTo(…)}>`; the browser does the rest. */
import { useMemo, useSyncExternalStore } from 'react';
import { hrefTo, parseRoute, type Query, type Route } from '../model/route.ts';

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('hashchange', listener);
  window.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('hashchange', listener);
    window.removeEventListener('popstate', listener);
  };
}

const currentHash = (): string => window.location.hash;

/** The address on show. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, currentHash);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** Goes to an address of `hrefTo`. `replace`: the back button does not come back here. */
export function goTo(href: string, replace = false): void {
  if (href === currentHash()) return;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  for (const listener of listeners) listener();
}

/**
 * Changes filters of the page on show, keeping the others. They replace the address: the back button leads to the
 * page before, not through each letter of a search.
 */
export function setQuery(change: Query): void {
  const { page, rest, query } = parseRoute(currentHash());
  goTo(hrefTo(page, rest, { ...query, ...change }), true);
}
