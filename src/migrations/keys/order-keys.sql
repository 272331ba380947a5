-- A key for each payment, payout and refund of a partner that names a customer or a beneficiary. One that was destroyed
-- leaves its row, so that none is ever made again under its id.
create table order_keys (
  id uuid primary key,
  key_sealed text,
  -- From when the time counts for which it is kept: since it was made, or later where the order was not over by then.
  kept_since timestamptz not null default clock_timestamp(),
  erased_at timestamptz,
  check ((key_sealed is null) = (erased_at is not null))
);
create index order_keys_by_age on order_keys (kept_since) where erased_at is null;

create function keep_order_key() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' or old.erased_at is not null or new.id <> old.id then
    raise exception 'a key is sealed anew or destroyed, once' using errcode = 'AM003', detail = old.id::text;
  end if;
  return new;
end $$;
create trigger order_keys_are_kept before update or delete on order_keys
  for each row execute function keep_order_key();

revoke execute on function keep_order_key() from public;
grant select, insert, update (key_sealed, kept_since, erased_at) on order_keys to amanah_app;
