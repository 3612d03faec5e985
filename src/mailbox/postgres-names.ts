/**
 * Finds the mailbox's tables and columns as they are really called. Names in configuration and dialect are
 * upper case, PostgreSQL folds unquoted ones to lower case: an exact match wins, else case does not matter.
 */
import pg from 'pg';
import type { MailboxNames } from '../dialect/port.ts';
import { Outage } from '../runtime/outage.ts';
import type { Run } from './postgres-session.ts';

/** The channel on which inserts are announced (docs/deploy.md, "Wake-ups from the mailbox"). */
export const CHANNEL = 'msgx_mailbox';

/** A column as found. */
export interface FoundColumn {
  readonly name: string;
  readonly quoted: string;
  /** As format_type gives it, e.g. `bigint`, `timestamp with time zone`. */
  readonly type: string;
}

/** A table as found. */
export interface FoundTable {
  /** Schema-qualified and quoted. */
  readonly quoted: string;
  readonly schema: string;
  /** pg_class.relkind: r table, p partitioned, v view, f foreign, m materialised. */
  readonly kind: string;
  column(name: string): FoundColumn | null;
}

interface Row {
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
  readonly column: string;
  readonly type: string;
}

/** Tables of the search path, or of the schema that a dotted name gives, with their columns. */
const FIND = `
  select n.nspname as schema, c.relname as table, c.relkind as kind, a.attname as column,
    format_type(a.atttypid, a.atttypmod) as type
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where lower(c.relname) = lower($1) and c.relkind in ('r', 'p', 'v', 'f', 'm')
    and case when $2::text is null then n.nspname = any (current_schemas(false)) else lower(n.nspname) = lower($2) end
  order by (c.relname = $1) desc, (n.nspname = $2) desc nulls last,
    array_position(current_schemas(false), n.nspname), n.nspname, c.relname, a.attnum`;

/** Finds a table by name or `schema.name`; null where there is none in sight. */
export async function findTable(run: Run, name: string): Promise<FoundTable | null> {
  const dot = name.indexOf('.');
  const rows = await run<Row>(FIND, dot < 0 ? [name, null] : [name.slice(dot + 1), name.slice(0, dot)]);
  const [first] = rows;
  if (first === undefined) return null;
  const columns = rows
    .filter((row) => row.schema === first.schema && row.table === first.table)
    .map(({ column, type }) => ({ name: column, quoted: pg.escapeIdentifier(column), type }));
  return {
    quoted: `${pg.escapeIdentifier(first.schema)}.${pg.escapeIdentifier(first.table)}`,
    schema: first.schema,
    kind: first.kind,
    column: (wanted) =>
      columns.find((column) => column.name === wanted) ??
      columns.find((column) => column.name.toLowerCase() === wanted.toLowerCase()) ??
      null,
  };
}

/** The inbound table with the columns that statements need; received and status may be absent. */
export interface Inbound {
  readonly table: FoundTable;
  readonly id: FoundColumn;
  readonly text: FoundColumn;
  readonly processed: FoundColumn;
  readonly received: FoundColumn | null;
  readonly status: FoundColumn | null;
  /** Whether the database stores UTF-8, so that octet_length counts UTF-8 bytes without reading the text. */
  readonly utf8: boolean;
}

/**
 * A table or column that the configuration names is not there. Like an outage it is nobody's message's fault:
 * stations wait until the name is right or the table is there.
 */
export class MailboxNameMissing extends Outage {
  constructor(what: string) {
    super('mailbox', new Error(what));
  }
}

/** The outbound table; inserted and routing may be absent. */
export interface OutboundTable {
  readonly table: FoundTable;
  readonly id: FoundColumn;
  readonly text: FoundColumn;
  readonly inserted: FoundColumn | null;
  readonly routing: FoundColumn | null;
}

/** Finds the inbound table. Throws MailboxNameMissing with the configuration key where something is missing. */
export async function findInbound(run: Run, names: MailboxNames['inbound']): Promise<Inbound> {
  const table = await tableOf(run, 'inbound', names.table);
  const [server] = await run<{ encoding: string }>("select current_setting('server_encoding') as encoding");
  return {
    table,
    id: columnOf(table, 'inbound', 'id', names.id),
    text: columnOf(table, 'inbound', 'text', names.text),
    processed: columnOf(table, 'inbound', 'processed', names.processed),
    received: table.column(names.received),
    status: table.column(names.status),
    // SQL_ASCII stores bytes as they came; converting them would check nothing.
    utf8: server?.encoding === 'UTF8' || server?.encoding === 'SQL_ASCII',
  };
}

/** Finds the outbound table. Throws like {@link findInbound}. */
export async function findOutbound(run: Run, names: MailboxNames['outbound']): Promise<OutboundTable> {
  const table = await tableOf(run, 'outbound', names.table);
  return {
    table,
    id: columnOf(table, 'outbound', 'id', names.id),
    text: columnOf(table, 'outbound', 'text', names.text),
    inserted: table.column(names.inserted),
    routing: table.column(names.routing),
  };
}

async function tableOf(run: Run, key: string, name: string): Promise<FoundTable> {
  const table = await findTable(run, name);
  if (table !== null) return table;
  throw new MailboxNameMissing(
    `the mailbox has no table ${name}, or this user may not see its schema (msgx.mailbox.tables.${key}.table)`,
  );
}

function columnOf(table: FoundTable, key: string, column: string, name: string): FoundColumn {
  const found = table.column(name);
  if (found !== null) return found;
  throw new MailboxNameMissing(
    `table ${table.quoted} has no column ${name} (msgx.mailbox.tables.${key}.${column})`,
  );
}
