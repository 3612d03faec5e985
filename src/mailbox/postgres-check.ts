/** What `msgx check` says about a mailbox in PostgreSQL: reachable, tables, columns, index, grants. */
import type { MailboxNames } from '../dialect/port.ts';
import { messageOf } from '../runtime/outage.ts';
import type { CheckLine } from './port.ts';
import { findTable, type FoundTable } from './postgres-names.ts';
import type { Run } from './postgres-session.ts';

type Key = 'inbound' | 'outbound';

/** One line each; the first line that fails may be the last. Never throws. */
export async function check(run: Run, names: MailboxNames): Promise<readonly CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    const [server] = await run<{ version: string; encoding: string }>(
      "select current_setting('server_version') as version, current_setting('server_encoding') as encoding",
    );
    const encoding = server?.encoding ?? 'unknown';
    lines.push(line('mailbox', 'ok', `PostgreSQL ${server?.version ?? 'unknown'}`));
    lines.push(
      encoding === 'UTF8'
        ? line('mailbox encoding', 'ok', encoding)
        : line('mailbox encoding', 'warning', `${encoding}: texts that it cannot hold never reach us`),
    );
    await checkTable(
      run,
      lines,
      'inbound',
      names.inbound,
      ['id', 'text', 'processed'],
      ['received', 'status'],
    );
    await checkTable(run, lines, 'outbound', names.outbound, ['id', 'text', 'routing'], ['inserted']);
  } catch (error) {
    lines.push(line('mailbox', 'failed', messageOf(error)));
  }
  return lines;
}

async function checkTable(
  run: Run,
  lines: CheckLine[],
  key: Key,
  names: Readonly<Record<string, string>>,
  required: readonly string[],
  optional: readonly string[],
): Promise<void> {
  const name = names['table'] ?? '';
  const table = await findTable(run, name);
  if (table === null) {
    const hint = `not found: set msgx.mailbox.tables.${key}.table, or grant USAGE on its schema`;
    lines.push(line(`table ${name}`, 'failed', hint));
    return;
  }
  lines.push(line(`table ${name}`, 'ok', table.quoted));
  for (const column of [...required, ...optional]) {
    const wanted = names[column] ?? '';
    const found = table.column(wanted);
    const what = `column ${wanted}`;
    if (found !== null) lines.push(typed(what, column, found.type));
    else if (required.includes(column)) {
      lines.push(line(what, 'failed', `not in ${table.quoted}: set msgx.mailbox.tables.${key}.${column}`));
    } else lines.push(line(what, 'warning', `not in ${table.quoted}: it stays empty`));
  }
  await checkIndex(run, lines, table, names['id'] ?? '');
  await checkGrants(run, lines, table, key, names);
}

function typed(what: string, column: string, type: string): CheckLine {
  if (column === 'id' && !/^(smallint|integer|bigint|numeric)/.test(type)) {
    return line(what, 'failed', `is ${type}: an ID must be an integer`);
  }
  return line(what, 'ok', type);
}

async function checkIndex(run: Run, lines: CheckLine[], table: FoundTable, idName: string): Promise<void> {
  const id = table.column(idName);
  if (id === null) return;
  const [index] = await run<{ present: boolean }>(
    `select exists (
       select 1 from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
       where i.indrelid = to_regclass($1) and a.attname = $2 and i.indisunique and i.indisvalid and i.indpred is null
     ) as present`,
    [table.quoted, id.name],
  );
  lines.push(
    index?.present === true
      ? line(`index on ${idName}`, 'ok', 'unique')
      : line(
          `index on ${idName}`,
          'warning',
          `no unique index begins with ${id.name}: every poll reads the table`,
        ),
  );
}

/** What each privilege is for; a column for UPDATE only. */
async function checkGrants(
  run: Run,
  lines: CheckLine[],
  table: FoundTable,
  key: Key,
  names: Readonly<Record<string, string>>,
): Promise<void> {
  const processed = key === 'inbound' ? table.column(names['processed'] ?? '') : null;
  const [granted] = await run<{ select: boolean; insert: boolean; update: boolean }>(
    `select has_table_privilege($1, 'SELECT') or has_any_column_privilege($1, 'SELECT') as select,
       has_table_privilege($1, 'INSERT') or has_any_column_privilege($1, 'INSERT') as insert,
       $2::text is not null and has_column_privilege($1, coalesce($2, $3), 'UPDATE') as update`,
    [table.quoted, processed?.name ?? null, table.column(names['id'] ?? '')?.name ?? ''],
  );
  const grant = (privilege: 'SELECT' | 'INSERT' | 'UPDATE', has: boolean, purpose: string, needed: boolean) =>
    lines.push(
      has
        ? line(`${privilege} on ${table.quoted}`, 'ok', 'granted')
        : line(
            `${privilege} on ${table.quoted}`,
            needed ? 'failed' : 'warning',
            `not granted: ${purpose}; grant ${privilege.toLowerCase()} on ${table.quoted} to the mailbox user`,
          ),
    );
  if (granted === undefined) return;
  if (key === 'outbound') {
    grant('SELECT', granted.select, 'requests cannot be looked up after a crash', false);
    grant('INSERT', granted.insert, 'nothing can be sent upstream', false);
    return;
  }
  grant('SELECT', granted.select, 'nothing can be read', true);
  if (processed !== null)
    grant('UPDATE', granted.update, 'no mark can be written (shadow mode needs none)', true);
  grant('INSERT', granted.insert, 'POST /cminmsgs/send and msgx send cannot write', false);
}

function line(what: string, result: CheckLine['result'], message: string): CheckLine {
  return { what, result, message };
}
