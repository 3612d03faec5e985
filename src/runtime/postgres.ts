/** What every connection to a PostgreSQL shares, our own and a mailbox: value parsers and the reading of errors. */
import pg from 'pg';
import { Outage, isOutageSqlState, type Dependency } from './outage.ts';

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
  // wrong parameter, a fault of ours.
  return error instanceof TypeError ? error : new Outage(dependency, error);
}
