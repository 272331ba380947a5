-- On a replica: returns once it has replayed the primary's log up to p_position, so that the next statement sees
-- everything committed before that position was read. Raises AM011 if that takes longer than p_within, if this is not a
-- replica (or was promoted and diverges), and if it is not known to follow the primary's timeline p_timeline, because
-- positions of different timelines cannot be compared. The control file records a new timeline some time after the
-- replay; until then a replica that follows it is refused too. Functions and rights are replicated, so this function is
-- created on the primary and called on the replica.
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
