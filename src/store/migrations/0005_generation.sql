-- Whoever changes flights under the lock and is not the pump raises it: the pump decides ahead of its lock, and what it
-- has read holds as long as the generation is the one it read it under.
alter table pipeline_lock add column generation bigint not null default 0;
