/** Statements that write the inbound table: marks, and inserts for the compat entry, `send` and the simulator. */
import { msgId, type MsgId } from '../domain/ids.ts';
import type { Inbound } from './postgres-names.ts';
import type { PostgresSession, Run } from './postgres-session.ts';
import type { MarkResult, OpenInsert } from './port.ts';

/**
 * Sets marks where they are NULL, by the mailbox's own clock, then asks what became of the rest. Two
 * autocommit statements: a mark once there is never overwritten, so their order cannot matter.
 */
export async function mark(
  run: Run,
  inbound: Inbound,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, MarkResult>> {
  const results = new Map<bigint, MarkResult>();
  const { table, id, processed } = inbound;
  let rest = [...new Set(ids)];
  // A row that appeared between the two statements is there and unmarked: it gets its mark in a second turn.
  for (let turn = 0; turn < 2 && rest.length > 0; turn++) {
    const marked = await run<{ id: bigint }>(
      `update ${table.quoted} set ${processed.quoted} = current_timestamp
       where ${id.quoted} = any ($1::bigint[]) and ${processed.quoted} is null
       returning ${id.quoted}::bigint as id`,
      [rest],
    );
    for (const row of marked) results.set(row.id, 'marked');
    rest = rest.filter((wanted) => !results.has(wanted));
    if (rest.length === 0) break;
    const there = await run<{ id: bigint; marked: boolean }>(
      `select ${id.quoted}::bigint as id, ${processed.quoted} is not null as marked
       from ${table.quoted} where ${id.quoted} = any ($1::bigint[])`,
      [rest],
    );
    const found = new Map(there.map((row) => [row.id, row.marked]));
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

/** Texts per statement of {@link insertAll}. */
const CHUNK_ROWS = 500;
const CHUNK_BYTES = 8 * 1024 * 1024;

export async function insertAll(run: Run, inbound: Inbound, texts: readonly string[]): Promise<MsgId[]> {
  const ids: MsgId[] = [];
  for (const chunk of chunksOf(texts)) {
    // Sorted before the default of the ID is evaluated, so IDs ascend in the order given.
    const rows = await run<{ id: bigint }>(
      `insert into ${inbound.table.quoted} (${insertColumns(inbound)})
       select ${insertValues(inbound, 'u.text')}
       from unnest($1::text[]) with ordinality as u (text, place) order by u.place
       returning ${inbound.id.quoted}::bigint as id`,
      [chunk],
    );
    ids.push(...rows.map(({ id }) => msgId(id)));
  }
  return ids;
}

function* chunksOf(texts: readonly string[]): Generator<readonly string[]> {
  let chunk: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    if (chunk.length === CHUNK_ROWS || (chunk.length > 0 && bytes + text.length > CHUNK_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(text);
    bytes += text.length;
  }
  if (chunk.length > 0) yield chunk;
}

export async function insert(run: Run, inbound: Inbound, text: string): Promise<MsgId> {
  const [row] = await run<{ id: bigint }>(
    `insert into ${inbound.table.quoted} (${insertColumns(inbound)}) values (${insertValues(inbound, '$1')})
     returning ${inbound.id.quoted}::bigint as id`,
    [text],
  );
  if (row === undefined) throw new Error('the mailbox took the insert without giving an ID');
  return msgId(row.id);
}

/** As the upstream does: the time of receipt and status VALID where the table has these columns. */
function insertColumns({ text, received, status }: Inbound): string {
  return [text, received, status].flatMap((column) => (column === null ? [] : [column.quoted])).join(', ');
}

function insertValues({ received, status }: Inbound, text: string): string {
  return [text, received === null ? null : 'current_timestamp', status === null ? null : "'VALID'"]
    .filter((value) => value !== null)
    .join(', ');
}

/** An insert left open on a connection of its own, which ends with it. */
export async function openInsert(
  session: PostgresSession,
  inbound: Inbound,
  text: string,
): Promise<OpenInsert> {
  const connection = await session.connect();
  const finish = async (how: 'commit' | 'rollback') => {
    try {
      await connection.run(how);
    } catch (error) {
      void connection.end();
      throw error;
    }
    await connection.end();
  };
  try {
    await connection.run('begin');
    const id = await insert(connection.run, inbound, text);
    return { id, commit: () => finish('commit'), rollback: () => finish('rollback') };
  } catch (error) {
    // Not waited for: on a dead connection the goodbye has no end.
    void connection.end();
    throw error;
  }
}
