/**
 * Requests that a foreign page makes a browser send. A change has to come from the console's own page, or from a
 * program that is no browser; and without tokens the name asked for has to be one of loopback, because a foreign name
 * may be made to lead here (DNS rebinding).
 */
import type { IncomingHttpHeaders } from 'node:http';

/** Whether a change may pass by what its browser says. @param byCookie the browser has signed it by itself, so it has to say something */
export function isOwnOrigin(headers: IncomingHttpHeaders, byCookie: boolean): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (origin === undefined && site === undefined) return !byCookie;
  if (site !== undefined && site !== 'same-origin') return false;
  // A proxy that ends TLS may ask for another name than the browser did; then the browser's own verdict decides.
  return site === 'same-origin' || hostOf(origin) === host?.toLowerCase();
}

/** Whether a request asks for a name of loopback. */
export function isLoopbackHost(host: string | undefined): boolean {
  const name = hostNameOf(host);
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}

function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host.toLowerCase() : null;
}

function hostNameOf(host: string | undefined): string {
  const url = `http://${host ?? ''}`;
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '';
}
