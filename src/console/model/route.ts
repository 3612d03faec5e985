/**
 * Addresses within the console: `#/PAGE/PART/PART?KEY=VALUE`. Behind the `#`, because the page then works under any
 * path prefix and msgx needs to know nothing of its pages. Pure.
 */

export interface Route {
  /** The first part; empty where the address names no page. */
  readonly page: string;
  /** What follows: the ID of a message, the FLID of a flight. */
  readonly rest: readonly string[];
  /** Filters; each key once. */
  readonly query: Query;
}

export type Query = Readonly<Partial<Record<string, string>>>;

/** Reads an address. What is not one is the page without a name. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?');
  const [page = '', ...rest] = path.split('/').map(decoded);
  return {
    page,
    rest: rest.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

/** Writes an address; filters that are empty or not given are left out. */
export function hrefTo(page: string, rest: readonly string[] = [], query: Query = {}): string {
  const path = [page, ...rest].map(encodeURIComponent).join('/');
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(key, value);
  }
  return `#/${path}${search.size === 0 ? '' : `?${search.toString()}`}`;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** An address typed by hand may hold a bare percent sign. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
