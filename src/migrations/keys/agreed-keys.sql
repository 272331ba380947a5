-- Whether this database has the keys that were agreed on, by how their look-up key is stored; raises where it has not. A
-- part of each statement on keys, as a connection made anew may lead elsewhere. Stable, so that as a condition of its own it
-- is judged once and first, whatever rows there are.
create or replace function are_agreed_keys(p_look_up_key_sealed text) returns boolean language plpgsql stable
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from look_up_keys where id = 'email' and key_sealed = p_look_up_key_sealed) then
    raise exception 'other keys than those agreed on' using errcode = 'AM011';
  end if;
  return true;
end $$;

revoke execute on function are_agreed_keys from public;
grant execute on function are_agreed_keys to amanah_app;
