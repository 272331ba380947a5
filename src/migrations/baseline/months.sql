-- Unbounded tables are partitioned by month (UTC), so that old months can be archived and dropped, and indexes and
-- vacuums stay as small as a month.
--
-- The partition key is the id, a version 7 UUID, which contains its time, so the id alone is the primary key, unique
-- over all months, and finds its row in one partition. The database generates it (`uuidv7()`), because the clock of a
-- process may be hours off. Anything else that must be permanently unique is in a key table (e.g. journal_keys).
--
-- Partitions are in a separate schema in which only the owner has rights; everybody else accesses the partitioned
-- table. They are created in advance. A row whose month is missing goes to a default partition, is reported, and moves
-- to its month once that is created.
create schema months;

-- The smallest id of a row of this instant or later; ids begin with their milliseconds.
create function first_id_at(p_at timestamptz) returns uuid language sql immutable parallel safe
set search_path = pg_catalog, public, pg_temp as $$
  select (lpad(to_hex(least(greatest(floor(extract(epoch from p_at) * 1000), 0), 281474976710655)::bigint), 12, '0')
    || repeat('0', 20))::uuid
$$;

-- Months whose rows are only in the file store, where the manifest lists their objects.
create table archived_months (
  table_name text not null,
  month date not null check (extract(day from month) = 1),
  -- Its ids are from first_id to before next_id (first_id_at).
  first_id uuid not null,
  next_id uuid not null check (next_id > first_id),
  rows bigint not null check (rows >= 0),
  manifest_key text not null,
  manifest_sha256 text not null,
  archived_at timestamptz not null default now(),
  primary key (table_name, month)
);

-- Whether a row of this id was, or would be, in an archived month.
create function is_archived(p_table text, p_id uuid) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select exists (select from archived_months a
    where a.table_name = p_table and p_id >= a.first_id and p_id < a.next_id)
$$;

-- The name of the partition of a month.
create function month_name(p_table text, p_month date) returns text language sql immutable
set search_path = pg_catalog, public, pg_temp as $$
  select p_table || to_char(p_month::timestamp, '_YYYY_MM')
$$;

-- Creates the partition of the month, given by its first day, and moves rows that arrived before it. Does not block
-- other months; fails (55P03) instead of waiting, and with AM009 if the month is archived.
create function make_month(p_table text, p_month date) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms' as $$
declare
  partition_name constant text := month_name(p_table, p_month);
  default_name constant text := p_table || '_default';
  first_id constant uuid := first_id_at(p_month::timestamp at time zone 'UTC');
  next_id constant uuid := first_id_at((p_month + interval '1 month') at time zone 'UTC');
  referenced regclass;
begin
  -- One session at a time. This lock blocks no reader or writer.
  execute format('lock table only public.%I in share update exclusive mode', p_table);
  if to_regclass(format('months.%I', partition_name)) is not null then
    return;
  elsif is_archived(p_table, first_id) then
    raise exception 'the month % of % is archived', p_month, p_table using errcode = 'AM009';
  end if;
  if to_regclass(format('months.%I', default_name)) is null then
    execute format('create table months.%I partition of public.%I default', default_name, p_table);
  end if;
  execute format('create table months.%I (like public.%I including all)', partition_name, p_table);
  -- Acquire all locks here, before they are needed.
  for referenced in select k.confrelid::regclass from pg_constraint k
      where k.conrelid = format('public.%I', p_table)::regclass and k.contype = 'f' order by k.confrelid loop
    execute format('lock table only %s in share row exclusive mode', referenced);
  end loop;
  execute format('lock table months.%I in access exclusive mode', default_name);
  execute format('with strays as (delete from months.%I where id >= %L and id < %L returning *)
    insert into months.%I select * from strays', default_name, first_id, next_id, partition_name);
  execute format('alter table public.%I attach partition months.%I for values from (%L) to (%L)',
    p_table, partition_name, first_id, next_id);
end $$;

-- Creates one missing partition, from last month's to that of three months ahead, and returns its name, or null if all
-- exist.
create function make_coming_month() returns text language plpgsql
security definer set search_path = pg_catalog, public, pg_temp
set timezone = 'UTC' as $$
declare
  coming record;
begin
  select t.relname::text as table_name, m.at::date as month into coming
    from generate_series(date_trunc('month', now()) - interval '1 month', now() + interval '3 months', interval '1 month')
      m (at)
    cross join pg_class t
    where t.relnamespace = 'public'::regnamespace and t.relkind = 'p'
      and to_regclass(format('months.%I', month_name(t.relname, m.at::date))) is null
      and not is_archived(t.relname, first_id_at(m.at))
    order by m.at, t.relname limit 1;
  if not found then
    return null;
  end if;
  perform make_month(coming.table_name, coming.month);
  return month_name(coming.table_name, coming.month);
end $$;

-- Problems of the partitions: this month's, the next one's or the default partition is missing, or rows are in the
-- default partition.
create function find_month_problems() returns table (table_name text, problem text) language plpgsql stable
security definer set search_path = pg_catalog, public, pg_temp
set timezone = 'UTC' as $$
declare
  has_default boolean;
  strays bigint;
begin
  for table_name in select t.relname from pg_class t
      where t.relnamespace = 'public'::regnamespace and t.relkind = 'p' order by 1 loop
    return query select table_name, 'has no partition for ' || to_char(m.at, 'YYYY-MM')
      from generate_series(date_trunc('month', now()), now() + interval '1 month', interval '1 month') m (at)
      where not exists (select from pg_inherits i join pg_class p on p.oid = i.inhrelid
        where i.inhparent = format('public.%I', table_name)::regclass
          and p.relname = month_name(table_name, m.at::date));
    has_default := to_regclass(format('months.%I', table_name || '_default')) is not null;
    if has_default then
      execute format('select count(*) from (select from months.%I limit 10000) strays', table_name || '_default')
        into strays;
    end if;
    if not has_default or strays > 0 then
      problem := case when has_default then strays || ' rows (10000 at most) have no partition for their month'
        else 'has no default partition' end;
      return next;
    end if;
  end loop;
end $$;

-- The partitions of this month and the next exist, and no row is in a default partition.
create view check_months_are_made as select table_name, problem from find_month_problems();
