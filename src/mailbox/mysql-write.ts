/** Statements that write the inbound table: marks, and inserts for the compat entry, `send` and the simulator. */
import { msgId, type MsgId } from '../domain/ids.ts';
import type { Integer, Statements } from './mysql-connection.ts';
import { isDeadlock } from './mysql-errors.ts';
import type { Inbound } from './mysql-names.ts';
import { inTransaction, type MysqlSession } from './mysql-session.ts';
import type { MarkResult, OpenInsert } from './port.ts';

/**
 * Sets marks where they are NULL, by the mailbox's own clock, then asks what became of the rest. Autocommit
 * statements: a mark once there is never overwritten, so their order cannot matter.
 */
export async function mark(
  on: Statements,
  inbound: Inbound,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, MarkResult>> {
  const results = new Map<bigint, MarkResult>();
  // Ascending, so that two who mark the same rows wait for each other instead of deadlocking.
  let rest = [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1));
  // A row that appeared between the two statements is there and unmarked: it gets its mark in a second turn.
  for (let turn = 0; turn < 2 && rest.length > 0; turn++) {
    for (const id of await setMarks(on, inbound, rest)) results.set(id, 'marked');
    rest = rest.filter((wanted) => !results.has(wanted));
    if (rest.length === 0) break;
    const there = await on.select<{ id: Integer; marked: Integer }>(
      `select ${inbound.id.quoted} as id, ${inbound.processed.quoted} is not null as marked
       from ${inbound.table.quoted} where ${inbound.id.quoted} in (?)`,
      [rest],
    );
    const found = new Map(there.map((row) => [BigInt(row.id), Number(row.marked) !== 0]));
    for (const wanted of rest) {
      const isMarked = found.get(wanted);
      if (isMarked === undefined) results.set(wanted, 'missing');
      else if (isMarked) results.set(wanted, 'already-marked');
    }
    rest = rest.filter((wanted) => !results.has(wanted));
  }
  const [refused] = rest;
  if (refused !== undefined) throw new Error(`row ${refused.toString()} does not take its mark`);
  return results;
}

/** Tries of a statement that others' deadlocks undo. */
const DEADLOCK_TRIES = 3;

/**
 * One UPDATE; gives the IDs it marked. Neither server tells them (no RETURNING for UPDATE), and asking under a
 * lock would hold rows over a round trip: the statement itself notes them in a variable of the session.
 */
async function setMarks(
  on: Statements,
  { table, id, processed }: Inbound,
  wanted: readonly bigint[],
): Promise<readonly bigint[]> {
  for (let attempt = 1; ; attempt++) {
    await on.write('set @msgx_marked = null');
    try {
      const { rows } = await on.write(
        `update ${table.quoted} set ${processed.quoted} =
           if(length(@msgx_marked := concat_ws(',', @msgx_marked, ${id.quoted})) > 0, current_timestamp, null)
         where ${id.quoted} in (?) and ${processed.quoted} is null`,
        [wanted],
      );
      if (rows === wanted.length) return wanted;
      if (rows === 0) return [];
    } catch (error) {
      if (isDeadlock(error) && attempt < DEADLOCK_TRIES) continue;
      throw error;
    }
    const [noted] = await on.select<{ marked: string | null }>('select cast(@msgx_marked as char) as marked');
    return (noted?.marked ?? '').split(',').filter(Boolean).map(BigInt);
  }
}

/** Inserts one row and gives its ID; throws where the table gave none, which the caller must roll back. */
export async function insert(on: Statements, inbound: Inbound, text: string): Promise<MsgId> {
  const { text: column, received, status } = inbound;
  // As the upstream does: the time of receipt and status VALID where the table has these columns.
  const values = [
    [column.quoted, '?'],
    ...(received === null ? [] : [[received.quoted, 'current_timestamp(6)']]),
    ...(status === null ? [] : [[status.quoted, "'VALID'"]]),
  ];
  const { id } = await on.write(
    `insert into ${inbound.table.quoted} (${values.map(([name]) => name).join(', ')})
     values (${values.map(([, value]) => value).join(', ')})`,
    [text],
  );
  if (id <= 0n) {
    throw new Error(`table ${inbound.table.quoted} gives no ID: ${inbound.id.name} is not AUTO_INCREMENT`);
  }
  return msgId(id);
}

/** One row and its commit; in a transaction where the table may give no ID and must then keep no row. */
export async function insertOne(on: Statements, inbound: Inbound, text: string): Promise<MsgId> {
  if (inbound.id.autoIncrement) return insert(on, inbound, text);
  return inTransaction(on, () => insert(on, inbound, text));
}

/**
 * Row by row in one transaction: of a statement with many rows the server tells the first ID only, and the
 * others follow it evenly only under some settings of AUTO_INCREMENT.
 */
export async function insertAll(
  on: Statements,
  inbound: Inbound,
  texts: readonly string[],
): Promise<MsgId[]> {
  return inTransaction(on, async () => {
    const ids: MsgId[] = [];
    for (const text of texts) ids.push(await insert(on, inbound, text));
    return ids;
  });
}

/** An insert left open on a connection of its own, which ends with it. */
export async function openInsert(session: MysqlSession, inbound: Inbound, text: string): Promise<OpenInsert> {
  const connection = await session.connect();
  const finish = async (how: 'commit' | 'rollback') => {
    try {
      await connection.write(how);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    await connection.end();
  };
  try {
    await connection.write('start transaction');
    const id = await insert(connection, inbound, text);
    return { id, commit: () => finish('commit'), rollback: () => finish('rollback') };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}
