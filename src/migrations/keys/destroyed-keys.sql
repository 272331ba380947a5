-- A key that was destroyed goes from the file of its table, too. Its old row is dead at once, and autovacuum, which looks
-- once a minute, begins with the first such row. What it frees is only overwritten when something is written there: so
-- the new row is as long as the old one and, as pages keep room for it, lies on the same page, where it takes its place.
alter table personal_keys add column overwritten text;
alter table order_keys add column overwritten text;
alter table personal_keys
  set (fillfactor = 70, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
alter table order_keys
  set (fillfactor = 70, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
grant update (overwritten) on personal_keys, order_keys to amanah_app;
