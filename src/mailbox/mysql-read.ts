/** Statements that read the inbound table: all by its primary key, none takes a lock on rows. */
import { msgId } from '../domain/ids.ts';
import type { Integer, Statements } from './mysql-connection.ts';
import type { Inbound } from './mysql-names.ts';
import type { IdRange, LookAhead, Mailbox, MailboxRow } from './port.ts';

interface RawRow {
  readonly id: Integer;
  readonly bytes: Integer | null;
  readonly received: Integer | null;
  readonly marked: Integer;
}

/** Charsets whose length in bytes is that of the text in UTF-8. */
const UTF8_CHARSETS = new Set(['utf8mb4', 'utf8mb3', 'utf8', 'ascii']);

/** Columns of a MailboxRow. */
function columns({ id, text, processed, received }: Inbound): string {
  const utf8 = UTF8_CHARSETS.has(text.charset ?? '') ? text.quoted : `convert(${text.quoted} using utf8mb4)`;
  return `${id.quoted} as id, octet_length(${utf8}) as bytes, ${receivedOf(received)} as received,
    ${processed.quoted} is not null as marked`;
}

/**
 * The time of receipt in seconds since 1970, with its fraction: the server knows the zone of its own times.
 * For people: what lies outside the range of that function is NULL.
 */
function receivedOf(column: Inbound['received']): string {
  if (column === null || !/^(date|datetime|timestamp)$/.test(column.type)) return 'null';
  return `case when ${column.quoted} between '1970-01-03' and '2038-01-17' then unix_timestamp(${column.quoted}) end`;
}

function toRow({ id, bytes, received, marked }: RawRow): MailboxRow {
  return {
    id: toId(id),
    bytes: bytes === null ? null : Number(bytes),
    receivedAt: received === null ? null : toIso(String(received)),
    marked: Number(marked) !== 0,
  };
}

/** `1773450123.500000` as ISO 8601 in UTC, with six digits of fraction. */
function toIso(seconds: string): string {
  const [whole = '', fraction = ''] = seconds.split('.');
  const instant = new Date(Number(whole) * 1_000).toISOString();
  return `${instant.slice(0, 19)}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
}

function toId(value: Integer): ReturnType<typeof msgId> {
  return msgId(String(value));
}

export async function rowsAfter(
  on: Statements,
  inbound: Inbound,
  after: bigint,
  limit: number,
): Promise<readonly MailboxRow[]> {
  const id = inbound.id.quoted;
  const rows = await on.select<RawRow>(
    `select ${columns(inbound)} from ${inbound.table.quoted} where ${id} > ? order by ${id} limit ?`,
    [after, limit],
  );
  return rows.map(toRow);
}

/**
 * Gaps, maximum and count in one statement, so that all speak of the same moment: the rows that follow a gap,
 * and the last row in any case. Window functions need MariaDB 10.2 or MySQL 8.
 */
export async function lookAhead(
  on: Statements,
  inbound: Inbound,
  after: bigint,
  limit: number,
): Promise<LookAhead> {
  const id = inbound.id.quoted;
  const rows = await on.select<{ id: Integer; low: Integer; place: Integer }>(
    `select id, low, place from (
       select id, coalesce(lag(id) over (order by id), ?) + 1 as low, row_number() over (order by id) as place,
         lead(id) over (order by id) as following
       from (select ${id} as id from ${inbound.table.quoted} where ${id} > ? order by ${id} limit ?) page
     ) seen
     where id > low or following is null
     order by id`,
    [after, after, limit],
  );
  const last = rows.at(-1);
  if (last === undefined) return { gaps: [], through: null, rows: 0 };
  const gaps = rows.flatMap((row): IdRange[] => {
    const [low, next] = [toId(row.low), toId(row.id)];
    return next > low ? [{ from: low, to: msgId(next - 1n) }] : [];
  });
  return { gaps, through: toId(last.id), rows: Number(last.place) };
}

/** Ranges per statement of {@link rowsIn}: the server reads each as a range of the primary key. */
const CHUNK_RANGES = 500;

export async function rowsIn(
  on: Statements,
  inbound: Inbound,
  wanted: readonly IdRange[],
  limit: number | null,
): Promise<readonly MailboxRow[]> {
  const id = inbound.id.quoted;
  // In ascending chunks, so that the first rows found are the smallest and the limit may stop the rest.
  const ranges = [...wanted].sort((a, b) => (a.from < b.from ? -1 : 1));
  const rows: MailboxRow[] = [];
  for (let from = 0; from < ranges.length; from += CHUNK_RANGES) {
    const left = limit === null ? null : limit - rows.length;
    if (left !== null && left <= 0) break;
    const chunk = ranges.slice(from, from + CHUNK_RANGES);
    const found = await on.select<RawRow>(
      `select ${columns(inbound)} from ${inbound.table.quoted}
       where ${chunk.map(() => `${id} between ? and ?`).join(' or ')}
       order by ${id}${left === null ? '' : ' limit ?'}`,
      [...chunk.flatMap((range) => [range.from, range.to]), ...(left === null ? [] : [left])],
    );
    for (const row of found) rows.push(toRow(row));
  }
  return rows;
}

export async function texts(
  on: Statements,
  inbound: Inbound,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await on.select<{ id: Integer; text: string | null }>(
    `select ${inbound.id.quoted} as id, ${inbound.text.quoted} as text
     from ${inbound.table.quoted} where ${inbound.id.quoted} in (?)`,
    [[...ids]],
  );
  return new Map(rows.map(({ id, text }) => [toId(id), text]));
}

export async function bounds(on: Statements, inbound: Inbound): ReturnType<Mailbox['bounds']> {
  const id = inbound.id.quoted;
  // IDs below 1 are not the sequence's; the watermark starts at 0 and never sees them.
  const [found] = await on.select<{ min: Integer | null; max: Integer | null }>(
    `select min(${id}) as min, max(${id}) as max from ${inbound.table.quoted} where ${id} > 0`,
  );
  return found?.min == null || found.max === null ? null : { min: toId(found.min), max: toId(found.max) };
}

/** IDs a page of {@link gapsUpTo} looks over. */
const PAGE = 100_000;

export async function gapsUpTo(on: Statements, inbound: Inbound, upTo: bigint): Promise<readonly IdRange[]> {
  const ends = await bounds(on, inbound);
  if (ends === null || ends.min >= upTo) return [];
  const gaps: IdRange[] = [];
  for (let after: bigint = ends.min; after < upTo;) {
    const page = await lookAhead(on, inbound, after, PAGE);
    for (const { from, to } of page.gaps) {
      if (from <= upTo) gaps.push({ from, to: to < upTo ? to : msgId(upTo) });
    }
    if (page.through === null) break;
    after = page.through;
  }
  return gaps;
}
