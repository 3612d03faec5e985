/** The outbound table under its named lock: look-ups and inserts of requests and error reports. */
import { createHash } from 'node:crypto';
import { Outage } from '../runtime/outage.ts';
import type { Integer, Statements } from './mysql-connection.ts';
import { MailboxNameMissing, type OutboundTable } from './mysql-names.ts';
import type { Outbound } from './port.ts';

/**
 * Works in one transaction of a session that holds a lock by GET_LOCK. The session releases it after the commit; one
 * whose client has gone away finishes its statement first, and then the lock ends with it.
 */
export async function withOutbound<T>(
  on: Statements,
  table: OutboundTable,
  timeoutMs: number,
  work: (outbound: Outbound) => Promise<T>,
): Promise<T> {
  // Locks are of the whole server and their names short: a hash of the table's stands for it.
  const place = createHash('sha256').update(table.table.quoted).digest('hex').slice(0, 32);
  const lock = `msgx outbound ${place}`;
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1_000));
  const [got] = await on.select<{ held: Integer | null }>('select get_lock(?, ?) as held', [lock, seconds]);
  if (Number(got?.held ?? 0) !== 1) {
    throw new Outage('mailbox', new Error('another session holds the lock of the outbound table'));
  }
  try {
    await on.write('start transaction');
    const result = await work(outboundOn(on, table));
    await on.write('commit');
    return result;
  } catch (error) {
    // Also after an outage of something else: this connection is used again, and must not keep the insert.
    await on.write('rollback').catch(() => undefined);
    throw error;
  } finally {
    // On a connection that has failed the server releases it with the session.
    await on.select('select release_lock(?)', [lock]).catch(() => undefined);
  }
}

function outboundOn(on: Statements, { table, id, text, inserted, routing }: OutboundTable): Outbound {
  return {
    async highest() {
      const [row] = await on.select<{ highest: Integer | null }>(
        `select max(${id.quoted}) as highest from ${table.quoted}`,
      );
      return BigInt(row?.highest ?? 0);
    },
    async rowsAfter(after, limit) {
      const rows = await on.select<{ id: Integer; text: string | null }>(
        `select ${id.quoted} as id, ${text.quoted} as text
         from ${table.quoted} where ${id.quoted} > ? order by ${id.quoted} limit ?`,
        [after, limit],
      );
      return rows.map((row) => ({ id: BigInt(row.id), text: row.text }));
    },
    async insert(message, route) {
      if (route !== null && routing === null) {
        throw new MailboxNameMissing(
          `table ${table.quoted} has no column for the route (msgx.mailbox.tables.outbound.routing)`,
        );
      }
      const values = [
        [text.quoted, '?'],
        ...(inserted === null ? [] : [[inserted.quoted, 'current_timestamp(6)']]),
        ...(routing === null || route === null ? [] : [[routing.quoted, '?']]),
      ];
      const { id: given } = await on.write(
        `insert into ${table.quoted} (${values.map(([name]) => name).join(', ')})
         values (${values.map(([, value]) => value).join(', ')})`,
        route === null ? [message] : [message, route],
      );
      if (given <= 0n) {
        throw new Error(`table ${table.quoted} gives no ID: ${id.name} is not AUTO_INCREMENT`);
      }
      return given;
    },
  };
}
