/** The transactions of the stations in our database, to lose the answer to their commit (`loseAnswer` of the proxy). */

/** The statement by which each transaction is known, whose it is, and the answer that says that it is committed. */
export const TRANSACTIONS = [
  [['enqueue.insert', 'commit'], 'inbox', 'COMMIT'],
  // A transaction of its own in one statement.
  [['identity.bind'], 'pump', 'SELECT'],
  [['batch.write', 'commit'], 'pump', 'COMMIT'],
  [['msgEvent.sent', 'commit'], 'delivery', 'COMMIT'],
  [['schdEvent.sent', 'commit'], 'delivery', 'COMMIT'],
  [['owedMark.confirm', 'commit'], 'backfill', 'COMMIT'],
] as const;
