-- Payments of users: channels, gateway orders, and payments from balances.
--
-- SQLSTATEs of ours: AM004 the target does not accept a payment (`column` is the caller's field), AM013 the payment's
-- deadline has passed.

create table payment_channels (
  id integer primary key,
  -- The channel's provider; an order keeps the provider that the channel had at its creation.
  provider text not null default 'xendit',
  name varchar(100) not null,
  method text not null check (method in ('virtual_account', 'qris', 'ewallet')),
  channel_code text not null,
  fee_fixed numeric(20, 4) not null check (fee_fixed >= 0 and fee_fixed < 'Infinity'),
  fee_basis_points integer not null default 0 check (fee_basis_points between 0 and 10000),
  -- The provider's fee for a payment, posted with the settlement.
  provider_fee_fixed numeric(20, 4) not null default 0 check (provider_fee_fixed >= 0 and provider_fee_fixed < 'Infinity'),
  provider_fee_basis_points integer not null default 0 check (provider_fee_basis_points between 0 and 10000),
  minimum_amount numeric(20, 4) not null check (minimum_amount >= 1),
  maximum_amount numeric(20, 4) not null,
  needs_phone boolean not null default false,
  -- Whether the provider can refund a payment to the wallet that paid, for how many days, and whether in part.
  refundable boolean not null default false,
  refundable_in_part boolean not null default false,
  refund_window_days smallint not null default 0 check (refund_window_days >= 0),
  active boolean not null default true,
  unique (method, channel_code),
  check (maximum_amount >= minimum_amount)
);

-- Sets the provider of a new order, partner's payment or instrument from its channel.
create function set_provider_of_channel() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_table_name = 'payment_orders' then
    new.provider := (select c.provider from payment_channels c where c.id = new.payment_id);
  else
    new.provider := (select c.provider from payment_channels c where c.id = new.channel_id);
  end if;
  return new;
end $$;

create table payment_orders (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  reference_type text not null,
  reference_id uuid not null,
  -- The member of a circle for whom another pays.
  on_behalf_of uuid,
  target_account_id uuid not null references accounts (id),
  payment_id integer not null references payment_channels (id),
  provider text not null default 'xendit',
  nominal numeric(20, 4) not null check (nominal > 0 and nominal < 'Infinity'),
  admin_fee numeric(20, 4) not null check (admin_fee >= 0 and admin_fee < 'Infinity'),
  provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0 and provider_fee < 'Infinity'),
  status text not null check (status in ('PENDING', 'WAITING_PAYMENT', 'PAID', 'FAILED', 'EXPIRED')),
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  texts_sealed text,
  expires_at timestamptz not null,
  -- When its owner cancelled it, which is its deadline while it is open.
  cancelled_at timestamptz,
  request_id text,
  -- When the instrument was last requested, if the request may have reached the provider.
  instrument_asked_at timestamptz,
  -- Since when the provider has reported the payment as paid or pending although it cannot be settled yet.
  settling_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finalized_at timestamptz,
  check (status <> 'PAID' or cancelled_at is null)
);
-- For search.
create index payment_orders_by_provider_id on payment_orders (provider_payment_request_id)
  where provider_payment_request_id is not null;
create index payment_orders_of_user on payment_orders (user_id, created_at desc, id desc);
create index payment_orders_open on payment_orders ((coalesce(cancelled_at, expires_at)))
  where status in ('PENDING', 'WAITING_PAYMENT');
-- Orders whose contributions may be superseded.
create index payment_orders_into_circles on payment_orders (reference_id)
  where reference_type = 'saving_circle_contribution' and status in ('PENDING', 'WAITING_PAYMENT');
create index payment_orders_settling on payment_orders (settling_since)
  where settling_since is not null and status in ('PENDING', 'WAITING_PAYMENT');
-- For the checks, which read recent changes: rows arrive nearly in time order, and soon become final.
create index payment_orders_by_change on payment_orders using brin (updated_at) with (pages_per_range = 16, autosummarize = on);
create index payment_orders_pending on payment_orders (created_at) where status = 'PENDING';
create trigger payment_orders_have_a_provider before insert on payment_orders
  for each row execute function set_provider_of_channel();
-- An order's code and provider ids, once set, never change.
create trigger payment_orders_keep_their_instrument
  before update of payment_code, provider_payment_request_id, provider_payment_method_id on payment_orders
  for each row when (num_nonnulls(old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id) > 0
    and (old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id)
      is distinct from (new.payment_code, new.provider_payment_request_id, new.provider_payment_method_id))
  execute function refuse_change();
create trigger payment_orders_take_money_for_people before insert or update of target_account_id on payment_orders
  for each row execute function keep_account_kinds('target_account_id',
    'user organization open_donation_pool saving_goal product circle_holding');
-- A cancelled payment stays cancelled unless it was paid.
create trigger payment_orders_keep_their_cancellation before update of cancelled_at on payment_orders
  for each row when (old.cancelled_at is not null and new.cancelled_at is distinct from old.cancelled_at
    and new.status <> 'PAID')
  execute function refuse_change();
create trigger payment_orders_are_kept before delete on payment_orders for each row execute function refuse_change();
create trigger payment_orders_status_law before insert or update of status on payment_orders
  for each row execute function keep_status('status', '>PENDING', 'PENDING>WAITING_PAYMENT', 'PENDING>PAID',
    'PENDING>FAILED', 'PENDING>EXPIRED', 'WAITING_PAYMENT>PAID', 'WAITING_PAYMENT>FAILED', 'WAITING_PAYMENT>EXPIRED');

-- Records an e-mail receipt when a top-up is paid.
create function tell_of_top_up() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform tell('top_up', new.id, null, array[new.user_id]);
  return null;
end $$;
create trigger payment_orders_tell_of_top_ups after update of status on payment_orders
  for each row when (new.reference_type = 'account_top_up' and new.status = 'PAID') execute function tell_of_top_up();

-- A requested payment from a balance. Its journal's business key is 'balance-payment/' and its transaction's id.
create type balance_payment as (
  transaction_id uuid,
  journal_id uuid,
  kind text,
  user_id uuid,
  user_type text,
  organization_id uuid,
  source_account_id uuid,
  amount numeric,
  reference_type text,
  reference_id uuid,
  purpose text,
  request_id text,
  key_hash text,
  fingerprint text,
  -- From opening_numbers; only with a key.
  request_number bigint
);

-- Fails a payment after its request's deadline. Computing the second argument runs all steps of the payment that may
-- wait before the clock is read, so that only the commit follows.
create function in_time(p_deadline timestamptz, p_done bigint) returns bigint language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if clock_timestamp() > p_deadline then
    raise exception 'too late for this payment' using errcode = 'AM013', detail = p_deadline::text;
  end if;
  return p_done;
end $$;

-- Locks the source of a payment, if it is the payer's, so that the transaction's next statement checks after the wait.
create function lock_source(p_user_id uuid, p_user_type text, p_organization_id uuid, p_source uuid)
returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from account_balances b where b.shard = 0 and b.account_id = (select a.id from accounts a
      where a.id = p_source and (a.kind = 'user' and a.user_id = p_user_id or a.kind = 'organization'
        and p_user_type = 'organization' and a.organization_id = p_organization_id))
    for update;
end $$;

-- The target of a payment from a balance, returned by the functions targets_of_*: an account, or a refusal (code, text,
-- field). Null means that another transaction has locked the target.
create type payment_target as (account_id uuid, refusal jsonb);

-- Builds a refusal in stored form.
create function refusal(p_code text, p_complaint text, p_field text default null) returns jsonb language sql immutable
set search_path = pg_catalog, public, pg_temp as $$
  select jsonb_strip_nulls(jsonb_build_object('code', p_code, 'complaint', p_complaint, 'field', p_field))
$$;

-- Returns targets named by their accounts, which accept any amount.
create function targets_at(p_accounts uuid[]) returns payment_target[] language plpgsql stable
set search_path = pg_catalog, public, pg_temp as $$
begin
  return array(select row(a.id, null)::payment_target from unnest(p_accounts) with ordinality a (id, place) order by a.place);
end $$;

/*
 * Makes payments from balances, one or many, in one round trip: for each its source's lock, idempotency key, journal,
 * transaction row and event. p_targets are their targets, in the order of the payments. Returns the outcome of each
 * payment by its place (from 1); only a payment that is 'paid' has changed anything:
 * - 'paid', with the new balance;
 * - 'replayed': it was paid before, with its key or id;
 * - 'refused', with the refusal. A payment refused with its key (by the request's number) stays refused;
 * - 'busy': its target, source, payer or their organization is locked by another transaction, which is not waited for;
 *   or another of these payments has the same source or key, or pays into the source; or a later request with
 *   another body was refused with its key.
 *
 * Only the holder of a key is waited for, for at most lock_timeout; p_lock_ms sets it for the transaction. A caller
 * that wants to wait for a source or a target locks it first in the same transaction.
 *
 * Locks are taken in the order of src/ledger/lock-order.ts, as on every path: what p_targets has locked, shard 0 of the
 * sources by id, payers, their organizations, then keys, then what the ledger's triggers take, and last what the
 * triggers of transactions take. The checks read with statements that begin after the locks were taken.
 */
create function pay_from_balances(p_payments jsonb, p_targets payment_target[], p_lock_ms integer default null)
returns table (place bigint, outcome text, new_balance numeric, refusal jsonb, payment balance_payment)
language plpgsql
security definer set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  payments constant balance_payment[] := array(select p from jsonb_populate_recordset(null::balance_payment, p_payments) p);
  targets constant uuid[] := array(select t.account_id from unnest(p_targets) with ordinality t order by t.ordinality);
  keyed boolean;
  -- By place; null while the payment may still be made.
  outcomes text[];
  left_over numeric[];
  sources uuid[];
  dated timestamptz;
begin
  perform refuse_old_snapshot();
  if p_lock_ms is not null then
    perform set_config('lock_timeout', p_lock_ms::text, true);
  end if;
  -- One account at a time, here and below, however many rows the planner expects.
  select array_agg(case
        when targets[p.ordinality] is null then case when (p_targets[p.ordinality]).refusal is null then 'busy' else 'unfit' end
        when s.id is null then 'missing'
        when (s.kind = 'user' and s.user_id = p.user_id or s.kind = 'organization'
          and p.user_type = 'organization' and s.organization_id = p.organization_id) is not true then 'foreign'
        when targets[p.ordinality] = p.source_account_id then 'itself'
        -- A journal of these kinds moves money only from the payer to the target.
        when (p.amount > 0 and p.transaction_id is not null and p.journal_id is not null
          and (p.kind = 'pocket-transfer' or starts_with(p.kind, 'balance-payment.'))
          and (select t.kind from accounts t where t.id = targets[p.ordinality]) in ('user', 'organization',
            'open_donation_pool', 'saving_goal', 'product', 'circle_holding')) is not true
          then 'unlawful' end
      order by p.ordinality),
      bool_or(p.key_hash is not null),
      array_agg(p.source_account_id)
    into outcomes, keyed, sources
    from unnest(payments) with ordinality p
    left join lateral (select a.id, a.kind, a.user_id, a.organization_id from accounts a
      where a.id = p.source_account_id limit 1) s on true;
  if 'unlawful' = any (outcomes) then
    raise exception 'not a payment from a balance: kind %', payments[array_position(outcomes, 'unlawful')].kind
      using errcode = 'AM010';
  end if;

  if cardinality(payments) > 1 then
    -- Only the first payment from each source and under each key, and none from an account that another payment
    -- credits, as its new balance would lack that credit.
    select array_agg(coalesce(p.outcome, case when p.of_source > 1 or p.of_key > 1
          or p.source_account_id = any (targets) then 'busy' end) order by p.place),
        array_agg(p.source_account_id) filter (where p.outcome is null)
      into outcomes, sources
      from (
        select p.ordinality as place, p.source_account_id, outcomes[p.ordinality] as outcome,
          row_number() over (partition by outcomes[p.ordinality] is null, p.source_account_id order by p.ordinality)
            as of_source,
          case when p.key_hash is not null then row_number() over (
            partition by outcomes[p.ordinality] is null, p.user_id, p.key_hash order by p.ordinality) end as of_key
        from unnest(payments) with ordinality p) p;
  elsif outcomes[1] is not null then
    sources := null;
  end if;
  if sources is not null then
    sources := array(select b.account_id from account_balances b where b.account_id = any (sources) and b.shard = 0
      order by b.account_id for update skip locked);
    -- The rows inserted below refer to these rows. Without this lock the inserts would wait for a suspension in
    -- progress and then succeed anyway.
    with payer as materialized (
      select u.id, u.status, u.organization_id from users u
      where u.id = any (array(select p.user_id from unnest(payments) with ordinality p
        where outcomes[p.ordinality] is null and p.source_account_id = any (sources)))
      order by u.id for key share skip locked),
    organization as materialized (
      select o.id, o.status from organizations o
      where o.id = any (array(select payer.organization_id from payer)) order by o.id for key share skip locked)
    select array_agg(coalesce(outcomes[p.ordinality], case
          when p.source_account_id <> all (sources) or payer.id is null
            or payer.organization_id is not null and organization.id is null then 'busy'
          when payer.status <> 'active' or organization.status in ('inactive', 'suspended') then 'inactive' end)
        order by p.ordinality)
      into outcomes
      from unnest(payments) with ordinality p
      left join payer on payer.id = p.user_id left join organization on organization.id = payer.organization_id;
  end if;

  if keyed then
    -- Locked here, so that a refusal under the key is either committed and visible, or comes later and finds this
    -- result.
    with held as (
      insert into requests as k (owner_id, key_hash, fingerprint, resource_id)
        select p.user_id, p.key_hash, p.fingerprint, p.transaction_id
        from unnest(payments) with ordinality p where outcomes[p.ordinality] is null and p.key_hash is not null
        order by p.user_id, p.key_hash
        on conflict (owner_id, key_hash) do update set key_hash = excluded.key_hash where k.made is null
        returning owner_id, key_hash, fingerprint, refused_upto)
    select array_agg(coalesce(outcomes[p.ordinality], case when p.key_hash is null then null
          when h.key_hash is null then 'replayed'
          when h.refused_upto >= coalesce(p.request_number, 0)
            then case when h.fingerprint = p.fingerprint then 'fenced' else 'busy' end end) order by p.ordinality)
      into outcomes from unnest(payments) with ordinality p
      left join held h on h.owner_id = p.user_id and h.key_hash = p.key_hash;
  end if;

  select array_agg(coalesce(outcomes[p.ordinality], case
        -- Never pay twice, whatever happened to the key.
        when exists (select from journal_keys j where j.business_key = 'balance-payment/' || p.transaction_id)
          then case when p.key_hash is null then 'replayed' else 'reused' end
        when b.held < p.amount then 'insufficient'
        when exists (select from charitable_causes c where c.account_id = p.source_account_id)
          and p.amount > b.held - kept_for_causes(p.source_account_id) then 'kept'
        else 'paid' end) order by p.ordinality),
      array_agg(b.held - p.amount order by p.ordinality)
    into outcomes, left_over
    from unnest(payments) with ordinality p
    cross join lateral (select sum(balance) as held from account_balances
      where account_id = p.source_account_id and outcomes[p.ordinality] is null) b;

  if 'paid' = any (outcomes) then
    -- Dated after the checks, as in write_journal.
    dated := greatest(clock_timestamp(), transaction_timestamp());
    with due as materialized (
      select p.*, 'balance-payment/' || p.transaction_id as business_key
      from unnest(payments) with ordinality p where outcomes[p.ordinality] = 'paid'),
    key as (
      insert into journal_keys (business_key, journal_id)
        select d.business_key, d.journal_id from due d order by d.business_key),
    journal as (
      insert into journals (id, business_key, kind, created_at)
        select d.journal_id, d.business_key, d.kind, dated from due d)
    insert into postings (journal_id, account_id, amount, created_at)
      select d.journal_id, e.account_id, e.amount, dated from due d
      cross join lateral (values (d.source_account_id, -d.amount), (targets[d.ordinality], d.amount))
        e (account_id, amount);
    -- In a separate statement, because the locks of transactions' triggers come after those of postings' triggers.
    with due as materialized (
      select p.* from unnest(payments) with ordinality p where outcomes[p.ordinality] = 'paid'),
    line as (
      insert into transactions (id, user_id, organization_id, amount, status, source_account_id,
          destination_account_id, type, reference_type, reference_id, batch_id, purpose, created_by)
        select d.transaction_id, d.user_id, d.organization_id, d.amount, 'successful', d.source_account_id,
          targets[d.ordinality], 'price', d.reference_type, d.reference_id, d.journal_id, d.purpose, d.user_id
        from due d)
    insert into events (event, impact, resource_type, resource_id, actor_id, request_id)
      select 'RESOURCE_CREATED', 'MEDIUM', 'transaction', d.transaction_id::text, d.user_id, d.request_id from due d;
  end if;

  if keyed then
    update requests k set fingerprint = p.fingerprint, resource_id = p.transaction_id, made = p.request_number,
        refusal = null, new_balance = left_over[p.ordinality], decided_at = dated
      from unnest(payments) with ordinality p
      where k.owner_id = p.user_id and k.key_hash = p.key_hash and outcomes[p.ordinality] = 'paid';
    -- A key without a resource or a refusal has no row: the caller then records these refusals (refuseOnce).
    if outcomes && array['insufficient', 'kept', 'reused'] then
      delete from requests k using unnest(payments) with ordinality p
        where k.owner_id = p.user_id and k.key_hash = p.key_hash and k.made is null and k.refusal is null
          and outcomes[p.ordinality] in ('insufficient', 'kept', 'reused');
    end if;
  end if;

  return query
    select p.ordinality,
      case when told.outcome in ('paid', 'replayed', 'busy') then told.outcome else 'refused' end,
      case when told.outcome = 'paid' then left_over[p.ordinality] end,
      case told.outcome
        when 'fenced' then kept.refusal
        when 'unfit' then (p_targets[p.ordinality]).refusal
        when 'missing' then refusal('NOT_FOUND', 'the account was not found', 'source_account_id')
        when 'foreign' then refusal('FORBIDDEN', 'the account is not yours', 'source_account_id')
        when 'itself' then refusal('REQUEST_INVALID', 'an account cannot pay into itself', 'source_account_id')
        when 'inactive' then refusal('FORBIDDEN', 'the user who asked for this is no longer active')
        when 'insufficient' then refusal('INSUFFICIENT_BALANCE', 'the balance of the account does not cover it', 'amount')
        when 'kept' then refusal('REQUEST_INVALID', format(
          'only IDR %s of the account are free: what was given to its causes leaves it by disbursements', greatest(
            account_balance(p.source_account_id) - kept_for_causes(p.source_account_id), 0)::numeric(20, 4)), 'amount')
        when 'reused' then refusal('IDEMPOTENCY_KEY_REUSED', 'this key was used for a request with another body',
          'Idempotency-Key') end,
      payments[p.ordinality]
    from unnest(payments) with ordinality p
    left join lateral (select k.fingerprint, k.refusal
      from requests k where outcomes[p.ordinality] in ('replayed', 'fenced') and k.owner_id = p.user_id and k.key_hash = p.key_hash limit 1) kept on true
    cross join lateral (select case when kept.fingerprint <> p.fingerprint then 'reused' else outcomes[p.ordinality] end
      as outcome) told;
end $$;

-- A paid order has one journal, which posts its total, its nominal to its account, and the provider's cost; no other
-- order has one. Clearing gets the remainder, which may be negative.
create view check_orders_posted_once as
  select o.id as order_id, o.status, count(j.journal_id) as journals, sum(p.posted) as posted,
    o.nominal + o.admin_fee as total, sum(p.landed) as landed, sum(p.cost) as cost, o.provider_fee
  from payment_orders o
  left join journal_keys j on j.business_key = 'payment-order/' || o.id || '/settled'
  left join lateral (
    select sum(amount) filter (where amount > 0 and account_id <> '00000000-0000-4000-8000-000000000001') as posted,
      case when count(*) > 0 then coalesce(
        -sum(amount) filter (where account_id = '00000000-0000-4000-8000-000000000003'), 0) end as cost,
      coalesce(sum(amount) filter (where account_id = o.target_account_id), 0) as landed
    from postings where journal_id = j.journal_id) p on true
  where o.updated_at >= checks_since_time()
  group by o.id
  having (o.status = 'PAID') <> (count(j.journal_id) = 1)
    or (count(j.journal_id) = 1 and sum(p.posted) is distinct from o.nominal + o.admin_fee)
    or (count(j.journal_id) = 1 and sum(p.landed) is distinct from o.nominal)
    or coalesce(sum(p.cost), 0) <> o.provider_fee;
insert into payment_channels (id, name, method, channel_code, fee_fixed, minimum_amount, maximum_amount, needs_phone)
values
  (1, 'BCA Virtual Account', 'virtual_account', 'BCA', 4000, 10000, 50000000, false),
  (2, 'BNI Virtual Account', 'virtual_account', 'BNI', 4000, 1, 50000000, false),
  (3, 'BRI Virtual Account', 'virtual_account', 'BRI', 4000, 1, 50000000000, false),
  (4, 'Mandiri Virtual Account', 'virtual_account', 'MANDIRI', 4000, 1, 50000000000, false),
  (5, 'Permata Virtual Account', 'virtual_account', 'PERMATA', 4000, 1, 9999999999, false),
  (6, 'BSI Virtual Account', 'virtual_account', 'BSI', 4000, 1, 50000000000, false),
  (7, 'CIMB Virtual Account', 'virtual_account', 'CIMB', 4000, 1, 50000000, false),
  (20, 'QRIS', 'qris', 'QRIS', 0, 1, 10000000, false),
  (30, 'DANA', 'ewallet', 'DANA', 1500, 100, 20000000, false),
  (31, 'ShopeePay', 'ewallet', 'SHOPEEPAY', 1500, 1, 20000000, false),
  (32, 'LinkAja', 'ewallet', 'LINKAJA', 1500, 1, 20000000, false),
  (33, 'OVO', 'ewallet', 'OVO', 1500, 100, 20000000, true);
update payment_channels c set refundable = true, refundable_in_part = r.in_part, refund_window_days = r.days
  from (values ('DANA', true, 30), ('SHOPEEPAY', true, 365), ('LINKAJA', false, 30)) r (code, in_part, days)
  where c.method = 'ewallet' and c.channel_code = r.code;
