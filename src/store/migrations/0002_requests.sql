-- Requests to the upstream and reports of its faulty messages (seed §1 REQ_TRACK, §7.2; decisions.md, "Requests").
-- New tables alone: a former version goes on beside them.

-- The facts of an insert into COUTMSGS that has to happen once are the same in both tables:
--   seqn           our SEQN, given when the insert is first tried, kept by every later try
--   remembered_id  highest COUTMSGS_ID before the first try: what carries our SEQN above it is this message
--   sent_at        noted just before the newest try
--   attempts       tries that the mailbox refused for the message's own sake
--   look_at        while the result of a try is not known: when to look whether the row is there
--   out_id         COUTMSGS_ID of the row

-- One row per request.
create table req_track (
  req_id bigint generated always as identity primary key,
  -- SCHD, or a reference type.
  rtype text not null,
  -- Of a schedule request, which is one per operation day; null for reference data.
  operation_day date,
  sender text not null,
  state text not null default 'PENDING' check (state in ('PENDING', 'SENT', 'DONE', 'EXPIRED')),
  requested_at timestamptz not null,
  requested_by text not null,
  seqn integer check (seqn between 1 and 999999),
  remembered_id bigint,
  sent_at timestamptz,
  attempts integer not null default 0,
  look_at timestamptz,
  out_id bigint,
  -- When a request that was sent stops waiting for its answer.
  expires_at timestamptz,
  done_at timestamptz,
  done_by bigint,
  matched text check (matched in ('exact', 'downgraded')),
  expired_at timestamptz,
  expired_because text check (expired_because in ('timeout', 'replaced')),
  check ((rtype = 'SCHD') = (operation_day is not null)),
  check ((sent_at is null) = (seqn is null) and (sent_at is null) = (remembered_id is null)),
  check (out_id is null or sent_at is not null),
  check (state <> 'SENT' or (out_id is not null and expires_at is not null)),
  check ((state = 'DONE') = (done_at is not null) and (state = 'DONE') = (done_by is not null)
    and (state = 'DONE') = (matched is not null)),
  check ((state = 'EXPIRED') = (expired_at is not null) and (state = 'EXPIRED') = (expired_because is not null))
) with (fillfactor = 70);
-- One open request per type, day and sender. Holds what is open only.
create unique index req_track_open on req_track (rtype, coalesce(operation_day, '-infinity'::date), sender)
  where state in ('PENDING', 'SENT');
-- What the coordinator has to do: send, or look whether it was sent. Few rows.
create index req_track_due on req_track (req_id) where state = 'PENDING' or look_at is not null;

-- One report per message that ended DEAD(MALFORMED or PROTOCOL) (C-25).
create table error_report (
  msg_id bigint primary key,
  state text not null default 'PENDING' check (state in ('PENDING', 'SENT')),
  -- Our SNDR.
  sender text not null,
  -- META of the message, empty where it is not known.
  sequence text not null,
  type text not null,
  styp text not null,
  error_class text not null check (error_class in ('MALFORMED', 'PROTOCOL')),
  description text not null,
  registered_at timestamptz not null,
  seqn integer check (seqn between 1 and 999999),
  remembered_id bigint,
  sent_at timestamptz,
  attempts integer not null default 0,
  look_at timestamptz,
  out_id bigint,
  check ((sent_at is null) = (seqn is null) and (sent_at is null) = (remembered_id is null)),
  check ((state = 'SENT') = (out_id is not null))
) with (fillfactor = 70);
create index error_report_pending on error_report (msg_id) where state = 'PENDING';
-- The rate: reports of the last minute.
create index error_report_sent on error_report (sent_at) where sent_at is not null;

-- Our SEQN, 1 to 999999, then 1 again. One row.
create table outbound_counter (
  only_row boolean primary key default true check (only_row),
  last integer not null default 0 check (last between 0 and 999999)
) with (fillfactor = 50);
insert into outbound_counter default values;
