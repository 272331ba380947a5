-- Checks: every invariant is a view check_* that is empty when all is well. Reading a view checks all history.
--
-- Finished rows do not change, so they need not be checked again every quarter of an hour. The schedule of checks reads
-- each view whole at night, and until the next night only what was created or changed since: it sets
-- amanah.checks_since, for its transaction, to a version 7 UUID of that instant. A view applies it, by the functions
-- below, to the row that leads to all others: by its id where ids follow time, otherwise by when it was created or last
-- changed. Sums over all history are checked only at night (checks_read_all); current state is always read whole.

-- The id from which rows are to be read. Functions whose bodies are parsed at creation look up nothing later and are
-- inlined into the calling statement: the planner then knows how little is to be read.
create function checks_since() returns uuid language sql stable parallel safe
  return coalesce(nullif(current_setting('amanah.checks_since', true), '')::uuid, '00000000-0000-0000-0000-000000000000');
-- Its instant.
create function checks_since_time() returns timestamptz language sql stable parallel safe
  return coalesce(uuid_extract_timestamp(checks_since()), '-infinity');
-- Whether all history is to be read.
create function checks_read_all() returns boolean language sql stable parallel safe
  return nullif(current_setting('amanah.checks_since', true), '') is null;

-- When the schedule last found each check empty on a whole reading: earlier rows count as checked until the next night.
-- A check that is not empty has no row, and is read whole until it is.
create table proved_checks (
  check_name text primary key,
  proved_at timestamptz not null
);
