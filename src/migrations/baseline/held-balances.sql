-- Locks balances before money moves.

-- A transaction that writes several journals first locks the balances of all of them in each journal's order
-- (src/ledger/lock-order.ts): shard 0 of the debited accounts by id, then this connection's shards of the credited
-- accounts by id, which are created here if missing.
create function hold_balances(p_debited uuid[], p_credited uuid[]) returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  credit_shard constant smallint := 1 + pg_backend_pid() % 16;
  credited uuid;
begin
  perform from account_balances b where b.account_id = any (p_debited) and b.shard = 0
    order by b.account_id for no key update;
  -- One by one, so that inserted rows are locked in id order like existing ones.
  for credited in select a.id from accounts a where a.id = any (p_credited) order by a.id loop
    insert into account_balances (account_id, shard, balance) values (credited, credit_shard, 0) on conflict do nothing;
    perform from account_balances b where b.account_id = credited and b.shard = credit_shard for no key update;
  end loop;
end $$;
