/** Statements that read the inbound table: all by its primary key, none takes a lock on rows. */
import { msgId } from '../domain/ids.ts';
import type { Inbound } from './postgres-names.ts';
import type { Run } from './postgres-session.ts';
import type { IdRange, LookAhead, Mailbox, MailboxRow } from './port.ts';

interface RawRow {
  readonly id: bigint;
  readonly bytes: bigint | null;
  readonly received: string | null;
  readonly marked: boolean;
}

/** Columns of a MailboxRow. Lengths of out-of-line texts are known without fetching them. */
function columns(inbound: Inbound): string {
  const text = `${inbound.text.quoted}::text`;
  const bytes = inbound.utf8 ? `octet_length(${text})` : `octet_length(convert_to(${text}, 'UTF8'))`;
  return `${inbound.id.quoted}::bigint as id, ${bytes}::bigint as bytes, ${received(inbound)} as received,
    ${inbound.processed.quoted} is not null as marked`;
}

/** The receipt time as ISO 8601 UTC; times without zone are in the session's. For people: oddities are NULL. */
function received({ received: column }: Inbound): string {
  if (column === null || !/^(date|timestamp)/.test(column.type)) return 'null::text';
  const instant = `${column.quoted}::timestamptz`;
  return `case when ${column.quoted} between '0001-01-02' and '9999-12-30'
    then to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end`;
}

function toRow({ id, bytes, received: receivedAt, marked }: RawRow): MailboxRow {
  return { id: msgId(id), bytes: bytes === null ? null : Number(bytes), receivedAt, marked };
}

export async function rowsAfter(
  run: Run,
  inbound: Inbound,
  after: bigint,
  limit: number,
): Promise<readonly MailboxRow[]> {
  const id = inbound.id.quoted;
  const rows = await run<RawRow>(
    `select ${columns(inbound)} from ${inbound.table.quoted} where ${id} > $1::bigint order by ${id} limit $2`,
    [after, limit],
  );
  return rows.map(toRow);
}

/** Gaps, maximum and count in one statement, so that all speak of the same moment. */
export async function lookAhead(
  run: Run,
  inbound: Inbound,
  after: bigint,
  limit: number,
): Promise<LookAhead> {
  const id = inbound.id.quoted;
  const [seen] = await run<{ through: bigint | null; rows: bigint; lows: bigint[]; highs: bigint[] }>(
    `select max(id) as through, count(*) as rows,
       coalesce(array_agg(before + 1 order by id) filter (where id > before + 1), '{}')::bigint[] as lows,
       coalesce(array_agg(id - 1 order by id) filter (where id > before + 1), '{}')::bigint[] as highs
     from (
       select id, coalesce(lag(id) over (order by id), $1::bigint) as before
       from (select ${id}::bigint as id from ${inbound.table.quoted} where ${id} > $1::bigint order by ${id} limit $2) page
     ) seen`,
    [after, limit],
  );
  if (seen?.through == null) return { gaps: [], through: null, rows: 0 };
  return { gaps: ranges(seen.lows, seen.highs), through: msgId(seen.through), rows: Number(seen.rows) };
}

function ranges(lows: readonly bigint[], highs: readonly bigint[]): IdRange[] {
  return lows.map((from, index) => ({ from: msgId(from), to: msgId(highs[index] ?? from) }));
}

/** One index range per range given; `lateral` keeps the planner from trying anything else. */
export async function rowsIn(
  run: Run,
  inbound: Inbound,
  wanted: readonly IdRange[],
  limit: number | null,
): Promise<readonly MailboxRow[]> {
  if (wanted.length === 0) return [];
  const id = inbound.id.quoted;
  const rows = await run<RawRow>(
    `select r.* from unnest($1::bigint[], $2::bigint[]) as w (low, high)
     cross join lateral (
       select ${columns(inbound)} from ${inbound.table.quoted}
       where ${id} between w.low and w.high order by ${id} limit $3
     ) r
     order by r.id limit $3`,
    [wanted.map(({ from }) => from), wanted.map(({ to }) => to), limit],
  );
  return rows.map(toRow);
}

export async function texts(
  run: Run,
  inbound: Inbound,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await run<{ id: bigint; text: string | null }>(
    `select ${inbound.id.quoted}::bigint as id, ${inbound.text.quoted}::text as text
     from ${inbound.table.quoted} where ${inbound.id.quoted} = any ($1::bigint[])`,
    [ids],
  );
  return new Map(rows.map(({ id, text }) => [id, text]));
}

export async function bounds(run: Run, inbound: Inbound): ReturnType<Mailbox['bounds']> {
  const id = inbound.id.quoted;
  // IDs below 1 are not the sequence's; the watermark starts at 0 and never sees them.
  const [found] = await run<{ min: bigint | null; max: bigint | null }>(
    `select min(${id})::bigint as min, max(${id})::bigint as max from ${inbound.table.quoted} where ${id} > 0`,
  );
  return found?.min == null || found.max === null ? null : { min: msgId(found.min), max: msgId(found.max) };
}

/** IDs a page of {@link gapsUpTo} looks over. */
const PAGE = 100_000;

export async function gapsUpTo(run: Run, inbound: Inbound, upTo: bigint): Promise<readonly IdRange[]> {
  const ends = await bounds(run, inbound);
  if (ends === null || ends.min >= upTo) return [];
  const gaps: IdRange[] = [];
  for (let after: bigint = ends.min; after < upTo;) {
    const page = await lookAhead(run, inbound, after, PAGE);
    for (const { from, to } of page.gaps) {
      if (from <= upTo) gaps.push({ from, to: to < upTo ? to : msgId(upTo) });
    }
    if (page.through === null) break;
    after = page.through;
  }
  return gaps;
}
