/**
 * The list of messages for console and API: filtered, newest first, archived ones among them. A page looks at a bounded
 * number of rows, so that a filter that fits nothing answers no later than the others; it says then how far it has looked.
 */
import type { ErrorClass, ProcState } from '../domain/outcome.ts';
import { statement, type Queryable, type Statement } from './statement.ts';
import { toTimestamp } from './time.ts';

/** Which messages are wanted; null wants all. */
export interface MessageFilter {
  readonly state: ProcState | null;
  readonly errorClass: ErrorClass | null;
  readonly type: string | null;
  readonly styp: string | null;
  /** Received from (inclusive) and to (exclusive), ms; the time of enqueueing where the mailbox told none. */
  readonly from: number | null;
  readonly to: number | null;
  /** That touched one of these flights. */
  readonly flids: readonly string[] | null;
  /** Dead, failing, or with a mark that was given up and that nobody has confirmed. */
  readonly attention: boolean;
}

/** A message as listed. */
export interface MessageRow {
  readonly msgId: bigint;
  readonly type: string | null;
  readonly styp: string | null;
  readonly state: ProcState;
  readonly attempts: number;
  readonly errorClass: ErrorClass | null;
  readonly lastError: string | null;
  readonly reason: string | null;
  readonly nextAttemptAt: string | null;
  readonly receivedAt: string | null;
  readonly enqueuedAt: string;
  readonly terminalAt: string | null;
  readonly late: boolean;
  readonly replayed: boolean;
  readonly restored: boolean;
  readonly shadow: boolean;
  readonly backfillAt: string | null;
  readonly backfillNextAt: string | null;
  readonly abandonedAt: string | null;
  readonly confirmedAt: string | null;
  readonly archived: boolean;
}

/** `next`: where the next page begins; null where there is nothing further down. */
export interface MessagePage {
  readonly messages: readonly MessageRow[];
  readonly next: bigint | null;
}

/** Rows that one page looks at, at most, in each table. */
export const LOOKED_AT = 100_000;
/** IDs are received nearly in their order; what was received this many IDs out of order may be missed by its time. */
const DISORDER = 10_000n;

export const LIST_COLUMNS = `msg_id as "msgId", type, styp, state, attempts, error_class as "errorClass",
  last_error as "lastError", reason, next_attempt_at as "nextAttemptAt", received_at as "receivedAt",
  enqueued_at as "enqueuedAt", terminal_at as "terminalAt", late, replayed, restored, shadow,
  backfill_at as "backfillAt", backfill_next_at as "backfillNextAt", backfill_abandoned_at as "abandonedAt",
  backfill_confirmed_at as "confirmedAt"`;

/** Parameters 3 to 8. */
const FITS = `($3::text is null or state = $3) and ($4::text is null or error_class = $4)
  and ($5::text is null or type = $5) and ($6::text is null or styp = $6)
  and ($7::timestamptz is null or coalesce(received_at, enqueued_at) >= $7)
  and ($8::timestamptz is null or coalesce(received_at, enqueued_at) < $8)`;
const BETWEEN = `msg_id < $1 and msg_id >= $2`;

type Table = 'proc_state' | 'proc_state_hst';
/** How the rows are found. */
type Way = 'all' | 'flights' | 'dead' | 'unfinished' | 'troubled' | 'attention';

const ARMS = {
  dead: `state = 'DEAD'`,
  unfinished: `state in ('PENDING', 'FAILED')`,
  failed: `state in ('PENDING', 'FAILED') and state = 'FAILED'`,
  abandoned: `backfill_abandoned_at is not null and backfill_confirmed_at is null`,
};

/** Reads what partial indexes hold, each by itself, in its order, to the limit. */
function byIndexes(name: string, arms: readonly string[]): Statement {
  const parts = arms.map(
    (arm) =>
      `(select msg_id from proc_state where ${arm} and ${BETWEEN} and ${FITS} order by msg_id desc limit $9)`,
  );
  return statement(
    name,
    `select ${LIST_COLUMNS}, false as archived from proc_state
     where msg_id in (${parts.join(' union ')}) order by msg_id desc limit $9`,
  );
}

function all(table: Table): Statement {
  return statement(
    `browseMessages.all.${table}`,
    // Primary key downwards, a bounded number of rows.
    `select ${LIST_COLUMNS}, ${String(table === 'proc_state_hst')} as archived
     from (select * from ${table} where ${BETWEEN} order by msg_id desc limit ${LOOKED_AT}) looked
     where ${FITS} order by msg_id desc limit $9`,
  );
}

function ofFlights(table: Table): Statement {
  return statement(
    `browseMessages.flights.${table}`,
    // Primary keys: flight_message (flid, msg_id), then the table's. A flight has dozens of messages.
    `select ${LIST_COLUMNS}, ${String(table === 'proc_state_hst')} as archived
     from (select distinct msg_id as touched from flight_message where flid = any ($10::text[]) and ${BETWEEN}) m
     join ${table} on msg_id = touched
     where ${FITS} order by msg_id desc limit $9`,
  );
}

const STATEMENTS: Readonly<Record<Table, Readonly<Partial<Record<Way, Statement>>>>> = {
  proc_state: {
    all: all('proc_state'),
    flights: ofFlights('proc_state'),
    // proc_state_dead, proc_state_unfinished, proc_state_abandoned: each holds few rows.
    dead: byIndexes('browseMessages.dead', [ARMS.dead]),
    unfinished: byIndexes('browseMessages.unfinished', [ARMS.unfinished]),
    troubled: byIndexes('browseMessages.troubled', [ARMS.dead, ARMS.unfinished]),
    attention: byIndexes('browseMessages.attention', [ARMS.dead, ARMS.failed, ARMS.abandoned]),
  },
  proc_state_hst: { all: all('proc_state_hst'), flights: ofFlights('proc_state_hst') },
};

/** What has ended and been archived needs nobody any more. */
function waysOf(filter: MessageFilter): readonly (readonly [Table, Way])[] {
  const archive: readonly [Table, Way] = ['proc_state_hst', 'all'];
  if (filter.attention && filter.flids === null) return [['proc_state', 'attention']];
  if (filter.flids !== null) {
    return [
      ['proc_state', 'flights'],
      ['proc_state_hst', 'flights'],
    ];
  }
  switch (filter.state) {
    case 'PENDING':
    case 'FAILED':
      return [['proc_state', 'unfinished']];
    case 'DEAD':
      return [['proc_state', 'dead'], archive];
    case 'SUCCEEDED':
    case 'SKIPPED':
      return [['proc_state', 'all'], archive];
    case null:
      return [['proc_state', filter.errorClass === null ? 'all' : 'troubled'], archive];
  }
}

const needsSomebody = ({ state, abandonedAt, confirmedAt }: MessageRow): boolean =>
  state === 'DEAD' || state === 'FAILED' || (abandonedAt !== null && confirmedAt === null);

/** The newest messages below an ID that fit. */
export async function selectMessagePage(
  db: Queryable,
  filter: MessageFilter,
  before: bigint,
  limit: number,
): Promise<MessagePage> {
  const found: MessageRow[] = [];
  let floor = -1n;
  for (const [table, way] of waysOf(filter)) {
    const range = await rangeOf(db, table, filter, before);
    if (range === null) continue;
    const { rows, lookedTo } = await read(db, table, way, { filter, range, limit });
    found.push(...rows);
    if (lookedTo !== null && lookedTo > floor) floor = lookedTo;
  }
  const messages = found
    .filter((row) => row.msgId >= floor && (!filter.attention || needsSomebody(row)))
    .sort((left, right) => (left.msgId < right.msgId ? 1 : -1))
    .slice(0, limit);
  const last = messages.at(-1);
  if (messages.length === limit && last !== undefined) return { messages, next: last.msgId };
  return { messages, next: floor === -1n ? null : floor };
}

interface Range {
  readonly before: bigint;
  readonly from: bigint;
}

async function read(
  db: Queryable,
  table: Table,
  way: Way,
  { filter, range, limit }: { readonly filter: MessageFilter; readonly range: Range; readonly limit: number },
): Promise<{ readonly rows: readonly MessageRow[]; readonly lookedTo: bigint | null }> {
  const chosen = STATEMENTS[table][way];
  if (chosen === undefined) return { rows: [], lookedTo: null };
  const { state, errorClass, type, styp, from, to, flids } = filter;
  const values = [
    ...[range.before, range.from, state, errorClass, type, styp],
    ...[from === null ? null : toTimestamp(from), to === null ? null : toTimestamp(to), limit],
    ...(way === 'flights' ? [flids] : []),
  ];
  const rows = await db.query<MessageRow>(chosen, values);
  const last = rows.at(-1);
  if (rows.length === limit && last !== undefined) return { rows, lookedTo: last.msgId };
  if (way !== 'all') return { rows, lookedTo: null };
  const [edge] = await db.query<{ msgId: bigint }>(EDGES[table], [range.before, range.from]);
  return { rows, lookedTo: edge?.msgId ?? null };
}

const edge = (table: Table): Statement =>
  statement(
    `browseMessages.edge.${table}`,
    // Primary key.
    `select msg_id as "msgId" from ${table} where ${BETWEEN} order by msg_id desc offset ${LOOKED_AT - 1} limit 1`,
  );
const EDGES: Readonly<Record<Table, Statement>> = {
  proc_state: edge('proc_state'),
  proc_state_hst: edge('proc_state_hst'),
};

const firstAt = (table: Table): Statement =>
  statement(
    `browseMessages.firstAt.${table}`,
    // Primary key, once per halving: no message pays for an index on a time.
    `with recursive search (low, high) as (
       select min(msg_id), max(msg_id) + 1 from ${table}
       union all
       select case when probe.at < $1::timestamptz then probe.msg_id + 1 else low end,
         case when probe.at < $1::timestamptz then high else low + (high - low) / 2 end
       from search, lateral (
         select msg_id, coalesce(received_at, enqueued_at) as at from ${table}
         where msg_id >= low + (high - low) / 2 order by msg_id limit 1
       ) probe
       where low < high
     )
     select low as "msgId" from search where low >= high`,
  );
const FIRST_AT: Readonly<Record<Table, Statement>> = {
  proc_state: firstAt('proc_state'),
  proc_state_hst: firstAt('proc_state_hst'),
};

/** The IDs between which the wanted times lie; null where the table is empty. */
async function rangeOf(
  db: Queryable,
  table: Table,
  { from, to }: MessageFilter,
  before: bigint,
): Promise<Range | null> {
  const range = { before, from: 0n };
  for (const [end, time] of [
    ['from', from],
    ['before', to],
  ] as const) {
    if (time === null) continue;
    const [first] = await db.query<{ msgId: bigint }>(FIRST_AT[table], [toTimestamp(time)]);
    if (first === undefined) return null;
    if (end === 'from') range.from = first.msgId > DISORDER ? first.msgId - DISORDER : 0n;
    else if (first.msgId + DISORDER < before) range.before = first.msgId + DISORDER;
  }
  return range;
}
