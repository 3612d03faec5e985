-- Rows of a few kilobytes stay as they are, in their page: by default PostgreSQL would compress every state and every
-- event beyond 2 kB, which was a quarter of what it had to do for a message. A state in its page is also logged by what
-- has changed in it, not as a whole; and the room that events take is given back by their retention.
alter table flight_schd set (toast_tuple_target = 8160);
alter table msg_event set (toast_tuple_target = 8160);
