-- Checks: every invariant is a view check_* that is empty when all is well. Whoever reads one proves all that there is.
--
-- What is over does not change, so that it need not be proved again every quarter of an hour. The schedule of checks
-- reads a view whole each night, and until the next one only what came or changed since: it sets amanah.checks_since,
-- for its transaction, to a UUID of version 7 of that instant. A view asks for it by the functions below, of the row
-- that leads to all else: by its id where ids follow time, otherwise by when it was made or last changed. What is a sum
-- of all history is proved at night only (checks_read_all); what holds now is always read whole.

-- The id from which on rows are to be read. Bodies that are parsed when they are made look nothing up later, and become
-- part of the statement that calls them: the planner then knows how little is to be read.
create function checks_since() returns uuid language sql stable parallel safe
  return coalesce(nullif(current_setting('amanah.checks_since', true), '')::uuid, '00000000-0000-0000-0000-000000000000');
-- Its instant.
create function checks_since_time() returns timestamptz language sql stable parallel safe
  return coalesce(uuid_extract_timestamp(checks_since()), '-infinity');
-- Whether all that there is is to be read.
create function checks_read_all() returns boolean language sql stable parallel safe
  return nullif(current_setting('amanah.checks_since', true), '') is null;

-- When each check was last found empty, whole, by the schedule: what came before that stays proved until the next night.
-- One that is not empty has no row, and is read whole until it is.
create table proved_checks (
  check_name text primary key,
  proved_at timestamptz not null
);
