-- The closing balance of each account for each day, stored once the day is sealed, so that old statements and
-- settlements need not read all earlier postings.

-- The closed days, without gaps from the first day with a posting, in UTC+7.
create table closed_days (
  day date primary key,
  closed_at timestamptz not null default now()
);
-- An account's closing balance; a row for each day with postings, valid until the next row.
create table closings (
  account_id uuid not null,
  day date not null,
  balance numeric(30, 4) not null,
  primary key (account_id, day)
);

create trigger closed_days_are_final before update or delete on closed_days
  for each row execute function refuse_change();
create trigger closed_days_are_kept before truncate on closed_days for each statement execute function refuse_change();
create trigger closings_are_final before update or delete on closings for each row execute function refuse_change();
create trigger closings_are_kept before truncate on closings for each statement execute function refuse_change();

-- Closes the day after the last closed one, if it is sealed. Returns it, or null if there is no day to close, or
-- another session is closing it.
create function close_day() returns date language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  closing date := coalesce((select max(day) + 1 from closed_days),
    (select (min(created_at) at time zone interval '7 hours')::date from postings));
begin
  if not is_day_sealed(closing) then
    return null;
  end if;
  -- A second session waits here for the first.
  insert into closed_days (day) values (closing) on conflict do nothing;
  if not found then
    return null;
  end if;
  insert into closings (account_id, day, balance)
    select m.account_id, closing, m.amount + coalesce(
      (select c.balance from closings c where c.account_id = m.account_id order by c.day desc limit 1), 0)
    from (select p.account_id, sum(p.amount) as amount from postings p
      where p.created_at >= end_of_day(closing - 1) and p.created_at < end_of_day(closing) group by p.account_id) m;
  return closing;
end $$;

-- An account's balance just before an instant, in IDR: the closing balance of the last day closed by then, plus later
-- postings, of at most two days if days are sealed each night.
create function balance_before(p_account_id uuid, p_at timestamptz) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  with closed as (select coalesce(max(day), '-infinity') as day from closed_days
    where day <= (p_at at time zone interval '7 hours')::date - 1)
  select coalesce((select c.balance from closings c where c.account_id = p_account_id and c.day <= closed.day
      order by c.day desc limit 1), 0)
    + coalesce((select sum(p.amount) from postings p where p.account_id = p_account_id
      and p.created_at >= end_of_day(closed.day) and p.created_at < p_at), 0)
  from closed
$$;

-- An account's balance just after one of its journals, in the order of its statement, in IDR.
create function balance_after(p_account_id uuid, p_journal_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select balance_before(p_account_id, last.created_at) + (select sum(p.amount) from postings p
    where p.account_id = p_account_id and p.created_at = last.created_at and p.id <= last.id)
  from (select created_at, max(id) as id from postings
    where journal_id = p_journal_id and account_id = p_account_id group by created_at) last
$$;

-- Each closing is the previous one plus the postings of its day, and every account with postings on a closed day has a
-- closing. Reads all history, so it runs at night.
create view check_closings_match_postings as
  with closed as (select max(day) as day from closed_days),
  told as (
    select account_id, day, balance - coalesce(lag(balance) over (partition by account_id order by day), 0) as amount
    from closings),
  posted as (
    select p.account_id, (p.created_at at time zone interval '7 hours')::date as day, sum(p.amount) as amount
    from postings p where p.created_at < (select end_of_day(day) from closed) group by 1, 2)
  select account_id, day, told.amount as closed, posted.amount as posted
  from told full join posted using (account_id, day)
  where checks_read_all() and told.amount is distinct from posted.amount;
