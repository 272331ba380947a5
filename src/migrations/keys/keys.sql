-- The keys of people, in a database of their own: whoever is erased is erased from every copy of everything else once the
-- last backup of this one has gone. The keys here are sealed themselves, under DATA_ENCRYPTION_KEYS.

revoke all on schema public from public;
grant usage on schema public to amanah_app;

-- A key for each person. One that was destroyed leaves its row, so that none is ever made again under its id.
create table personal_keys (
  id uuid primary key,
  key_sealed text,
  -- Whether the person's row in the main database has been seen, and stays: a key that nobody came to use, or whose person
  -- was invited and has gone, is swept. No transaction that makes use of a new key takes a day.
  is_settled boolean not null default false,
  look_after timestamptz not null default clock_timestamp() + interval '1 day',
  erased_at timestamptz,
  check ((key_sealed is null) = (erased_at is not null))
);
create index personal_keys_erased on personal_keys (id) where erased_at is not null;
create index personal_keys_unsettled on personal_keys (look_after) where not is_settled;

-- The key of the digests by which sealed texts are found.
create table look_up_keys (
  id text primary key,
  key_sealed text not null
);

-- What was destroyed stays destroyed, and a key in use is never replaced or swept: only sealed anew, or destroyed.
create function keep_personal_key() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if old.is_settled or old.erased_at is not null then
      raise exception 'a key is destroyed, never deleted' using errcode = 'AM003', detail = old.id::text;
    end if;
    return old;
  end if;
  if old.erased_at is not null or new.id <> old.id or old.is_settled and not new.is_settled then
    raise exception 'a key that was destroyed stays so' using errcode = 'AM003', detail = old.id::text;
  end if;
  return new;
end $$;
create trigger personal_keys_are_kept before update or delete on personal_keys
  for each row execute function keep_personal_key();

revoke execute on all functions in schema public from public;
-- PostgreSQL lets everybody call a new function; this is said of functions that the owner makes later.
alter default privileges revoke execute on functions from public;
grant select, insert, delete on personal_keys to amanah_app;
grant update (key_sealed, is_settled, look_after, erased_at) on personal_keys to amanah_app;
grant select, insert, update (key_sealed) on look_up_keys to amanah_app;
