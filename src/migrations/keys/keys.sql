-- People's keys, in a separate database: an erased person's data is unreadable in every copy of everything else once
-- the last backup of this database with the key has expired. The keys themselves are sealed under DATA_ENCRYPTION_KEYS.

revoke all on schema public from public;
grant usage on schema public to amanah_keys;

-- A destroyed key must also disappear from its table's file. Autovacuum runs every minute and frees its dead row, but
-- only later writes overwrite the space. So the new row is as long as the old one (`overwritten`) and is stored on the
-- same page, which has room for it.

-- A key for each person. The row of a destroyed key stays, so that no key is created again under its id.
create table personal_keys (
  id uuid primary key,
  key_sealed text,
  -- Whether the person's row in the main database has been seen and is permanent. Keys without such a row, e.g. of a
  -- deleted invited person, are swept after a day; no transaction that uses a new key takes that long.
  is_settled boolean not null default false,
  look_after timestamptz not null default clock_timestamp() + interval '1 day',
  erased_at timestamptz,
  overwritten text,
  check ((key_sealed is null) = (erased_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
create index personal_keys_erased on personal_keys (id) where erased_at is not null;
create index personal_keys_unsettled on personal_keys (look_after) where not is_settled;

-- The key of the digests by which sealed texts are found.
create table look_up_keys (
  id text primary key,
  key_sealed text not null
);

-- A destroyed key stays destroyed. A key in use is never replaced or swept, only re-encrypted or destroyed.
create function keep_personal_key() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if old.is_settled or old.erased_at is not null then
      raise exception 'a key can be destroyed but not deleted' using errcode = 'AM003', detail = old.id::text;
    end if;
    return old;
  end if;
  if old.erased_at is not null or new.id <> old.id or old.is_settled and not new.is_settled then
    raise exception 'a destroyed key cannot be restored' using errcode = 'AM003', detail = old.id::text;
  end if;
  return new;
end $$;
create trigger personal_keys_are_kept before update or delete on personal_keys
  for each row execute function keep_personal_key();

-- A key for each payment, payout, refund and batch of a partner that names a customer or a beneficiary. The row of a
-- destroyed key stays, so that no key is created again under its id.
create table order_keys (
  id uuid primary key,
  key_sealed text,
  -- The start of its retention: its creation, or later if the order was still open.
  kept_since timestamptz not null default clock_timestamp(),
  erased_at timestamptz,
  overwritten text,
  check ((key_sealed is null) = (erased_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
create index order_keys_by_age on order_keys (kept_since) where erased_at is null;

create function keep_order_key() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' or old.erased_at is not null or new.id <> old.id then
    raise exception 'a key can only be re-encrypted, or destroyed once' using errcode = 'AM003', detail = old.id::text;
  end if;
  return new;
end $$;
create trigger order_keys_are_kept before update or delete on order_keys
  for each row execute function keep_order_key();

-- Returns true if this database has the agreed keys, identified by the stored form of its look-up key; raises an error
-- otherwise. Part of every statement on keys, because a new connection may reach another database. Stable, so that it
-- is evaluated once and first, whatever rows there are.
create function are_agreed_keys(p_look_up_key_sealed text) returns boolean language plpgsql stable
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from look_up_keys where id = 'email' and key_sealed = p_look_up_key_sealed) then
    raise exception 'this database does not have the agreed keys' using errcode = 'AM011';
  end if;
  return true;
end $$;

revoke execute on all functions in schema public from public;
-- By default everybody may call a new function; this revokes that for functions that the owner creates later.
alter default privileges revoke execute on functions from public;
grant select, insert, delete on personal_keys to amanah_keys;
grant update (key_sealed, is_settled, look_after, erased_at, overwritten) on personal_keys to amanah_keys;
grant select, insert, update (key_sealed) on look_up_keys to amanah_keys;
grant select, insert, update (key_sealed, kept_since, erased_at, overwritten) on order_keys to amanah_keys;
grant execute on function are_agreed_keys to amanah_keys;
-- Processes compare it with the migrations of their release.
grant select on schema_migrations to amanah_keys;
