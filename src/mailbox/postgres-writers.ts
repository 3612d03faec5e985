/**
 * Who may still fill a hole: transactions that hold the inbound table for writing, from pg_locks. It needs no
 * privilege; pg_stat_activity would show an unprivileged role nobody and release holes under a living writer.
 */
import type { Inbound } from './postgres-names.ts';
import type { Run } from './postgres-session.ts';

/**
 * An insert holds RowExclusiveLock from before its ID is assigned until after its rows are visible. Each
 * transaction gives two tokens: its virtual ID, and its transaction ID once it has one – that one it keeps
 * when it is prepared for two-phase commit and its session is gone. Partitions are locked by those who write
 * into them directly.
 */
const WRITERS = `
  with recursive tables as (
    select to_regclass($1)::oid as oid
    union
    select i.inhrelid from pg_inherits i join tables t on i.inhparent = t.oid
  ),
  holders as (
    select distinct l.virtualtransaction, l.pid
    from pg_locks l
    join tables t on t.oid = l.relation
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
  )
  select 'v:' || virtualtransaction || ':' || coalesce(pid::text, 'prepared') as token from holders
  union all
  select 'x:' || l.transactionid::text
  from pg_locks l
  join holders h on h.virtualtransaction = l.virtualtransaction and h.pid is not distinct from l.pid
  where l.locktype = 'transactionid' and l.granted and l.mode = 'ExclusiveLock'`;

/** Tokens of the writers now; null where the inbound "table" is a view or foreign: its locks say nothing. */
export async function writers(run: Run, inbound: Inbound): Promise<readonly string[] | null> {
  if (inbound.table.kind !== 'r' && inbound.table.kind !== 'p') return null;
  const rows = await run<{ token: string }>(WRITERS, [inbound.table.quoted]);
  return rows.map(({ token }) => token);
}
