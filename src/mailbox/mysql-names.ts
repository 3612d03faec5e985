/**
 * Finds the mailbox's tables and columns as they are really called: an exact match wins, else case does not
 * matter. Only what the user has a privilege on is in sight.
 */
import type { MailboxNames } from '../dialect/port.ts';
import { Outage } from '../runtime/outage.ts';
import type { Statements } from './mysql-connection.ts';

/** A column as found. */
export interface FoundColumn {
  readonly name: string;
  readonly quoted: string;
  /** Without length or sign, e.g. `bigint`, `longtext`, `datetime`. */
  readonly type: string;
  /** As `show columns` prints it, e.g. `bigint(20) unsigned`. */
  readonly fullType: string;
  /** Of a text column; null for any other. */
  readonly charset: string | null;
  readonly nullable: boolean;
  readonly autoIncrement: boolean;
}

/** A table as found. */
export interface FoundTable {
  readonly schema: string;
  readonly name: string;
  /** With its schema, quoted. */
  readonly quoted: string;
  /** Storage engine; null for a view. */
  readonly engine: string | null;
  column(name: string): FoundColumn | null;
}

interface Row {
  readonly engine: string | null;
  readonly name: string;
  readonly type: string;
  readonly full_type: string;
  readonly charset: string | null;
  readonly nullable: string;
  readonly extra: string;
}

/** Names only, which the server knows without opening a table; `binary` compares exactly. */
const FIND = `
  select table_schema as table_schema, table_name as table_name from information_schema.tables
  where lower(table_name) = lower(?) and lower(table_schema) = lower(coalesce(?, database()))
  order by (binary table_name = binary ?) desc, (binary table_schema = binary coalesce(?, database())) desc,
    table_schema, table_name
  limit 1`;

const COLUMNS = `
  select t.engine as engine, c.column_name as name, c.data_type as type, c.column_type as full_type,
    c.character_set_name as charset, c.is_nullable as nullable, c.extra as extra
  from information_schema.tables t
  join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
  where t.table_schema = ? and t.table_name = ? and c.table_schema = ? and c.table_name = ?
  order by c.ordinal_position`;

/** Finds a table by name, or by `schema.name`; null where there is none in sight. */
export async function findTable(on: Statements, wanted: string): Promise<FoundTable | null> {
  const dot = wanted.indexOf('.');
  const [schema, name] = dot < 0 ? [null, wanted] : [wanted.slice(0, dot), wanted.slice(dot + 1)];
  const [found] = await on.select<{ table_schema: string; table_name: string }>(FIND, [
    name,
    schema,
    name,
    schema,
  ]);
  if (found === undefined) return null;
  const place = [found.table_schema, found.table_name];
  const rows = await on.select<Row>(COLUMNS, [...place, ...place]);
  const columns = rows.map(toColumn);
  return {
    schema: found.table_schema,
    name: found.table_name,
    quoted: `${quote(found.table_schema)}.${quote(found.table_name)}`,
    engine: rows[0]?.engine ?? null,
    column: (column) =>
      columns.find((each) => each.name === column) ??
      columns.find((each) => each.name.toLowerCase() === column.toLowerCase()) ??
      null,
  };
}

function toColumn(row: Row): FoundColumn {
  return {
    name: row.name,
    quoted: quote(row.name),
    type: row.type.toLowerCase(),
    fullType: row.full_type,
    charset: row.charset,
    nullable: row.nullable === 'YES',
    autoIncrement: row.extra.toLowerCase().includes('auto_increment'),
  };
}

/** Quotes one name. */
export function quote(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** The inbound table with the columns that statements need; received and status may be absent. */
export interface Inbound {
  readonly table: FoundTable;
  readonly id: FoundColumn;
  readonly text: FoundColumn;
  readonly processed: FoundColumn;
  readonly received: FoundColumn | null;
  readonly status: FoundColumn | null;
}

/**
 * A table or column that the configuration names is not there, or not of a type that can serve. Like an outage it
 * is nobody's message's fault: stations wait until the name is right or the table is there.
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
export async function findInbound(on: Statements, names: MailboxNames['inbound']): Promise<Inbound> {
  const table = await tableOf(on, 'inbound', names.table);
  return {
    table,
    id: columnOf(table, 'inbound', 'id', names.id),
    text: columnOf(table, 'inbound', 'text', names.text),
    processed: columnOf(table, 'inbound', 'processed', names.processed),
    received: table.column(names.received),
    status: table.column(names.status),
  };
}

/** Finds the outbound table. Throws like {@link findInbound}. */
export async function findOutbound(on: Statements, names: MailboxNames['outbound']): Promise<OutboundTable> {
  const table = await tableOf(on, 'outbound', names.table);
  return {
    table,
    id: columnOf(table, 'outbound', 'id', names.id),
    text: columnOf(table, 'outbound', 'text', names.text),
    inserted: table.column(names.inserted),
    routing: table.column(names.routing),
  };
}

async function tableOf(on: Statements, key: string, name: string): Promise<FoundTable> {
  const table = await findTable(on, name);
  if (table !== null) return table;
  throw new MailboxNameMissing(
    `the mailbox has no table ${name}, or this user has no privilege on it (msgx.mailbox.tables.${key}.table)`,
  );
}

function columnOf(
  table: FoundTable,
  key: string,
  column: 'id' | 'text' | 'processed',
  name: string,
): FoundColumn {
  const found = table.column(name);
  if (found === null) {
    throw new MailboxNameMissing(
      `table ${table.quoted} has no column ${name}, or this user has no privilege on it (msgx.mailbox.tables.${key}.${column})`,
    );
  }
  const fault = column === 'processed' ? null : typeFault(column, found);
  if (fault !== null) {
    throw new MailboxNameMissing(
      `table ${table.quoted}, column ${found.name} ${fault} (msgx.mailbox.tables.${key}.${column})`,
    );
  }
  return found;
}

/** Why a column cannot serve; null where it can. */
export function typeFault(key: 'id' | 'text', column: FoundColumn): string | null {
  if (key === 'id') {
    const integer = /^((tiny|small|medium|big)?int|decimal\(\d+,0\))/.test(column.fullType.toLowerCase());
    return integer ? null : `is ${column.fullType}: an ID must be an integer`;
  }
  // Bytes without a charset would be read as UTF-8 whatever they are.
  return column.charset === null ? `is ${column.fullType}: a text must have a charset` : null;
}
