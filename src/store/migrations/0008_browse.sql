-- Looking things up by people (console, API). No column that is updated is indexed, so that no update gets dearer.

-- Which flights a message touched. Rows are only ever added, nearly in the order of their messages: a few pages of
-- summaries lead there, and an insert has no index entry to write.
create index flight_message_msg on flight_message using brin (msg_id) with (pages_per_range = 16, autosummarize = on);

-- The events of a flight, and through the flights those of a message.
create index msg_event_flight on msg_event (partition_key, event_id) where target = 'KAFKA:msg';

-- Flights by the beginning of their number, whatever the database's collation; the index answers a search alone. It takes
-- the place of one that only served whole numbers.
drop index flight_schd_number;
create index flight_schd_number on flight_schd (flight_number collate "C", operation_day) include (flid);
create index flight_schd_hst_number on flight_schd_hst ((left(state ->> 'flightNumber', 64)) collate "C", operation_day);

-- Duplicates of a message: few rows.
create index proc_state_duplicate on proc_state (reason) where state = 'SKIPPED' and reason like 'duplicate-of:%';
create index proc_state_hst_duplicate on proc_state_hst (reason)
  where state = 'SKIPPED' and reason like 'duplicate-of:%';
