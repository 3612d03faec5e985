/** Statements with names, and what they run on. */

/** A SQL statement with a name, which is also its prepared name and its label in metrics. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Names a statement. Names are unique in the program. */
export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** Names the parameters of a part of a statement, from 1: `$(1)` may become `$9`. */
export type Placeholder = (place: number) => string;

/** A row as the driver gives it: int8 as BigInt, timestamptz and date as text, json parsed. */
export type Row = Record<string, unknown>;

/** Anything statements run on: the pool or one transaction. */
export interface Queryable {
  /**
   * Runs a statement. Throws Outage where the database is not available, else the driver's DatabaseError. On a
   * transaction, statements that are not waited for one by one run in the order of the calls, with one round trip
   * for all; where one fails, those behind it fail too.
   */
  query<T = Row>(statement: Statement, values?: readonly unknown[]): Promise<T[]>;
}

/** A statement with its values, to be sent. */
export interface Call {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}
