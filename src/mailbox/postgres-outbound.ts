/** The outbound table under its named lock: look-ups and inserts of requests and error reports. */
import type { MailboxNames } from '../dialect/port.ts';
import { MailboxNameMissing, findOutbound, type OutboundTable } from './postgres-names.ts';
import type { PostgresSession, Run } from './postgres-session.ts';
import type { Outbound } from './port.ts';

/** The server ends a session that holds the lock and says nothing this long, ms: its client may be gone. */
const SILENT_MS = 60_000;

/**
 * Works in one transaction that holds an advisory lock. PostgreSQL releases such a lock when the transaction is
 * over for everybody, so that the next holder sees its rows, also where the client did not wait for the commit.
 */
export async function withOutbound<T>(
  session: PostgresSession,
  names: MailboxNames['outbound'],
  work: (outbound: Outbound) => Promise<T>,
): Promise<T> {
  return session.transaction(async (run) => {
    // Whatever the database's default: a snapshot taken before the lock would not show what it waited for.
    await run('set transaction isolation level read committed');
    await run(`set local idle_in_transaction_session_timeout = ${String(SILENT_MS)}`);
    const table = await findOutbound(run, names);
    await run(`select pg_advisory_xact_lock(hashtext('msgx outbound'), hashtext($1))`, [table.table.quoted]);
    return work(outboundOn(run, table));
  });
}

function outboundOn(run: Run, { table, id, text, inserted, routing }: OutboundTable): Outbound {
  return {
    async highest() {
      const [row] = await run<{ highest: bigint | null }>(
        `select max(${id.quoted})::bigint as highest from ${table.quoted}`,
      );
      return row?.highest ?? 0n;
    },
    async rowsAfter(after, limit) {
      return run<{ id: bigint; text: string | null }>(
        `select ${id.quoted}::bigint as id, ${text.quoted}::text as text
         from ${table.quoted} where ${id.quoted} > $1::bigint order by ${id.quoted} limit $2`,
        [after, limit],
      );
    },
    async insert(message, route) {
      if (route !== null && routing === null) {
        throw new MailboxNameMissing(
          `table ${table.quoted} has no column for the route (msgx.mailbox.tables.outbound.routing)`,
        );
      }
      const values = [
        [text.quoted, '$1'],
        ...(inserted === null ? [] : [[inserted.quoted, 'current_timestamp']]),
        ...(routing === null || route === null ? [] : [[routing.quoted, '$2']]),
      ];
      const [row] = await run<{ id: bigint }>(
        `insert into ${table.quoted} (${values.map(([name]) => name).join(', ')})
         values (${values.map(([, value]) => value).join(', ')}) returning ${id.quoted}::bigint as id`,
        route === null ? [message] : [message, route],
      );
      if (row === undefined) throw new Error('the mailbox took the insert without giving an ID');
      return row.id;
    },
  };
}
