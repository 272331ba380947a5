-- On a replica: returns when it has replayed the primary's log up to p_position, so that everything committed before
-- that position was read is visible to the next statement. Raises AM011 when that takes longer than p_within; in a
-- database that is no replica, or no longer one, since a promoted one diverges; and when it is not known to replay the
-- primary's timeline p_timeline, because the same position on another timeline is another past. The control file
-- records a new timeline some time after the replay, and until then a replica that follows it is refused, too.
-- Functions and rights are replicated, so this one is created on the primary and called on the replica.
create function await_replay(p_position pg_lsn, p_timeline integer, p_within interval) returns void
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  ends_at constant timestamptz := clock_timestamp() + p_within;
begin
  if not pg_is_in_recovery() then
    raise exception 'this is not a replica' using errcode = 'AM011';
  end if;
  if p_timeline is distinct from greatest((select min_recovery_end_timeline from pg_control_recovery()),
      (select timeline_id from pg_control_checkpoint())) then
    raise exception 'the replica is not known to follow timeline %', p_timeline using errcode = 'AM011';
  end if;
  while pg_last_wal_replay_lsn() is null or pg_last_wal_replay_lsn() < p_position loop
    if clock_timestamp() >= ends_at then
      raise exception 'the replica has not replayed %', p_position using errcode = 'AM011';
    end if;
    perform pg_sleep(0.002);
  end loop;
end $$;
