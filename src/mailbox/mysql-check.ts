/** What `msgx check` says about a mailbox in MySQL or MariaDB: version, tables, columns, index, grants. */
import type { MailboxNames } from '../dialect/port.ts';
import { messageOf } from '../runtime/outage.ts';
import { isMariaDb, type Integer, type Statements } from './mysql-connection.ts';
import { isDenied } from './mysql-errors.ts';
import { findTable, typeFault, type FoundColumn, type FoundTable } from './mysql-names.ts';
import type { CheckLine } from './port.ts';

type Key = 'inbound' | 'outbound';

/** Charsets that hold every character. */
const WHOLE_CHARSETS = new Set(['utf8mb4', 'gb18030', 'utf16', 'utf32']);

/** One line each; the first line that fails may be the last. Never throws. */
export async function check(
  use: <T>(work: (on: Statements) => Promise<T>) => Promise<T>,
  names: MailboxNames,
): Promise<readonly CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    await use(async (on) => {
      await checkServer(on, lines);
      await checkTable(
        on,
        lines,
        'inbound',
        names.inbound,
        ['id', 'text', 'processed'],
        ['received', 'status'],
      );
      await checkTable(on, lines, 'outbound', names.outbound, ['id', 'text', 'routing'], ['inserted']);
    });
  } catch (error) {
    lines.push(line('mailbox', 'failed', messageOf(error)));
  }
  return lines;
}

async function checkServer(on: Statements, lines: CheckLine[]): Promise<void> {
  const [server] = await on.select<{ version: string; logged: Integer; format: string }>(
    'select version() as version, @@global.log_bin as logged, @@session.binlog_format as format',
  );
  const version = server?.version ?? 'unknown';
  const product = isMariaDb(version) ? 'MariaDB' : 'MySQL';
  // A proxy or an old replica may write 5.5.5- before MariaDB's own version.
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(version.replace(/^5\.5\.5-/, '')) ?? [];
  const [least, old] =
    product === 'MariaDB'
      ? ['10.2', Number(major) * 100 + Number(minor) < 1_002]
      : ['8.0', Number(major) < 8];
  lines.push(
    old
      ? line('mailbox', 'failed', `${product} ${version}: at least ${least} is needed (window functions)`)
      : line('mailbox', 'ok', `${product} ${version}`),
  );
  if (Number(server?.logged) === 1 && server?.format.toUpperCase() === 'STATEMENT') {
    const hint = 'is STATEMENT: the server refuses marks and inserts under READ COMMITTED; set MIXED or ROW';
    lines.push(line('binlog_format', 'failed', hint));
  }
}

async function checkTable(
  on: Statements,
  lines: CheckLine[],
  key: Key,
  names: Readonly<Record<string, string>>,
  required: readonly string[],
  optional: readonly string[],
): Promise<void> {
  const name = names['table'] ?? '';
  const table = await findTable(on, name);
  if (table === null) {
    const hint = `not found: set msgx.mailbox.tables.${key}.table, or grant this user what it needs on it`;
    lines.push(line(`table ${name}`, 'failed', hint));
    return;
  }
  lines.push(
    table.engine?.toLowerCase() === 'innodb'
      ? line(`table ${name}`, 'ok', table.quoted)
      : line(`table ${name}`, 'warning', `${table.quoted} is ${table.engine ?? 'a view'}, not InnoDB`),
  );
  for (const column of [...required, ...optional]) {
    const wanted = names[column] ?? '';
    const found = table.column(wanted);
    const what = `column ${wanted}`;
    if (found !== null) lines.push(typed(what, column, found));
    else if (required.includes(column)) {
      const hint = `not in ${table.quoted}: set msgx.mailbox.tables.${key}.${column}, or grant SELECT on it`;
      lines.push(line(what, 'failed', hint));
    } else lines.push(line(what, 'warning', `not in ${table.quoted}: it stays empty`));
  }
  await checkIndex(on, lines, table, names['id'] ?? '');
  await checkGrants(on, lines, table, key, names);
  if (key === 'inbound') lines.push(await writersLine(on));
}

function typed(what: string, key: string, column: FoundColumn): CheckLine {
  const fault = key === 'id' || key === 'text' ? typeFault(key, column) : null;
  if (fault !== null) return line(what, 'failed', fault);
  if (key === 'processed' && !column.nullable) {
    return line(what, 'failed', `is ${column.fullType} NOT NULL: the mark must be NULL until we set it`);
  }
  if (key === 'id' && !column.autoIncrement) {
    return line(what, 'warning', `is ${column.fullType} without AUTO_INCREMENT: nothing can be inserted`);
  }
  if (key === 'text' && !WHOLE_CHARSETS.has(column.charset ?? '')) {
    const charset = column.charset ?? 'unknown';
    return line(what, 'warning', `${charset}: characters that it lacks never reach us`);
  }
  return line(what, 'ok', column.fullType);
}

async function checkIndex(
  on: Statements,
  lines: CheckLine[],
  table: FoundTable,
  idName: string,
): Promise<void> {
  const id = table.column(idName);
  if (id === null) return;
  const [index] = await on.select<{ found: Integer }>(
    `select count(*) as found from information_schema.statistics
     where table_schema = ? and table_name = ? and column_name = ? and seq_in_index = 1 and non_unique = 0`,
    [table.schema, table.name, id.name],
  );
  lines.push(
    Number(index?.found) > 0
      ? line(`index on ${idName}`, 'ok', 'unique')
      : line(
          `index on ${idName}`,
          'warning',
          `no unique index begins with ${id.name}: every poll reads the table`,
        ),
  );
}

/** What each privilege is for. EXPLAIN asks for the same privileges as its statement and does nothing. */
async function checkGrants(
  on: Statements,
  lines: CheckLine[],
  table: FoundTable,
  key: Key,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  const columns = (keys: readonly string[]) =>
    keys.flatMap((column) => table.column(names[column] ?? '')?.quoted ?? []);
  const grant = async (sql: string, privilege: string, purpose: string, needed: boolean) => {
    const what = `${privilege} on ${table.quoted}`;
    const granted = await allowed(on, `explain ${sql}`);
    lines.push(
      granted
        ? line(what, 'ok', 'granted')
        : line(what, needed ? 'failed' : 'warning', `not granted: ${purpose}; grant it to the mailbox user`),
    );
  };
  const isInbound = key === 'inbound';
  const read = columns(isInbound ? ['id', 'text', 'received', 'processed'] : ['id', 'text']);
  const written = columns(isInbound ? ['text', 'received', 'status'] : ['text', 'inserted', 'routing']);
  const [processed] = isInbound ? columns(['processed']) : [];
  const [id] = columns(['id']);
  if (id === undefined || read.length === 0 || written.length === 0) return;
  await grant(
    `select ${read.join(', ')} from ${table.quoted} where ${id} = 0`,
    'SELECT',
    isInbound ? 'nothing can be read' : 'requests cannot be looked up after a crash',
    isInbound,
  );
  if (processed !== undefined) {
    await grant(
      `update ${table.quoted} set ${processed} = null where ${id} = 0`,
      `UPDATE (${processed})`,
      'no mark can be written (shadow mode needs none)',
      true,
    );
  }
  await grant(
    `insert into ${table.quoted} (${written.join(', ')}) values (${written.map(() => 'null').join(', ')})`,
    'INSERT',
    isInbound ? 'POST /cminmsgs/send and msgx send cannot write' : 'nothing can be sent upstream',
    false,
  );
}

async function writersLine(on: Statements): Promise<CheckLine> {
  return (await allowed(on, 'select 1 from information_schema.innodb_trx limit 1'))
    ? line('PROCESS', 'ok', 'granted: writers that still live are seen')
    : line('PROCESS', 'warning', 'not granted: holes are released by the clock alone, whoever still writes');
}

async function allowed(on: Statements, sql: string): Promise<boolean> {
  try {
    await on.select(sql);
    return true;
  } catch (error) {
    if (isDenied(error)) return false;
    throw error;
  }
}

function line(what: string, result: CheckLine['result'], message: string): CheckLine {
  return { what, result, message };
}
