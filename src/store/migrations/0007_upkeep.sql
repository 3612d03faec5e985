-- The upkeep jobs (seed §9.3): when each ran and runs next, and what the audit has to know of their work. New tables
-- alone: a former version goes on beside them.

-- One row per job, kept so that a restart neither forgets a run nor begins it too early.
create table upkeep_job (
  job text primary key,
  next_at timestamptz not null,
  -- The run underway, or the last one where there is none.
  started_at timestamptz,
  -- End of the last run that came to its end.
  ended_at timestamptz,
  rows_run bigint not null default 0,
  rows_total bigint not null default 0,
  failures integer not null default 0,
  failed_at timestamptz,
  error text
) with (fillfactor = 50);

-- The highest event that retention has deleted: at and below it versions of a flight may be missing (invariant 5).
create table event_front (
  only_row boolean primary key default true check (only_row),
  event_id bigint not null default 0
) with (fillfactor = 50);
insert into event_front default values;

-- Deletions that no message says, made when a flight was archived: a flight that a late message takes out of the archive
-- again is deleted by this, not by its messages (invariant 7).
create table archive_tombstone (
  flid text not null,
  version integer not null,
  primary key (flid, version)
);
