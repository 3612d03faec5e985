-- The tables of one pipeline (seed §1, contract "Own PostgreSQL"). No schema name stands in any statement:
-- the search_path of the connection decides, so that several pipelines can share a database.
--
-- Storage notes: rows that are updated once or twice after the insert get a fillfactor, so that the update
-- finds room in its page; tables that see much churn are vacuumed by absolute counts, not by a share of
-- their growing size.

-- One row per message. Seed: PROC_STATE.
create table proc_state (
  msg_id bigint primary key,
  type text,
  styp text,
  identity_key text,
  state text not null default 'PENDING'
    check (state in ('PENDING', 'FAILED', 'SUCCEEDED', 'SKIPPED', 'DEAD')),
  attempts integer not null default 0 check (attempts >= 0),
  error_class text
    check (error_class in ('MALFORMED', 'PROTOCOL', 'CODEC_ERROR', 'UNSUPPORTED', 'INFRA', 'EXHAUSTED')),
  last_error text,
  reason text,
  next_attempt_at timestamptz,
  received_at timestamptz,
  enqueued_at timestamptz not null,
  terminal_at timestamptz,
  terminal_seq bigint,
  late boolean not null default false,
  replayed boolean not null default false,
  restored boolean not null default false,
  shadow boolean not null default false,
  marked_at_intake boolean not null default false,
  detail jsonb,
  profile_hash text,
  backfill_next_at timestamptz,
  backfill_at timestamptz,
  backfill_attempts integer not null default 0,
  backfill_abandoned_at timestamptz,
  backfill_abandoned_reason text
    check (backfill_abandoned_reason in ('MISSING_ROW', 'TRANSIENT_DEADLINE')),
  backfill_confirmed_at timestamptz,
  backfill_confirmed_by text,
  check ((state in ('SUCCEEDED', 'SKIPPED', 'DEAD')) = (terminal_at is not null)),
  check ((terminal_at is null) = (terminal_seq is null)),
  check (state <> 'DEAD' or error_class is not null)
) with (
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
-- Head of line: the smallest unfinished messages (seed §5.1). Holds the backlog only.
create index proc_state_unfinished on proc_state (msg_id) where state in ('PENDING', 'FAILED');
-- Owed marks, in the fair order of seed §6.1. Holds what is owed only.
create index proc_state_owed on proc_state (backfill_attempts, msg_id)
  where state in ('SUCCEEDED', 'SKIPPED', 'DEAD') and backfill_at is null and backfill_abandoned_at is null
    and not shadow;
-- What needs a human: abandoned marks and dead messages are few, and looked up by people.
create index proc_state_abandoned on proc_state (msg_id) where backfill_abandoned_at is not null;
create index proc_state_dead on proc_state (msg_id) where state = 'DEAD';
-- Source of terminal_seq: the order in which messages really ended.
create sequence terminal_seq;

-- Archive of proc_state.
create table proc_state_hst (like proc_state, archived_at timestamptz not null, primary key (msg_id));

-- Business identity, never archived (decisions.md, "Identities").
create table message_identity (
  identity_key text primary key,
  msg_id bigint not null unique,
  content_hash bytea not null check (octet_length(content_hash) = 32)
);

-- Texts as they were read from the mailbox, so that replay and verify never depend on its retention.
-- body is raw DEFLATE of the UTF-8 text; null where the row had no text or was over the size limit.
create table raw_message (
  msg_id bigint primary key,
  body bytea,
  bytes bigint not null check (bytes >= 0),
  sha256 bytea,
  stored_at timestamptz not null
);
alter table raw_message alter column body set storage external;

-- The poller's cursor (seed §1, INBOX_CURSOR). One row.
create table inbox_cursor (
  only_row boolean primary key default true check (only_row),
  watermark bigint not null default 0 check (watermark >= 0),
  hole_since timestamptz,
  seeded_at timestamptz,
  seed bigint not null default 0,
  scanned_at timestamptz,
  scanned_watermark bigint not null default 0,
  polled_at timestamptz
) with (fillfactor = 50);
insert into inbox_cursor default values;

-- Every hole ever seen above the watermark, as ranges (decisions.md, "Watermark details").
-- Open: released_at is null. past: missing already when the cursor was seeded.
create table inbox_hole (
  from_id bigint primary key,
  to_id bigint not null,
  first_seen_at timestamptz not null,
  -- Writers that held the mailbox table when the hole was first seen; null where that cannot be known.
  writers text[],
  released_at timestamptz,
  found_at timestamptz,
  past boolean not null default false,
  check (from_id <= to_id)
);
create index inbox_hole_open on inbox_hole (from_id) where released_at is null;
create index inbox_hole_released on inbox_hole (released_at) where released_at is not null;

-- Flights (seed §1, FLIGHT_SCHD). state is exactly the published flight.
create table flight_schd (
  flid text primary key,
  version integer not null check (version > 0),
  operation_day date not null,
  deleted boolean not null,
  state jsonb not null,
  stamps jsonb not null,
  last_msg_id bigint not null,
  updated_at timestamptz not null,
  flight_number text generated always as (left(state ->> 'flightNumber', 64)) stored,
  movement text generated always as (state ->> 'movement') stored,
  scheduled_time text generated always as (state ->> 'scheduledTime') stored
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
-- A flight's row is rewritten at every change; only columns that hardly ever change are indexed (HOT).
create index flight_schd_day on flight_schd (operation_day, scheduled_time, flid);
create index flight_schd_number on flight_schd (flight_number, operation_day);

create function operation_day_is_immutable() returns trigger language plpgsql as $$
begin
  raise exception 'operation day of flight % is % and cannot become %', old.flid, old.operation_day, new.operation_day
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger operation_day_is_immutable before update on flight_schd
  for each row when (old.operation_day is distinct from new.operation_day)
  execute function operation_day_is_immutable();

-- Archive of flights: the newest state each had, with the stamps from which it goes on when named again.
create table flight_schd_hst (
  flid text primary key,
  version integer not null,
  operation_day date not null,
  deleted boolean not null,
  state jsonb not null,
  stamps jsonb not null,
  last_msg_id bigint not null,
  updated_at timestamptz not null,
  archived_at timestamptz not null
);

-- Which message touched which flight. Insert-only.
create table flight_message (
  flid text not null,
  msg_id bigint not null,
  state_version integer,
  changed text[] not null,
  superseded text[] not null,
  primary key (flid, msg_id)
);

-- Outbox (seed §1, MSG_EVENT; seed §8).
create table msg_event (
  event_id bigint generated by default as identity primary key,
  target text not null check (target in ('KAFKA:msg', 'KAFKA:schd')),
  partition_key text not null,
  event_type text not null check (event_type in ('UPSERT', 'TOMBSTONE')),
  state_version integer not null check (state_version > 0),
  state text not null default 'PENDING' check (state in ('PENDING', 'SENT', 'DEAD', 'DROPPED')),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz,
  sent_at timestamptz,
  last_error text,
  msg_id bigint,
  created_at timestamptz not null,
  body json,
  check ((target = 'KAFKA:schd') = (body is null)),
  check (state <> 'SENT' or sent_at is not null)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
-- One row per flight holds the newest state to be told (seed §8.2).
create unique index msg_event_schd on msg_event (partition_key) where target = 'KAFKA:schd';
-- Claim in event order; holds what is pending only.
create index msg_event_pending on msg_event (target, event_id) where state = 'PENDING';
-- Flights whose head event waits for its next attempt: few.
create index msg_event_waiting on msg_event (target, partition_key, next_attempt_at)
  where state = 'PENDING' and next_attempt_at is not null;
create index msg_event_dead on msg_event (event_id) where state = 'DEAD';
-- Retention cleans SENT rows by age and nothing else (seed §8.3).
create index msg_event_sent on msg_event (sent_at) where state = 'SENT';

-- Reference data, with the message that last wrote each row and the floor of each type.
create table ref_master (
  rtype text not null,
  rkey text not null,
  body jsonb not null,
  active boolean not null,
  stamp bigint not null,
  -- The message that last gave the body; null where only deletions have named the row.
  body_stamp bigint,
  updated_at timestamptz not null,
  primary key (rtype, rkey)
);
create table ref_floor (
  rtype text primary key,
  floor bigint not null
);

-- Trace of schedules, outside the business transaction (seed §1, SCHD_SNAP_LOG).
create table schd_snap_log (
  snap_id bigint generated always as identity primary key,
  msg_id bigint not null,
  styp text not null,
  outcome text not null,
  records integer not null,
  changed integer not null,
  scope_start date,
  scope_end date,
  recv_at timestamptz not null
);
create index schd_snap_log_age on schd_snap_log (scope_end, recv_at);

-- Pump and cleaner exclude each other here (seed INV-18). One row.
create table pipeline_lock (
  only_row boolean primary key default true check (only_row)
);
insert into pipeline_lock default values;

-- The one active instance (decisions.md, "One active instance, fenced"). One row, whose key is the epoch:
-- stations lock it FOR KEY SHARE, renewals touch expires_at only and wait for nobody, a takeover changes the
-- key and waits for whoever holds it.
create table lease (
  epoch bigint primary key,
  holder text,
  expires_at timestamptz not null,
  backend_pids integer[] not null default '{}'
) with (fillfactor = 50);
insert into lease (epoch, holder, expires_at) values (0, null, '-infinity');

-- What operators did (contract, "HTTP").
create table op_audit (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null,
  who text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb,
  after jsonb
);

-- Stations paused by an operator; survives a restart.
create table station_pause (
  station text primary key check (station in ('inbox', 'pump', 'delivery', 'backfill', 'requests')),
  by text not null,
  reason text not null,
  since timestamptz not null
);

-- What must not change after the first start, e.g. identity.include-day-boundary.
create table fixed_setting (
  name text primary key,
  value text not null,
  fixed_at timestamptz not null
);
