-- The audit trail: who did what to which resource. Partitioned by month.

create table events (
  id uuid primary key default uuidv7(),
  event text not null,
  impact text not null check (impact in ('LOW', 'MEDIUM', 'HIGH')),
  resource_type text not null,
  resource_id text,
  actor_id uuid,
  request_id varchar(64),
  data jsonb,
  created_at timestamptz not null default clock_timestamp(),
  -- The id and the time are both set at the insert, so that a query for a period reads only its months.
  constraint events_have_the_id_of_their_time check (uuid_extract_version(id) = 7 and created_at between
    uuid_extract_timestamp(id) - interval '24 hours' and uuid_extract_timestamp(id) + interval '24 hours')
) partition by range (id);
create index events_by_time on events using brin (created_at) with (pages_per_range = 32);
-- For retention.
create index events_of_reads on events (created_at)
  where impact = 'LOW' and event not in ('USER_LOGGED_IN', 'USER_LOGGED_OUT');
create index events_of_resource on events (resource_id, id) where resource_id is not null;
create index events_of_actor on events (actor_id, id) where actor_id is not null;
