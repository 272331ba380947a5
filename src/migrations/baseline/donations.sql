-- Donations and allocations of open donations. An allocated donation cannot be allocated again (AM003).

create table donation_allocations (
  id uuid primary key,
  attempt_id uuid not null,
  cause_id uuid not null references charitable_causes (id),
  donation_count integer not null check (donation_count > 0),
  total_amount numeric(20, 4) not null check (total_amount > 0 and total_amount < 'Infinity'),
  journal_id uuid not null references journals (id),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now()
);

create index donation_allocations_of_creator on donation_allocations (created_by);
-- For the checks, which read new rows.
create index donation_allocations_by_time on donation_allocations using brin (created_at)
  with (pages_per_range = 16, autosummarize = on);

create table donations (
  id uuid primary key,
  user_id uuid not null references users (id),
  type text not null check (type in ('specific', 'open', 'subscription')),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  status text not null check (status in ('pending', 'completed', 'failed', 'refunded')),
  cause_id uuid,
  allocation_batch_id uuid,
  transaction_id uuid,
  payment_order_id uuid,
  subscription_id uuid,
  period integer,
  -- The transaction that refunded it.
  refund_transaction_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((type = 'open') or (cause_id is not null and allocation_batch_id is null)),
  check ((type <> 'open') or ((cause_id is null) = (allocation_batch_id is null))),
  check ((status in ('completed', 'refunded')) = (transaction_id is not null)),
  check ((status = 'refunded') = (refund_transaction_id is not null)),
  -- An allocated donation is not refunded.
  check (allocation_batch_id is null or status = 'completed'),
  check ((type = 'subscription') = (subscription_id is not null)),
  check ((subscription_id is null) = (period is null))
);
create index donations_of_user on donations (user_id, created_at desc, id desc);
create index donations_of_cause on donations (cause_id, user_id) where status = 'completed' and cause_id is not null;
create index donations_unallocated on donations (created_at, id)
  where type = 'open' and status = 'completed' and cause_id is null;
-- For the checks; see payment_orders_by_change.
create index donations_by_change on donations using brin (updated_at) with (pages_per_range = 16, autosummarize = on);
create unique index donations_of_order on donations (payment_order_id) where payment_order_id is not null;
create unique index donations_of_subscription on donations (subscription_id, period) where subscription_id is not null;
create index donations_of_batch on donations (allocation_batch_id) where allocation_batch_id is not null;
create index donations_allocated_by_change on donations (updated_at) where allocation_batch_id is not null;
create trigger donations_status_law before insert or update of status on donations
  for each row execute function keep_status('status', '>pending', '>completed', 'pending>completed', 'pending>failed',
    'completed>refunded');

-- Adds new donations to their causes' totals, in a shard chosen by the connection, so that donors do not wait for each
-- other.
create function count_new_donations() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into cause_totals (cause_id, shard, donated, donations)
    select n.cause_id, 1 + pg_backend_pid() % 16, sum(n.amount), count(*)
    from new_donations n where n.status = 'completed' and n.cause_id is not null
    group by n.cause_id order by n.cause_id
    on conflict (cause_id, shard) do update
      set donated = cause_totals.donated + excluded.donated, donations = cause_totals.donations + excluded.donations;
  return null;
end $$;
create trigger new_donations_are_counted after insert on donations
  referencing new table as new_donations for each statement execute function count_new_donations();

-- Counts donations that are completed, allocated or refunded, and refuses changes to a donation's amount and target.
-- Refunds and allocations are counted before the journal that they prove, payments after it. The former use shard 0,
-- for which no donor waits; their transactions have already locked the balance of the cause (lock_refund) or of the
-- pool.
create function count_changed_donations() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform 1 from old_donations o join new_donations n using (id)
    where (o.user_id, o.type, o.amount, o.payment_order_id, o.subscription_id, o.period)
        is distinct from (n.user_id, n.type, n.amount, n.payment_order_id, n.subscription_id, n.period)
      or (o.cause_id is not null and o.cause_id is distinct from n.cause_id)
      or (o.allocation_batch_id is not null and o.allocation_batch_id is distinct from n.allocation_batch_id)
      or (o.transaction_id is not null and o.transaction_id is distinct from n.transaction_id)
      or (o.refund_transaction_id is not null and o.refund_transaction_id is distinct from n.refund_transaction_id);
  if found or (select count(*) from old_donations) <> (select count(*) from old_donations join new_donations using (id))
  then
    raise exception 'the amount and target of a donation cannot change' using errcode = 'AM003';
  end if;
  insert into cause_totals (cause_id, shard, donated, donations)
    select n.cause_id, case o.status when 'completed' then 0 else 1 + pg_backend_pid() % 16 end,
      sum(n.amount * c.counts), sum(c.counts)
    from old_donations o join new_donations n using (id)
    cross join lateral (select (n.status = 'completed' and n.cause_id is not null)::integer
      - (o.status = 'completed' and o.cause_id is not null)::integer as counts) c
    where c.counts <> 0
    group by 1, 2 order by 1, 2
    on conflict (cause_id, shard) do update
      set donated = cause_totals.donated + excluded.donated, donations = cause_totals.donations + excluded.donations;
  return null;
end $$;
create trigger changed_donations_are_counted after update on donations
  referencing old table as old_donations new table as new_donations
  for each statement execute function count_changed_donations();

-- Records an e-mail receipt for each donor, in one statement for many donations.
create function tell_of_new_donations() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into mails (id, user_id, kind, resource_id)
    select uuidv7(), n.user_id, case when n.subscription_id is null then 'donation' else 'subscription_period' end, n.id
    from new_donations n join users u on u.id = n.user_id
    where n.status = 'completed' and u.email_confirmed_at is not null and u.takes_receipts and u.status = 'active'
    on conflict do nothing;
  return null;
end $$;
create trigger new_donations_are_told after insert on donations
  referencing new table as new_donations for each statement execute function tell_of_new_donations();

-- As tell_of_new_donations, for donations completed later; also names the cause to which an open donation was
-- allocated.
create function tell_of_changed_donations() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into mails (id, user_id, kind, resource_id)
    select uuidv7(), n.user_id, case o.status when 'completed' then 'allocation' else 'donation' end, n.id
    from old_donations o join new_donations n using (id) join users u on u.id = n.user_id
    where n.status = 'completed' and (o.status <> 'completed' or o.cause_id is distinct from n.cause_id)
      and u.email_confirmed_at is not null and u.takes_receipts and u.status = 'active'
    on conflict do nothing;
  return null;
end $$;
create trigger changed_donations_are_told after update on donations
  referencing old table as old_donations new table as new_donations
  for each statement execute function tell_of_changed_donations();

create trigger donations_are_kept before delete on donations for each row execute function refuse_change();
create trigger donations_stay before truncate on donations for each statement execute function refuse_change();
create trigger allocations_are_final before update or delete on donation_allocations
  for each row execute function refuse_change();

-- Applies a paid donation, on both rails: completes the pending row of its order, or inserts a new row.
create function settle_donation(p_type text, p_user_id uuid, p_cause_id uuid, p_amount numeric, p_order_id uuid,
  p_transaction_id uuid, p_subscription_id uuid default null, p_period integer default null,
  p_request_id text default null)
returns uuid language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  settled uuid;
  happened text := 'RESOURCE_UPDATED';
begin
  if p_order_id is not null then
    update donations set status = 'completed', transaction_id = p_transaction_id, updated_at = now()
      where payment_order_id = p_order_id and status = 'pending' returning id into settled;
  end if;
  if settled is null then
    happened := 'RESOURCE_CREATED';
    insert into donations (id, user_id, type, amount, status, cause_id, transaction_id, payment_order_id,
        subscription_id, period)
      values (uuidv7(), p_user_id, p_type, p_amount, 'completed', p_cause_id, p_transaction_id, p_order_id,
        p_subscription_id, p_period) returning id into settled;
  end if;
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
    values (happened, 'MEDIUM', 'donation', settled::text, p_user_id, p_request_id,
      jsonb_build_object('status', 'completed', 'transaction_id', p_transaction_id));
  -- Gateway money is accepted whatever the cause's current status.
  if p_order_id is null then
    perform hold_causes(array[p_cause_id]);
  end if;
  return settled;
end $$;

-- As settle_donation, for donations paid together from balances, to the causes that they name or to the open pool.
create function settle_donations(p_type text, p_paid balance_payment[]) returns bigint language plpgsql strict
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan as $$
begin
  with due as materialized (select p.*, uuidv7() as id from unnest(p_paid) p),
  given as (
    insert into donations (id, user_id, type, amount, status, cause_id, transaction_id)
      select d.id, d.user_id, p_type, d.amount, 'completed', case when p_type <> 'open' then d.reference_id end,
        d.transaction_id
      from due d)
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
    select 'RESOURCE_CREATED', 'MEDIUM', 'donation', d.id::text, d.user_id, d.request_id,
      jsonb_build_object('status', 'completed', 'transaction_id', d.transaction_id)
    from due d;
  if p_type <> 'open' then
    perform hold_causes(array(select distinct p.reference_id from unnest(p_paid) p));
  end if;
  return cardinality(p_paid);
end $$;

-- The account to which a donation is refunded: the account that paid it or, if the gateway did, the donor's oldest
-- account. Null for an account of another kind: nothing proves the accounts of a transaction.
create function refund_account(p_donation_id uuid) returns uuid language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select case when t.destination_account_id is not null then (
      select a.id from accounts a where a.id = t.source_account_id and a.kind in ('user', 'organization')) else (
      select a.id from accounts a
      where case u.user_type when 'organization' then a.kind = 'organization' and a.organization_id = u.organization_id
        else a.kind = 'user' and a.user_id = u.id end
      order by a.created_at, a.id limit 1) end
  from donations d join transactions t on t.id = d.transaction_id join users u on u.id = d.user_id
  where d.id = p_donation_id
$$;

-- Locks the rows of a refund until the transaction ends: the donation, then the balance that pays it.
create function lock_refund(p_donation_id uuid) returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from donations d where d.id = p_donation_id for no key update;
  perform from account_balances b where b.shard = 0 and b.account_id = (
      select coalesce(c.account_id, '00000000-0000-4000-8000-000000000005')
      from donations d left join charitable_causes c on c.id = d.cause_id where d.id = p_donation_id)
    for update;
end $$;

-- Each paid donation has its own ledger line, each refunded donation a second one, and each of these lines has a
-- donation.
create view check_donations_posted_once as
  select d.id as donation_id, 'the price row of the donation is missing or differs' as problem
  from donations d left join transactions t on t.id = d.transaction_id
  where d.transaction_id is not null and d.updated_at >= checks_since_time()
    and (t.id is null or (t.amount, t.type, t.user_id, t.reference_type) <> (d.amount, 'price', d.user_id, 'donation'))
  union all
  select min(d.id::text)::uuid, 'several donations share transaction ' || d.transaction_id
  from donations d where d.transaction_id is not null and d.updated_at >= checks_since_time()
  group by d.transaction_id having count(*) > 1
  union all
  select d.id, 'the reversed row of the donation is missing or differs'
  from donations d left join transactions t on t.id = d.refund_transaction_id
  where d.refund_transaction_id is not null and d.updated_at >= checks_since_time()
    and (t.id is null or (t.amount, t.type, t.user_id, t.reference_type, t.status)
        <> (d.amount, 'price', d.user_id, 'donation', 'reversed')
      or t.batch_id is distinct from (select k.journal_id from journal_keys k
        where k.business_key = 'donation/' || d.id || '/refunded'))
  union all
  -- Compare sets, so that the planner never compares every row with every other.
  select id, 'a transaction into a cause or the pool has no donation'
  from (
    select t.id from transactions t
    where t.reference_type = 'donation' and t.type = 'price' and t.created_at >= checks_since_time()
      and (t.reference_id = '00000000-0000-4000-8000-000000000005'
        or t.reference_id in (select c.id from charitable_causes c))
    -- A donation changed in the transaction that paid it.
    except select d.transaction_id from donations d
      where d.transaction_id is not null and d.updated_at >= checks_since_time()
    except select d.refund_transaction_id from donations d
      where d.refund_transaction_id is not null and d.updated_at >= checks_since_time()
    except select t.id from donation_allocations a join transactions t on t.batch_id = a.journal_id
      where t.created_at >= checks_since_time()) unexplained;
-- The totals of causes are the sums of their donations, net of refunds.
create view check_cause_totals_match_donations as
  select cause_id, t.donated, t.donations, d.amount as received, d.count as rows
  from (select cause_id, sum(donated) as donated, sum(donations) as donations from cause_totals group by cause_id) t
  full join (select cause_id, sum(amount) as amount, count(*) as count from donations
    where status = 'completed' and cause_id is not null group by cause_id) d using (cause_id)
  where checks_read_all()
    and (coalesce(t.donated, 0) <> coalesce(d.amount, 0) or coalesce(t.donations, 0) <> coalesce(d.count, 0))
  union all
  select d.cause_id, null, null, null, count(*) from donations d
  where d.cause_id is not null and d.updated_at >= checks_since_time()
    and not exists (select from charitable_causes c where c.id = d.cause_id)
  group by d.cause_id;
-- An allocation's amount is the sum of its donations, and was posted.
create view check_allocations_match_donations as
  select a.id as batch_id, a.donation_count, d.count, a.total_amount, d.amount, p.amount as posted
  from donation_allocations a
  join charitable_causes c on c.id = a.cause_id
  left join lateral (select count(*) as count, sum(amount) as amount from donations
    where allocation_batch_id = a.id and cause_id = a.cause_id) d on true
  left join lateral (select sum(amount) as amount from postings
    where journal_id = a.journal_id and account_id = c.account_id) p on true
  where a.created_at >= checks_since_time() and (a.donation_count <> d.count
    or a.total_amount is distinct from d.amount or a.total_amount is distinct from p.amount)
  union all
  select d.allocation_batch_id, null, count(*), null, sum(d.amount), null from donations d
  where d.allocation_batch_id is not null and d.updated_at >= checks_since_time()
    and not exists (select from donation_allocations a where a.id = d.allocation_batch_id)
  group by d.allocation_batch_id;
-- A subscription has one donation per paid period, and fails after three refusals of one period.
create view check_subscriptions_paid_once as
  select s.id as subscription_id, 'periods paid, attempts and donations differ' as problem
  from donation_subscriptions s
  where s.updated_at >= checks_since_time() and (s.periods_paid <> (select count(*) from donation_subscription_attempts a
      where a.subscription_id = s.id and a.outcome = 'paid')
    or s.periods_paid <> (select count(*) from donations d join donation_subscription_attempts a
      on a.subscription_id = d.subscription_id and a.period = d.period and a.outcome = 'paid'
      where d.subscription_id = s.id and d.amount = s.amount and d.cause_id = s.cause_id and d.user_id = s.user_id)
    or s.periods_paid <> (select count(*) from donations d where d.subscription_id = s.id))
  union all
  select s.id, 'failed does not match three refusals of one period'
  from donation_subscriptions s
  where s.updated_at >= checks_since_time() and (s.status = 'failed') <> exists (select from donation_subscription_attempts a
    where a.subscription_id = s.id and a.outcome = 'refused' and a.attempt = 3);
