-- Checks: every invariant is a view check_* that returns no rows while it holds. Reading a view checks all history
-- unless amanah.checks_since is set.
--
-- Final rows do not change, so rechecking them every 15 minutes is unnecessary. The checks schedule reads every view in
-- full each night. In between it reads only rows created or changed since that full read: it sets amanah.checks_since,
-- for its transaction, to a version 7 UUID with the time of the full read, less two hours for slow clocks. Each view
-- uses the functions below to filter its driving table: on the id where it is a version 7 UUID, otherwise on the
-- creation or update time. Sums over all history are checked only at night (checks_read_all); current state is always
-- read in full.

-- The lowest id to read. SQL-standard function bodies are parsed at creation, so they resolve no names at run time and
-- can be inlined. The planner can then estimate how few rows remain.
create function checks_since() returns uuid language sql stable parallel safe
  return coalesce(nullif(current_setting('amanah.checks_since', true), '')::uuid, '00000000-0000-0000-0000-000000000000');
-- The timestamp of checks_since().
create function checks_since_time() returns timestamptz language sql stable parallel safe
  return coalesce(uuid_extract_timestamp(checks_since()), '-infinity');
-- Whether to read all history.
create function checks_read_all() returns boolean language sql stable parallel safe
  return nullif(current_setting('amanah.checks_since', true), '') is null;

-- When each check last returned no rows in a full read. Older rows are not rechecked until the next night. A check that
-- found violations has no row here and is read in full until it finds none.
create table proved_checks (
  check_name text primary key,
  proved_at timestamptz not null
);
