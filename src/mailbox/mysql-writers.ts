/**
 * Who may still fill a hole: transactions of InnoDB that have written or are writing, from
 * information_schema.innodb_trx. It needs PROCESS; without it nobody can be seen, which is said as null.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import type { Integer, Statements } from './mysql-connection.ts';
import { isDenied } from './mysql-errors.ts';
import type { Inbound } from './mysql-names.ts';

/**
 * The server does not say into which table, so writers of its other tables count too: a hole is held rather too
 * long. A transaction that wrote shows rows modified. One within its INSERT, ID assigned and row not yet there, shows
 * a statement that locks; an idle one that only locked what it read does not. Two tokens each: thread and start,
 * which last from the first statement to the end, and the transaction's ID, which it is given with its first
 * write and keeps when it is prepared for XA and its session is gone.
 */
const WRITERS = `
  select cast(trx_id as char) as trx, cast(trx_mysql_thread_id as char) as thread,
    date_format(trx_started, '%Y%m%d%H%i%s') as started,
    trx_rows_modified > 0 or (trx_tables_locked > 0 and trx_tables_in_use > 0) as writing,
    coalesce(locate(?, trx_query), 0) > 0 as ours
  from information_schema.innodb_trx`;

/** The server keeps a copy of that table and renews it only when nobody has read it for 100 ms. */
const RENEWAL_MS = 110;
const TRIES = 5;

interface Row {
  readonly trx: string;
  readonly thread: string;
  readonly started: string;
  readonly writing: Integer;
  readonly ours: Integer;
}

/**
 * Tokens of the writers now. Null without PROCESS; where the inbound table is not InnoDB's, which alone lists its
 * transactions; and where others read the list so often that the server never renews it.
 */
export async function writers(on: Statements, inbound: Inbound): Promise<readonly string[] | null> {
  if (inbound.table.engine?.toLowerCase() !== 'innodb') return null;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (attempt > 0) await pause(RENEWAL_MS);
    const rows = await listed(on);
    if (rows === null) return null;
    // Our own statement stands in the list only where the list was made for this very statement.
    if (!rows.some(({ ours }) => Number(ours) !== 0)) continue;
    return rows
      .filter(({ writing, ours }) => Number(writing) !== 0 && Number(ours) === 0)
      .flatMap(({ trx, thread, started }) => [`x:${trx}`, `c:${thread}:${started}`]);
  }
  return null;
}

/** The list as the server gives it; null where this user may not see it. */
async function listed(on: Statements): Promise<readonly Row[] | null> {
  // A transaction of ours, though it reads nothing, so that the list has a line that tells its age.
  await on.write('start transaction with consistent snapshot');
  try {
    return await on.select<Row>(WRITERS, [`msgx${randomBytes(8).toString('hex')}`]);
  } catch (error) {
    if (isDenied(error)) return null;
    throw error;
  } finally {
    await on.write('rollback').catch(() => undefined);
  }
}
