-- What a start has found out after our database was restored from a backup (seed §9.2; decisions.md, "Restore from
-- backup"). New tables alone: a former version goes on beside them.

-- One row per discovery:
--   messages: W, and the highest mailbox ID that had been processed; what lies between is processed again
--   events:   the last event ID that the database knew, and the highest one told
--   requests: our last SEQN that the database knew, and the newest one in COUTMSGS
create table restore_note (
  note_id bigint generated always as identity primary key,
  noted_at timestamptz not null,
  kind text not null check (kind in ('messages', 'events', 'requests')),
  known bigint not null,
  seen bigint not null
);

-- Versions of flights that consumers know and the database has forgotten: the next version lies above.
create table version_floor (
  flid text not null,
  version integer not null check (version > 0),
  noted_at timestamptz not null,
  -- When a version above it had been made, or it was found that no message of the flight is left.
  settled_at timestamptz,
  primary key (flid, version)
);
-- What is still to be looked at, when everything forgotten has been read again: few rows, for minutes.
create index version_floor_unsettled on version_floor (flid) where settled_at is null;
