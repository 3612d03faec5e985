/** Reads a `mysql://` URL. The driver's own reading is not used: it passes unknown parameters on as options. */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { SslOptions } from 'mysql2';

/** Where a MySQL or MariaDB is, and as whom. */
export interface MysqlTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** TLS of the connection; null for none. */
  readonly tls: SslOptions | null;
}

const DEFAULT_PORT = 3306;

/** MySQL's own names of the modes; `preferred` is left out, since it protects from nobody. */
const TLS_MODES: Readonly<Record<string, SslOptions | null>> = {
  disabled: null,
  required: { rejectUnauthorized: false },
  'verify-ca': { rejectUnauthorized: true },
  'verify-identity': { rejectUnauthorized: true, verifyIdentity: true },
};

/**
 * Reads `mysql://user:password@host:port/database?ssl-mode=…&ssl-ca=FILE`; `database` replaces the URL's own.
 * Throws an Error that names what is wrong with it.
 */
export async function readMysqlUrl(text: string, database: string | null): Promise<MysqlTarget> {
  const url = new URL(text);
  const name = database ?? decodeURIComponent(url.pathname.slice(1));
  if (name === '') {
    throw new Error('msgx.mailbox.url: names no database (mysql://user@host:port/DATABASE)');
  }
  // An IPv6 address stands in brackets in a URL, and without them everywhere else.
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost';
  return {
    host,
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: name,
    tls: await tlsOf(url.searchParams, host),
  };
}

async function tlsOf(parameters: URLSearchParams, host: string): Promise<SslOptions | null> {
  for (const key of parameters.keys()) {
    if (key !== 'ssl-mode' && key !== 'ssl-ca') {
      throw new Error(`msgx.mailbox.url: unknown parameter ${key}; known are ssl-mode and ssl-ca`);
    }
  }
  const file = parameters.get('ssl-ca');
  const mode = (parameters.get('ssl-mode') ?? (file === null ? 'disabled' : 'verify-ca')).toLowerCase();
  const options = TLS_MODES[mode];
  if (options === undefined) {
    throw new Error(`msgx.mailbox.url: ssl-mode is one of ${Object.keys(TLS_MODES).join(', ')}`);
  }
  // The driver has no name to compare for an address, and would compare `localhost`.
  if (options?.verifyIdentity === true && isIP(host) !== 0) {
    throw new Error(`msgx.mailbox.url: ssl-mode=verify-identity needs a host name, not the address ${host}`);
  }
  if (options === null || file === null) return options;
  return { ...options, ca: await readFile(file, 'utf8') };
}
