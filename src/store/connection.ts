/** Statements on one connection to our own database. They throw Outage where it is not available, else the driver's DatabaseError. */
import pg from 'pg';
import { Outage } from '../runtime/outage.ts';
import { translateDriverError } from '../runtime/postgres.ts';
import type { Statement } from './statement.ts';

/** Runs unprepared text without parameters: begin, commit, rollback. */
export async function control(
  client: pg.PoolClient,
  text: string,
  deadlineMs?: number,
): Promise<pg.QueryResult[]> {
  try {
    // A deadline of one statement is missing in the driver's types.
    const query: pg.QueryConfig & { readonly query_timeout?: number } =
      deadlineMs === undefined ? { text } : { text, query_timeout: deadlineMs };
    const results: unknown = await client.query(query);
    return (Array.isArray(results) ? results : [results]) as pg.QueryResult[];
  } catch (error) {
    throw translate(error);
  }
}

/** Runs a statement and gives its rows. */
export async function run<T>(
  client: pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<T[]> {
  return (await query(client, statement, values)).rows as T[];
}

/** Runs a statement; it is prepared once per connection. */
export async function query(
  client: pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<pg.QueryResult> {
  try {
    return await client.query({ name: statement.name, text: statement.text, values: [...values] });
  } catch (error) {
    throw translate(error);
  }
}

/**
 * What the driver threw, as our own database's. A privilege that our role lacks (42501) is an outage too: everything has to
 * wait for a grant, and no message or event may be charged for it.
 */
export function translate(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.code === '42501') return new Outage('database', error);
  return translateDriverError('database', error);
}
