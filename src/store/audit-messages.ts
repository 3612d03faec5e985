/**
 * What `msgx verify` asks of the messages in our own tables (contract, "Invariants" 1 to 4, 8 and 9). Each statement gives
 * the offenders of one invariant, at most a page of them, or totals. They scan: an audit looks at everything.
 */
import { statement, type Queryable } from './statement.ts';

/** Most offenders that a statement gives. */
export const MOST_OFFENDERS = 20;

const MESSAGE_COLUMNS = `msg_id, state, error_class, reason, last_error, identity_key, terminal_seq, late, replayed,
    restored, shadow, marked_at_intake, backfill_next_at, backfill_at, backfill_abandoned_at, backfill_confirmed_at,
    profile_hash`;
/** All messages, archived ones too. */
export const ALL_MESSAGES = `(select ${MESSAGE_COLUMNS} from proc_state
  union all
  select ${MESSAGE_COLUMNS} from proc_state_hst)`;

const UNCOVERED = statement(
  'audit.uncovered',
  `with bounds as (select seed, watermark from inbox_cursor),
   covered as (
     select msg_id as a, msg_id as b from proc_state, bounds where msg_id > seed and msg_id <= watermark
     union all
     select msg_id, msg_id from proc_state_hst, bounds where msg_id > seed and msg_id <= watermark
     union all
     select greatest(from_id, seed + 1), least(to_id, watermark) from inbox_hole, bounds
     where released_at is not null and to_id > seed and from_id <= watermark
     union all
     select seed, seed from bounds
   ),
   reached as (
     select a, max(b) over (order by a, b rows between unbounded preceding and 1 preceding) as until from covered
   )
   -- Nothing is added to W, which may be the last ID there is.
   select until + 1 as "from", a - 1 as "to" from reached where a - 1 > until
   union all
   select until + 1, watermark from (select max(b) as until from covered) as ended, bounds where until < watermark
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Ranges in (seed, W] that are neither a message nor a released hole (invariant 1). */
export async function uncoveredIds(db: Queryable): Promise<readonly { from: bigint; to: bigint }[]> {
  return db.query<{ from: bigint; to: bigint }>(UNCOVERED);
}

const SHARED_IDENTITIES = statement(
  'audit.sharedIdentities',
  `select p.msg_id as "msgId", p.identity_key as identity, i.msg_id as owner
   from ${ALL_MESSAGES} p left join message_identity i on i.identity_key = p.identity_key
   where p.identity_key is not null and not (p.state = 'SKIPPED' and coalesce(p.reason, '') like 'duplicate-of:%')
     and i.msg_id is distinct from p.msg_id
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Messages, no duplicates, whose identity belongs to another one or to none (invariant 2). */
export async function sharedIdentities(
  db: Queryable,
): Promise<readonly { msgId: bigint; identity: string; owner: bigint | null }[]> {
  return db.query<{ msgId: bigint; identity: string; owner: bigint | null }>(SHARED_IDENTITIES);
}

const ORPHANED_DUPLICATES = statement(
  'audit.orphanedDuplicates',
  `select p.msg_id as "msgId", p.reason from ${ALL_MESSAGES} p
   where p.state = 'SKIPPED' and p.reason like 'duplicate-of:%'
     and not exists (
       select 1 from message_identity i
       where i.msg_id = (substring(p.reason from '^duplicate-of:([0-9]+)'))::bigint and i.msg_id <> p.msg_id
         and (p.identity_key is null or i.identity_key = p.identity_key))
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Duplicates whose original is not the owner of their identity (invariant 2). */
export async function orphanedDuplicates(
  db: Queryable,
): Promise<readonly { msgId: bigint; reason: string }[]> {
  return db.query<{ msgId: bigint; reason: string }>(ORPHANED_DUPLICATES);
}

const OUT_OF_ORDER = statement(
  'audit.outOfOrder',
  `select msg_id as "msgId", before from (
     select msg_id, lag(msg_id) over (order by terminal_seq) as before from ${ALL_MESSAGES} p
     where terminal_seq is not null and not late and not replayed
       and not (state = 'SKIPPED' and coalesce(reason, '') like 'operator:%')
   ) ordered where before > msg_id order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Messages that ended after a larger one, without a reason to (invariant 3). */
export async function outOfOrder(db: Queryable): Promise<readonly { msgId: bigint; before: bigint }[]> {
  return db.query<{ msgId: bigint; before: bigint }>(OUT_OF_ORDER);
}

const BACKFILL_FACTS = statement(
  'audit.backfillFacts',
  `select msg_id as "msgId", state from ${ALL_MESSAGES} p
   where (state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and not shadow
       and backfill_next_at is null and backfill_at is null and backfill_abandoned_at is null)
     or (state in ('PENDING', 'FAILED') and not replayed and not restored
       and (backfill_next_at is not null or backfill_at is not null or backfill_abandoned_at is not null))
   order by 1 limit ${String(MOST_OFFENDERS)}`,
);

/** Terminal messages without a backfill fact, and others with one (invariant 4). */
export async function wrongBackfillFacts(
  db: Queryable,
): Promise<readonly { msgId: bigint; state: string }[]> {
  return db.query<{ msgId: bigint; state: string }>(BACKFILL_FACTS);
}

export interface MarkFact {
  readonly msgId: bigint;
  readonly terminal: boolean;
  readonly excused: boolean;
  readonly confirmed: boolean;
}

const MARK_FACTS = statement(
  'audit.marks',
  `select msg_id as "msgId", state in ('SUCCEEDED', 'SKIPPED', 'DEAD') as terminal,
     marked_at_intake or replayed or restored as excused, backfill_at is not null and not shadow as confirmed
   from ${ALL_MESSAGES} p where msg_id between $1 and $2`,
);

/** What we hold of the marks of a range of messages (invariant 8). */
export async function markFacts(db: Queryable, from: bigint, to: bigint): Promise<readonly MarkFact[]> {
  return db.query<MarkFact>(MARK_FACTS, [from, to]);
}

const UNAUDITED = statement(
  'audit.unaudited',
  `select 'skip of message ' || msg_id as what from ${ALL_MESSAGES} p
   where state = 'SKIPPED' and reason like 'operator:%'
     and not exists (select 1 from op_audit a where a.action = 'skip' and a.target = 'message:' || p.msg_id)
   union all
   select 'replay of message ' || msg_id from ${ALL_MESSAGES} p
   where replayed
     and not exists (select 1 from op_audit a where a.action = 'replay' and a.target = 'message:' || p.msg_id)
   union all
   select 'drop of event ' || event_id from msg_event e
   where state = 'DROPPED'
     and not exists (select 1 from op_audit a where a.action = 'drop' and a.target = 'event:' || e.event_id)
   union all
   select 'confirmation of mark ' || msg_id from ${ALL_MESSAGES} p
   where backfill_confirmed_at is not null
     and not exists (select 1 from op_audit a where a.action = 'confirm' and a.target = 'message:' || p.msg_id)
   union all
   select 'pause of station ' || station from station_pause s
   where not exists (select 1 from op_audit a where a.action = 'pause' and a.target = 'station:' || s.station)
   union all
   -- Pending with a time to wait for and no attempt: told again on demand (store/republish.ts).
   select 'republish of flight ' || partition_key from msg_event e left join flight_schd f on f.flid = partition_key
   where target = 'KAFKA:schd' and e.state = 'PENDING' and attempts = 0 and next_attempt_at is not null
     and not exists (select 1 from op_audit a where a.action = 'republish'
       and a.target in ('flid:' || partition_key, 'day:' || f.operation_day, 'all'))
   union all
   -- What the service asks by itself is registered as msgx:….
   select 'request ' || req_id from req_track r
   where not starts_with(requested_by, 'msgx:')
     and not exists (select 1 from op_audit a where a.action = 'request' and a.target = 'request:' || r.req_id)
   union all
   select 'number of partitions of topic ' || substr(s.name, 18) from fixed_setting s
   where starts_with(s.name, 'kafka.partitions:')
     and s.value <> (select a.after ->> 'partitions' from op_audit a
       where a.action = 'accept-partitions' and a.target = 'topic:' || substr(s.name, 18)
       order by a.audit_id desc limit 1)
   limit ${String(MOST_OFFENDERS)}`,
);

/** Operator changes without an audit row (invariant 9). */
export async function unauditedChanges(db: Queryable): Promise<readonly string[]> {
  return (await db.query<{ what: string }>(UNAUDITED)).map(({ what }) => what);
}

const PENDING_WORK = statement(
  'audit.pendingWork',
  // proc_state_unfinished and proc_state_owed.
  `select (select count(*)::integer from proc_state where state in ('PENDING', 'FAILED')) as unfinished,
     (select count(*)::integer from proc_state where state in ('SUCCEEDED', 'SKIPPED', 'DEAD')
        and backfill_at is null and backfill_abandoned_at is null and not shadow) as owed,
     (select count(*)::integer from ${ALL_MESSAGES} p) as messages`,
);

/** What is still pending or owed: counted, not broken. */
export async function pendingWork(
  db: Queryable,
): Promise<{ unfinished: number; owed: number; messages: number }> {
  const [row] = await db.query<{ unfinished: number; owed: number; messages: number }>(PENDING_WORK);
  return row ?? { unfinished: 0, owed: 0, messages: 0 };
}
