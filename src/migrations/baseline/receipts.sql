-- Receipts: every payment that the provider confirmed, either applied to an order or a partner's payment, or in
-- suspense.

create table receipts (
  id uuid primary key,
  provider text not null default 'xendit',
  provider_payment_id text not null unique,
  provider_payment_method_id text not null,
  reference text not null,
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  state text not null check (state in ('applied', 'suspended', 'credited', 'refunded')),
  reason text check (reason in ('late', 'double', 'wrong_amount', 'unknown')),
  order_id uuid references payment_orders (id),
  partner_payment_id uuid references partner_payments (id),
  account_id uuid references accounts (id),
  settled_by uuid references users (id),
  note varchar(300),
  -- When we received it, which determines the day of the provider's records that it is compared with.
  received_at timestamptz not null default clock_timestamp(),
  settled_at timestamptz,
  constraint receipts_applied_to_one
    check (num_nonnulls(order_id, partner_payment_id) = case when state = 'applied' then 1 else 0 end),
  check ((state = 'applied') = (reason is null)),
  -- Ids of different providers never collide, because all but the first provider's begin with its name.
  constraint receipts_provider_ids check (provider = 'xendit' or starts_with(provider_payment_id, provider || ':'))
);
create unique index receipts_of_order on receipts (order_id) where order_id is not null;
create unique index receipts_of_partner_payment on receipts (partner_payment_id) where partner_payment_id is not null;
create index receipts_by_time on receipts (received_at, id);
-- For further money under a reference; applied receipts are found by the payment.
create index receipts_besides on receipts (reference, received_at) where state <> 'applied';
create index receipts_of_settler on receipts (settled_by) where settled_by is not null;
create index receipts_by_state on receipts (state, received_at, id) where state <> 'applied';
-- For the checks, which read receipts in suspense or settled recently.
create index receipts_by_settlement on receipts ((coalesce(settled_at, 'infinity'))) where state <> 'applied';
create trigger receipts_are_kept before delete on receipts for each row execute function refuse_change();
create trigger receipts_state_law before insert or update of state on receipts
  for each row execute function keep_status('state', '>applied', '>suspended', 'suspended>applied',
    'suspended>credited', 'suspended>refunded');

-- Records the provider's payment of the full amount of an open order or partner's payment. If the money was in
-- suspense, because its reference was unknown until a restore was completed, reverses that journal. Returns whether it
-- did.
create function apply_receipt(p_journal_id uuid, p_id uuid, p_provider_payment_id text, p_provider_payment_method_id text,
  p_order_id uuid, p_partner_payment_id uuid)
returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  suspended uuid;
  undone record;
begin
  perform refuse_old_snapshot();
  insert into receipts as known (id, provider, provider_payment_id, provider_payment_method_id, reference, amount, state, order_id,
      partner_payment_id)
    select p_id, o.provider, p_provider_payment_id, p_provider_payment_method_id, o.id::text, o.nominal + o.admin_fee, 'applied', o.id,
      null::uuid
    from (select * from payment_orders where id = p_order_id for no key update) o
    where o.status in ('PENDING', 'WAITING_PAYMENT')
    union all
    -- For a reusable instrument the provider's reference is the instrument, not the payment.
    select p_id, p.provider, p_provider_payment_id, p_provider_payment_method_id, coalesce(p.instrument_id, p.id)::text, p.amount,
      'applied', null, p.id
    from (select * from partner_payments where id = p_partner_payment_id for no key update) p
    where p.status in ('PENDING', 'WAITING_PAYMENT')
    on conflict (provider_payment_id) do update set state = 'applied', reason = null, order_id = excluded.order_id,
      partner_payment_id = excluded.partner_payment_id
      where known.state = 'suspended' and known.reason = 'unknown'
        and known.reference = excluded.reference and known.amount = excluded.amount;
  if not found then
    raise exception 'the payment is not open' using errcode = 'AM003',
      detail = coalesce(p_order_id, p_partner_payment_id)::text;
  end if;
  -- Only now: the insert may have waited for the transaction that posts this money to suspense.
  select k.journal_id into suspended from journal_keys k where k.business_key = 'receipt/' || p_id || '/suspense';
  if not found then
    return false;
  end if;
  select array_agg(p.account_id) as accounts, array_agg(-p.amount) as amounts into undone
    from postings p where p.journal_id = suspended;
  return write_journal(p_journal_id, 'receipt/' || p_id || '/settled', 'receipt.applied', undone.accounts, undone.amounts);
end $$;

-- Posts unmatched money to suspense, with its receipt, in one journal. Returns false if it already has a receipt.
create function suspend_receipt(p_journal_id uuid, p_id uuid, p_provider_payment_id text,
  p_provider_payment_method_id text, p_reference text, p_amount numeric, p_cost numeric, p_reason text,
  p_provider text)
returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  subject uuid := substring(p_reference from '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
begin
  perform refuse_old_snapshot();
  -- The cost may exceed the money only if it is the price of the referenced payment; we then owe the difference.
  if p_cost is null or p_cost < 0 or p_cost > p_amount
    and not exists (select from partner_payments p where p.id = subject and p.provider_fee = p_cost)
    and not exists (select from payment_orders o join payment_channels c on c.id = o.payment_id
      where o.id = subject and round(c.provider_fee_fixed + p_amount * c.provider_fee_basis_points / 10000, 4) = p_cost) then
    raise exception 'the provider''s cost exceeds the money and its price' using errcode = 'AM010', detail = p_cost::text;
  end if;
  insert into receipts (id, provider, provider_payment_id, provider_payment_method_id, reference, amount, state, reason)
    values (p_id, p_provider, p_provider_payment_id, p_provider_payment_method_id, p_reference, p_amount, 'suspended', p_reason)
    on conflict do nothing;
  if not found then
    return false;
  end if;
  if not write_journal(p_journal_id, 'receipt/' || p_id || '/suspense', 'receipt.suspended',
    array['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000003',
      '00000000-0000-4000-8000-000000000004']::uuid[],
    array[p_cost - p_amount, -p_cost, p_amount]) then
    raise exception 'the journal of this receipt already exists' using errcode = 'AM003', detail = p_id::text;
  end if;
  return true;
end $$;

-- An applied receipt belongs to a paid order, and every paid order has one. Money in suspense was posted in once and,
-- when it was settled, out once, to the credited account.
create view check_receipts_posted_once as
  select r.id as receipt_id, r.state, 'an applied receipt belongs to a paid order' as problem
  from receipts r join payment_orders o on o.id = r.order_id
  where r.received_at >= checks_since_time() and (o.status <> 'PAID' or r.amount <> o.nominal + o.admin_fee)
  union all
  select null, o.status, 'the paid order ' || o.id || ' has no receipt'
  from payment_orders o where o.status = 'PAID' and o.updated_at >= checks_since_time()
    and not exists (select from receipts r where r.order_id = o.id)
  union all
  select r.id, r.state, 'money in suspense needs one journal in and, once settled, one out'
  from receipts r
  where r.state <> 'applied' and coalesce(r.settled_at, 'infinity') >= checks_since_time() and (
    not exists (select from journal_keys where business_key = 'receipt/' || r.id || '/suspense')
    or (r.state = 'suspended') = exists (select from journal_keys where business_key = 'receipt/' || r.id || '/settled'))
  union all
  select r.id, r.state, 'an applied receipt is not in suspense'
  from receipts r
  where r.state = 'applied' and r.received_at >= checks_since_time()
    and exists (select from journal_keys where business_key = 'receipt/' || r.id || '/suspense')
      <> exists (select from journal_keys where business_key = 'receipt/' || r.id || '/settled')
  union all
  select r.id, r.state, 'the money was credited to another account'
  from receipts r join journal_keys k on k.business_key = 'receipt/' || r.id || '/settled'
  where r.state = 'credited' and coalesce(r.settled_at, 'infinity') >= checks_since_time() and not exists (select from postings p
    where p.journal_id = k.journal_id and p.account_id = r.account_id and p.amount = r.amount);
-- A paid partner's payment has one receipt, of its amount.
create view check_partner_receipts_applied_once as
  select p.id as payment_id, p.status, r.id as receipt_id, r.amount
  from partner_payments p left join receipts r on r.partner_payment_id = p.id
  where p.status = 'PAID' and p.updated_at >= checks_since_time() and r.amount is distinct from p.amount
  union all
  select p.id, p.status, r.id, r.amount
  from receipts r left join partner_payments p on p.id = r.partner_payment_id
  where r.partner_payment_id is not null and r.received_at >= checks_since_time() and p.status is distinct from 'PAID';
-- The suspense account holds the receipts in suspense.
create view check_suspense_matches_receipts as
  select coalesce(s.balance, 0) as suspense, r.amount as receipts
  from (select coalesce(sum(amount), 0) as amount from receipts where state = 'suspended') r,
    (select sum(b.balance) as balance from account_balances b join accounts a on a.id = b.account_id
     where a.kind = 'suspense') s
  where coalesce(s.balance, 0) <> r.amount;
-- The open pool's balance is the sum of unallocated open donations and credits from suspense.
create view check_open_pool_matches_donations as
  select pool.balance, unallocated.amount as unallocated, credited.amount as credited_from_suspense
  from (select coalesce(sum(b.balance), 0) as balance from account_balances b
      where b.account_id = '00000000-0000-4000-8000-000000000005') pool,
    (select coalesce(sum(amount), 0) as amount from donations
      where type = 'open' and status = 'completed' and cause_id is null) unallocated,
    (select coalesce(sum(amount), 0) as amount from receipts
      where state = 'credited' and account_id = '00000000-0000-4000-8000-000000000005') credited
  where pool.balance <> unallocated.amount + credited.amount;
-- Suspense never holds the money of an open payment.
create view check_receipts_reach_their_owners as
  with named as not materialized (
    select id as receipt_id, provider, state, amount, received_at, coalesce(order_id, partner_payment_id) as applied_to,
      case when reference ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then reference::uuid end as owner
    from receipts)
  select n.receipt_id, n.owner, 'the money of an open payment is in suspense' as problem
  from named n
  join (select id, provider, nominal + admin_fee as amount from payment_orders where status in ('PENDING', 'WAITING_PAYMENT')
    union all
    select id, provider, amount from partner_payments where status in ('PENDING', 'WAITING_PAYMENT')) o
    on o.id = n.owner and o.provider = n.provider and o.amount = n.amount
  where n.state = 'suspended'
  union all
  select receipt_id, owner, 'money is applied to a payment other than its reference names'
  from named where state = 'applied' and received_at >= checks_since_time() and applied_to is distinct from owner
    and not exists (select from partner_payments p where p.id = applied_to and p.instrument_id = owner);
