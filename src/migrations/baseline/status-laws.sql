-- Allowed transitions of statuses. The law of each status is in the trigger beside its table: '>pending' is an initial
-- status, 'pending>succeeded' a transition, '*' allows every transition. Everything else is refused, whoever writes; a
-- status without transitions is final. A null column has no status yet. TypeScript files contain the same laws; a test
-- compares them, and finds every status column without a law.
--
-- SQLSTATE of ours: AM008 a status change that the law does not allow; the message names table, id and both statuses.
--
-- The laws are arguments of triggers because that is fastest: looking them up in a table makes a status change five
-- times slower, and a WHEN clause with the transitions, prepared each time, slows down every update of the table.

-- The name of a table or, for a partition, of the partitioned table.
create function whole_table(p_table oid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select c.relname::text from pg_class c
  where c.oid = coalesce((select i.inhparent from pg_inherits i where i.inhrelid = p_table), p_table)
$$;

-- Enforces the law of a column: the first argument is its name, the others are the allowed statuses and transitions.
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

-- For immutable rows of any table.
create function refuse_change() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception '% is never changed by %', whole_table(tg_relid), tg_op using errcode = 'AM003';
end $$;
