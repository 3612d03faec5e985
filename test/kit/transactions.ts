/** Comes between a database and the transactions that are begun on it. */
import type { Database } from '../../src/store/database.ts';
import type { OpenTransaction, TransactionOptions } from '../../src/store/transaction.ts';

/** Has each transaction that is begun from now on seen and changed; gives the way back. */
export function interceptTransactions(
  database: Database,
  intercept: (tx: OpenTransaction, options: TransactionOptions) => OpenTransaction,
): () => void {
  const session = database.session.bind(database);
  database.session = (work) =>
    session((real) => work({ begin: (options) => intercept(real.begin(options), options) }));
  return () => {
    database.session = session;
  };
}
