-- Where statuses may go. The law of each status is in the trigger beside its table: '>pending' is a status that a row
-- may begin with, 'pending>succeeded' a transition, '*' lets any status follow any other. What is not named is refused,
-- whoever asks; a status from which nothing leads is final. A column that is null has no status yet. The same laws are
-- in the TypeScript files of the kinds; a test compares them, and finds every column that has none.
--
-- SQLSTATE of ours: AM008 a status against its law; the message names table, id and both statuses.
--
-- They are arguments of triggers because that is cheapest: a look-up in a table costs a change of status five times as
-- much, and a WHEN clause that names the transitions costs every update of the table, as it is prepared each time.

-- The name of a table; of a partition, that of the table that is divided.
create function whole_table(p_table oid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select c.relname::text from pg_class c
  where c.oid = coalesce((select i.inhparent from pg_inherits i where i.inhrelid = p_table), p_table)
$$;

-- The law of a column: its name is the first argument, the others are what is allowed.
create function keep_status() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  was text;
  became text;
  subject text;
begin
  case tg_argv[0]
    when 'status' then was := old.status; became := new.status;
    when 'state' then was := old.state; became := new.state;
    when 'outcome' then was := old.outcome; became := new.outcome;
    when 'phase' then was := old.phase; became := new.phase;
    when 'verification_status' then was := old.verification_status; became := new.verification_status;
  end case;
  if was is not distinct from became or coalesce(was, '') || '>' || became = any (tg_argv)
    or was is not null and became is not null and '*' = any (tg_argv) then
    return new;
  end if;
  select string_agg(coalesce(to_jsonb(old), to_jsonb(new)) ->> a.attname, '/' order by a.attnum) into subject
    from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = tg_relid and i.indisprimary;
  raise exception '% %: % does not %', whole_table(tg_relid), subject, tg_argv[0],
      case when was is null then 'begin with ' || became
        else 'go from ' || was || ' to ' || coalesce(became, 'nothing') end
    using errcode = 'AM008', schema = 'public', table = whole_table(tg_relid), column = tg_argv[0];
end $$;

-- For what is final in any domain.
create function refuse_change() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception '% is never changed by %', whole_table(tg_relid), tg_op using errcode = 'AM003';
end $$;
