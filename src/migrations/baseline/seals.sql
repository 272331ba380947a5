-- Seals over the journals, signed by a key that is not in this database, and the journals of each seal.

-- Numbered without gaps. The JWS contains the number, the previous seal, and the digest of the journals; the other
-- columns repeat these, or serve the run that made the seal.
create table seals (
  number bigint primary key check (number > 0),
  previous bigint generated always as (nullif(number - 1, 0)) stored references seals (number),
  -- SHA-256 of the JWS.
  hash text not null,
  jws text not null,
  -- The run that made it, by which a repeated run finds its own seals.
  pass text not null,
  -- The last of its journals in id order, after which the next seal of the pass continues.
  last_journal_id uuid,
  sealed_at timestamptz not null,
  -- Every journal committed before this instant is in this seal or an earlier one.
  covers_until timestamptz
);
create index seals_of_pass on seals (pass, number);
create index seals_that_cover on seals (number) where covers_until is not null;
-- For finding the seal of an object in the file store.
create index seals_by_hash on seals (hash);

-- The seal of each journal, recorded because neither its date nor its id shows when a journal was committed. Without a
-- foreign key, which would write a lock into each journal's row.
create table seal_journals (
  journal_id uuid primary key,
  seal_number bigint not null references seals (number)
);
create index seal_journals_of_seal on seal_journals (seal_number);

create trigger seals_are_final before update or delete on seals for each row execute function refuse_change();
create trigger seals_are_kept before truncate on seals for each statement execute function refuse_change();
create trigger seal_journals_are_final before update or delete on seal_journals
  for each row execute function refuse_change();
create trigger seal_journals_are_kept before truncate on seal_journals
  for each statement execute function refuse_change();

-- Inserts a seal with its journals. Fails if a seal with this number exists.
create function write_seal(p_number bigint, p_hash text, p_jws text, p_pass text, p_sealed_at timestamptz,
  p_covers_until timestamptz, p_journals uuid[])
returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if p_sealed_at > clock_timestamp() or p_covers_until > p_sealed_at then
    raise exception 'sealed_at is not the transaction''s time' using errcode = 'AM010', detail = p_sealed_at::text;
  end if;
  insert into seals (number, hash, jws, pass, last_journal_id, sealed_at, covers_until)
    values (p_number, p_hash, p_jws, p_pass, p_journals[cardinality(p_journals)], p_sealed_at, p_covers_until);
  insert into seal_journals (journal_id, seal_number) select unnest(p_journals), p_number;
end $$;

-- The first instant after a day, in UTC+7.
create function end_of_day(p_day date) returns timestamptz language sql immutable parallel safe
  return (p_day + 1)::timestamp at time zone interval '7 hours';
-- A journal belongs to the day on which it was checked, and may be committed a little later. No transaction that posts
-- one lasts this long, so a seal that covers this much of the next day contains every journal of the day. Seals are
-- made at 01:00 UTC+7; the rest is tolerance for clocks.
create function committed_until(p_day date) returns timestamptz language sql immutable parallel safe
set search_path = pg_catalog, public, pg_temp as $$
  select end_of_day(p_day) + interval '30 minutes'
$$;
-- Whether the day is sealed: no journals can be added to it any more, so its data is final.
create function is_day_sealed(p_day date) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce((select covers_until >= committed_until(p_day) from seals where covers_until is not null
    order by number desc limit 1), false)
$$;

-- Journals are sealed each night. A journal that is unsealed after two days was skipped, or sealing has stopped.
create view check_journals_are_sealed as
  select j.id as journal_id, j.created_at from journals j
  where checks_read_all() and j.created_at < now() - interval '2 days'
    and not exists (select from seal_journals s where s.journal_id = j.id);
-- The export of a sealed day never changes (docs/contract.md 2): each of its journals, by UTC+7, is at the latest in
-- the first seal made half an hour into the next day.
create view check_sealed_days_are_whole as
  with dated as (
    select j.id, s.seal_number, (j.created_at at time zone interval '7 hours')::date as day
    from journals j left join seal_journals s on s.journal_id = j.id and s.journal_id >= checks_since()
    where j.id >= checks_since()),
  -- Evaluate once per day, not per journal.
  days as materialized (
    select d.day, (select min(c.number) from seals c
      where c.covers_until >= committed_until(d.day)) as covered_by
    from (select distinct day from dated) d)
  select d.id as journal_id, d.day, d.seal_number, y.covered_by from dated d join days y using (day)
  where y.covered_by is not null and (d.seal_number is null or d.seal_number > y.covered_by);
