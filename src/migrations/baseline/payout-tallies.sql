-- Totals for the limits of a rolling hour and day, by owner and ten-minute interval, so that a reservation, which holds
-- its owner's lock, need not read every payout of the day. Triggers maintain them in the same transaction. For the
-- interval in which a window begins, the payouts themselves are read, so that a total is exact to the instant.

-- The payouts that count towards limits, with the owner of the limits and the amount: those of partners, including
-- refunds by transfer, and withdrawals, but not refunds to the wallet that paid or disbursements. A failed payout
-- counts as one payout of amount zero, unless its money left after all.
create view limited_payouts as
  select p.id, p.partner_id as owner_id, case when p.status = 'failed' and not p.has_left then 0 else p.amount end as amount,
    p.created_at
  from payouts p where p.kind <> 'withdrawal' and p.refund_of is null
  union all
  select w.id, w.user_id, case when p.status = 'failed' and not p.has_left then 0 else p.amount end, w.created_at
  from withdrawals w join payouts p on p.id = w.id where w.cause_id is null;

create table payout_tallies (
  -- A partner or a user.
  owner_id uuid not null,
  starts_at timestamptz not null,
  -- Without failed ones.
  amount numeric(20, 4) not null check (amount >= 0),
  -- With failed ones.
  payouts integer not null check (payouts >= 0),
  primary key (owner_id, starts_at)
) with (fillfactor = 60);
create index payout_tallies_by_time on payout_tallies (starts_at);

-- The beginning of an instant's interval, which is ten minutes long.
create function tally_start(p_at timestamptz) returns timestamptz language sql immutable
set search_path = pg_catalog, public, pg_temp as $$
  select date_bin('10 minutes', p_at, timestamptz '2000-01-01 00:00:00+00')
$$;

-- Counts a payout when the row that determines the owner of its limits is inserted: its own, or the withdrawal's.
create function tally_payout() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into payout_tallies as t (owner_id, starts_at, amount, payouts)
    select l.owner_id, tally_start(l.created_at), l.amount, 1 from limited_payouts l where l.id = new.id
    on conflict (owner_id, starts_at) do update set amount = t.amount + excluded.amount, payouts = t.payouts + 1;
  return null;
end $$;
create trigger payouts_are_tallied after insert on payouts for each row
  when (new.partner_id is not null) execute function tally_payout();
create trigger withdrawals_are_tallied after insert on withdrawals for each row execute function tally_payout();

-- Subtracts the amount of a failed payout, which still counts as one payout; adds it again if the money left after all.
-- Changes nothing if the interval has been deleted.
create function change_tally() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update payout_tallies t set amount = t.amount + case when new.status = 'failed' and not new.has_left then -new.amount else new.amount end
    from limited_payouts l
    where l.id = new.id and t.owner_id = l.owner_id and t.starts_at = tally_start(l.created_at);
  return null;
end $$;
create trigger payouts_change_their_tally after update on payouts for each row
  when ((new.status = 'failed' and not new.has_left) <> (old.status = 'failed' and not old.has_left))
  execute function change_tally();

-- An owner's reservations after an instant of the last two days: the totals of the intervals that begin after it, and
-- the payouts of its own interval.
create function reserved_since(p_owner_id uuid, p_since timestamptz, out amount numeric, out payouts integer)
language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(part.amount), 0), coalesce(sum(part.payouts), 0)::integer from (
    select t.amount, t.payouts from payout_tallies t where t.owner_id = p_owner_id and t.starts_at > p_since
    union all
    select l.amount, 1 from limited_payouts l where l.owner_id = p_owner_id
      and l.created_at > p_since and l.created_at < tally_start(p_since) + interval '10 minutes') part
$$;

-- The tallies of the last day match its payouts.
create view check_payout_tallies_match_payouts as
  select owner_id, starts_at, coalesce(t.amount, 0) as amount, coalesce(l.amount, 0) as counted_amount,
    coalesce(t.payouts, 0) as payouts, coalesce(l.payouts, 0) as counted_payouts
  from (select * from payout_tallies where starts_at >= tally_start(now() - interval '24 hours')) t
  full join (select owner_id, tally_start(created_at) as starts_at, sum(amount) as amount, count(*) as payouts
    from limited_payouts where created_at >= tally_start(now() - interval '24 hours') group by 1, 2) l using (owner_id, starts_at)
  where coalesce(t.amount, 0) <> coalesce(l.amount, 0) or coalesce(t.payouts, 0) <> coalesce(l.payouts, 0);
