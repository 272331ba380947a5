-- On a replica: returns when it has replayed the primary's log up to p_position, so that what was committed before that
-- position was asked for is visible to the next statement. Refuses (AM011) when that takes longer than p_within, and in a
-- database that is no replica (any more): a promoted one goes its own way. Functions and rights come with the log, so
-- this one is made on the primary and called on the replica.
create function await_replay(p_position pg_lsn, p_within interval) returns void
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  ends_at constant timestamptz := clock_timestamp() + p_within;
begin
  if not pg_is_in_recovery() then
    raise exception 'this is not a replica' using errcode = 'AM011';
  end if;
  while pg_last_wal_replay_lsn() is null or pg_last_wal_replay_lsn() < p_position loop
    if clock_timestamp() >= ends_at then
      raise exception 'the replica has not replayed %', p_position using errcode = 'AM011';
    end if;
    perform pg_sleep(0.002);
  end loop;
end $$;
