-- What the roles of roles.sql may do with the tables of msgx. After every `msgx migrate`, as the schema's owner:
--
--   msgx migrate --grants grants.sql
--
-- or `psql -f grants.sql` behind it. It may run as often as you like, also beside the running service. A new version can
-- bring tables, and makes the views anew: take the file that comes with it.
begin;
set local search_path = msgx;

revoke all on all tables in schema msgx from msgx_service, msgx_reader;
revoke all on all sequences in schema msgx from msgx_service, msgx_reader;

-- The service reads every table and changes what its statements change: nothing more, no TRUNCATE, no TRIGGER.
grant select on
  archive_tombstone, error_report, event_front, fixed_setting, flight_message, flight_schd, flight_schd_hst, inbox_cursor,
  inbox_hole, lease, message_identity, msg_event, op_audit, outbound_counter, pipeline_lock, proc_state, proc_state_hst,
  raw_message, ref_floor, ref_history, ref_master, req_track, restore_note, schd_snap_log, schema_catalogue,
  schema_migration, station_pause, upkeep_job, version_floor
  to msgx_service;
-- These are only ever added to: the audit, the identities, what touched which flight, the archive of messages.
grant insert on
  archive_tombstone, flight_message, message_identity, op_audit, proc_state_hst, ref_history, restore_note
  to msgx_service;
grant update on event_front, inbox_cursor, lease, outbound_counter, pipeline_lock to msgx_service;
grant insert, update on fixed_setting, ref_floor, ref_master, upkeep_job, version_floor to msgx_service;
grant insert, delete on flight_schd_hst, inbox_hole, raw_message, schd_snap_log, station_pause to msgx_service;
grant insert, update, delete on error_report, flight_schd, msg_event, proc_state, req_track to msgx_service;
grant usage on sequence terminal_seq to msgx_service;
-- After a restore from a backup it is set above the events that consumers know.
grant usage, update on sequence msg_event_event_id_seq to msgx_service;

-- The reader: flights through the views, without the codes of persons; messages, events and audit without a text.
grant select on
  flight, flight_airbridge, flight_carousel, flight_checkin, flight_chock, flight_chute, flight_delay, flight_gate,
  flight_route_point, flight_service, flight_stand
  to msgx_reader;
grant select (flid, seq, entourage) on flight_vip to msgx_reader;
grant select (flid, version, operation_day, deleted, last_msg_id, updated_at, archived_at) on flight_schd_hst to msgx_reader;
grant select (event_id, target, partition_key, event_type, state_version, state, attempts, next_attempt_at, sent_at,
  last_error, msg_id, created_at) on msg_event to msgx_reader;
grant select on
  archive_tombstone, error_report, event_front, fixed_setting, flight_message, inbox_cursor, inbox_hole, lease, op_audit,
  proc_state, proc_state_hst, ref_floor, ref_history, ref_master, req_track, restore_note, schd_snap_log,
  schema_catalogue, schema_migration, station_pause, upkeep_job, version_floor
  to msgx_reader;

commit;
