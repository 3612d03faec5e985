/** What every connection to a PostgreSQL shares, our own and a mailbox: value parsers and the reading of errors. */
import pg from 'pg';
import { Outage, isConnectionCode, isOutageSqlState, type Dependency } from './outage.ts';

type Parser = (value: string) => unknown;

/** OIDs whose values the driver would shorten: int8 and its array, timestamptz, timestamp, date. */
const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [20, (value) => BigInt(value)],
  [1016, (value) => arrayOf(value).map(BigInt)],
  // Times stay text: a Date would lose microseconds and know no day.
  [1184, (value) => value],
  [1114, (value) => value],
  [1082, (value) => value],
]);

const driver = pg.types as unknown as { getTypeParser(oid: number): Parser };

/** Parsers for `pg`: int8 as BigInt, times as text, the rest as the driver does. */
export const DRIVER_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => PARSERS.get(oid) ?? driver.getTypeParser(oid),
};

function arrayOf(literal: string): string[] {
  const inner = literal.slice(1, -1);
  return inner === '' ? [] : inner.split(',');
}

/** What the driver threw: errors that name a statement stay, everything that means "no database" is an Outage. */
export function translateDriverError(dependency: Dependency, error: unknown): unknown {
  if (error instanceof Outage) return error;
  if (error instanceof pg.DatabaseError) {
    return isOutageSqlState(error.code) ? new Outage(dependency, error) : error;
  }
  // The driver's own errors (connection terminated, timeouts, refused) carry no SQLSTATE. A TypeError is a
  // wrong parameter, a RangeError one too long for a string: faults of ours.
  const ours = error instanceof TypeError || (error instanceof RangeError && !isConnectionCode(error));
  return ours ? error : new Outage(dependency, error);
}

/** What we set ourselves on every connection. The driver lets a URL's query overrule it. */
const OURS = [
  'application_name',
  'client_encoding',
  'connectionTimeoutMillis',
  'idle_in_transaction_session_timeout',
  'keepAlive',
  'lock_timeout',
  'query_timeout',
  'statement_timeout',
] as const;

/**
 * Takes out of a URL what would overrule our own settings: deadlines and the name by which a takeover ends our
 * sessions. Its `options` stay in force where ours do not contradict them: they are put before ours.
 *
 * @param options our own `options` start-up parameter
 */
export function withOwnSettings(
  url: string,
  options: string,
): { readonly connectionString: string; readonly options: string } {
  if (!url.includes('?') || !URL.canParse(url)) return { connectionString: url, options };
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options');
  for (const name of [...OURS, 'options']) parsed.searchParams.delete(name);
  return {
    connectionString: parsed.toString(),
    options: theirs === null ? options : `${theirs} ${options}`,
  };
}
