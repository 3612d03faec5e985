-- What a reference row was before each change of its body or of whether it is active. Insert-only; the first line of a
-- row is written when it is changed, not when it comes.
create table ref_history (
  rtype text not null,
  rkey text not null,
  change_id bigint generated always as identity,
  -- The message that changed the row, and when.
  msg_id bigint not null,
  changed_at timestamptz not null,
  body jsonb not null,
  active boolean not null,
  primary key (rtype, rkey, change_id)
);

-- Look-ups: pages of a type in the order of its keys, and keys by how they begin, whatever the database's collation.
create index ref_master_key on ref_master (rtype, rkey collate "C");
