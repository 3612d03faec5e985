-- Roles of msgx in its own PostgreSQL. Once, by an administrator (superuser), in the database that msgx is to have:
--
--   createdb msgx
--   psql -d msgx -f roles.sql
--
-- Put your own in place of the three passwords. Names may be others, here and in grants.sql alike: of the database (msgx),
-- of the schema (msgx, as in msgx.database.schema) and of the roles.

-- Owns the schema. Used by `msgx migrate` alone, by a person or by what installs a new version.
create role msgx_owner login password 'OWNER-PASSWORD';
-- The running service, and operators with the command line. Active instance and standby are the same role: a standby
-- ends the sessions of a silent active instance, which PostgreSQL allows among sessions of one role.
create role msgx_service login password 'SERVICE-PASSWORD';
-- Support and reporting. It reads what the role `viewer` of the API reads: no texts of messages, no persons.
create role msgx_reader login password 'READER-PASSWORD';

revoke all on database msgx from public;
revoke all on schema public from public;
grant connect on database msgx to msgx_owner, msgx_service, msgx_reader;

create schema msgx authorization msgx_owner;
grant usage on schema msgx to msgx_service, msgx_reader;

-- A reader finds the tables without naming the schema, and an open session of it keeps no old rows from being vacuumed.
alter role msgx_reader set search_path = msgx;
alter role msgx_reader set statement_timeout = '60s';
alter role msgx_reader set idle_in_transaction_session_timeout = '60s';
