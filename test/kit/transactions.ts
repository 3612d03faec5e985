/** Comes between a database and the transactions that are begun on it. */
import type { Database } from '../../src/store/database.ts';
import type { Queryable } from '../../src/store/statement.ts';
import type { OpenTransaction, TransactionOptions } from '../../src/store/transaction.ts';

/**
 * Has each transaction that is begun from now on seen and changed, and what is asked between them on the same session;
 * gives the way back.
 */
export function interceptTransactions(
  database: Database,
  intercept: (tx: OpenTransaction, options: TransactionOptions) => OpenTransaction,
  between: (query: Queryable['query']) => Queryable['query'] = (query) => query,
): () => void {
  const session = database.session.bind(database);
  database.session = (work) =>
    session((real) =>
      work({
        begin: (options) => intercept(real.begin(options), options),
        query: between((statement, values) => real.query(statement, values)),
      }),
    );
  return () => {
    database.session = session;
  };
}
