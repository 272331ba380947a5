-- The payments that partners collect, and their customers' reusable instruments.

-- Reusable instruments, without a deadline. Each payment by the provider becomes a row of partner_payments.
create table partner_instruments (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  channel_id integer not null references payment_channels (id),
  provider text not null default 'xendit',
  -- The required amount of each payment; null for any amount.
  amount numeric(20, 4) check (amount > 0 and amount = trunc(amount)),
  external_ref varchar(128),
  texts_sealed text,
  status text not null check (status in ('active', 'closed')),
  provider_payment_method_id text unique,
  payment_code text,
  failure_code text,
  asked_at timestamptz,
  closing_at timestamptz,
  closed_at timestamptz,
  -- All payments that the provider created before this have been processed.
  seen_until timestamptz,
  -- For a pass of several reads, newest first: the position that it reaches at its end, and how far back it has read.
  read_from timestamptz,
  read_before timestamptz,
  look_again_at timestamptz,
  version integer not null default 0,
  request_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((payment_code is null) = (provider_payment_method_id is null)),
  check ((status = 'closed') = (closed_at is not null)),
  check (failure_code is null or (status = 'closed' and payment_code is null)),
  check ((look_again_at is null) = (status = 'closed')),
  constraint partner_instruments_provider_ids
    check (provider = 'xendit' or starts_with(provider_payment_method_id, provider || ':'))
);
create index partner_instruments_of_partner on partner_instruments (partner_id, created_at desc, id desc)
  include (status);
create index partner_instruments_by_reference on partner_instruments (external_ref, partner_id)
  where external_ref is not null;
create index partner_instruments_to_look_at on partner_instruments (look_again_at) where look_again_at is not null;
create trigger partner_instruments_status_law before insert or update of status on partner_instruments
  for each row execute function keep_status('status', '>active', 'active>closed');
create trigger partner_instruments_have_a_provider before insert on partner_instruments
  for each row execute function set_provider_of_channel();
create trigger partner_instruments_keep_their_code
  before update of payment_code, provider_payment_method_id on partner_instruments
  for each row when (old.payment_code is not null and (old.payment_code, old.provider_payment_method_id)
    is distinct from (new.payment_code, new.provider_payment_method_id))
  execute function refuse_change();
create trigger partner_instruments_are_kept before delete on partner_instruments
  for each row execute function refuse_change();

create table partner_payments (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  organization_id uuid references organizations (id),
  external_ref varchar(128),
  channel_id integer not null references payment_channels (id),
  provider text not null default 'xendit',
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  amount numeric(20, 4) not null check (amount > 0 and amount = trunc(amount)),
  fee numeric(20, 4) not null check (fee >= 0 and fee < 'Infinity'),
  net_amount numeric(20, 4) not null check (net_amount > 0 and net_amount < 'Infinity'),
  provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0 and provider_fee < 'Infinity'),
  status text not null check (status in ('PENDING', 'WAITING_PAYMENT', 'PAID', 'FAILED', 'EXPIRED')),
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  customer_sealed text,
  metadata_sealed text,
  -- The reusable instrument it was paid to, if any.
  instrument_id uuid references partner_instruments (id),
  version integer not null default 0,
  request_id text,
  expires_at timestamptz not null,
  -- When its owner cancelled it, which is its deadline while it is open.
  cancelled_at timestamptz,
  -- When the instrument was last requested, if the request may have reached the provider.
  instrument_asked_at timestamptz,
  instrument_at timestamptz,
  -- Since when the provider has reported the payment as paid or pending although it cannot be settled yet.
  settling_since timestamptz,
  finalized_at timestamptz,
  available_at timestamptz,
  released_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (amount = fee + net_amount),
  check ((status in ('PENDING', 'WAITING_PAYMENT')) = (finalized_at is null)),
  check ((status = 'PAID') = (available_at is not null)),
  check (status <> 'PAID' or cancelled_at is null),
  check (released_at is null or available_at is not null)
);
create trigger partner_payments_have_a_provider before insert on partner_payments
  for each row execute function set_provider_of_channel();
-- A payment's code and provider ids, once set, never change, with one exception: after a restore, an earlier request
-- under its reference may turn out to be the one that was paid.
create trigger partner_payments_keep_their_instrument
  before update of payment_code, provider_payment_request_id, provider_payment_method_id on partner_payments
  for each row when (num_nonnulls(old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id) > 0
    and (old.payment_code, old.provider_payment_request_id, old.provider_payment_method_id)
      is distinct from (new.payment_code, new.provider_payment_request_id, new.provider_payment_method_id)
    and not (old.status <> 'PAID' and new.status = 'PAID' and new.payment_code is not distinct from old.payment_code))
  execute function refuse_change();
create index partner_payments_of_partner on partner_payments (partner_id, created_at desc, id desc) include (status);
create index partner_payments_of_instrument on partner_payments (instrument_id, created_at desc, id desc)
  where instrument_id is not null;
create index partner_payments_of_channel on partner_payments (partner_id, channel_id, created_at desc, id desc);
create index partner_payments_of_organization on partner_payments (partner_id, organization_id, created_at desc, id desc)
  where organization_id is not null;
-- For operators' lists and search.
create index partner_payments_by_creation on partner_payments (created_at desc, id desc) include (status);
create index partner_payments_by_reference on partner_payments (external_ref, partner_id)
  where external_ref is not null;
create index partner_payments_by_provider_id on partner_payments (provider_payment_request_id)
  where provider_payment_request_id is not null;
create index partner_payments_open on partner_payments ((coalesce(cancelled_at, expires_at)))
  where status in ('PENDING', 'WAITING_PAYMENT');
create index partner_payments_unreleased on partner_payments (available_at)
  where status = 'PAID' and released_at is null;
create index partner_payments_settling on partner_payments (settling_since)
  where settling_since is not null and status in ('PENDING', 'WAITING_PAYMENT');
-- For the checks; see payment_orders_by_change.
create index partner_payments_by_change on partner_payments using brin (updated_at)
  with (pages_per_range = 16, autosummarize = on);
create index partner_payments_pending on partner_payments (created_at) where status = 'PENDING';
-- A cancelled payment stays cancelled unless it was paid.
create trigger partner_payments_keep_their_cancellation before update of cancelled_at on partner_payments
  for each row when (old.cancelled_at is not null and new.cancelled_at is distinct from old.cancelled_at
    and new.status <> 'PAID')
  execute function refuse_change();
create trigger partner_payments_are_kept before delete on partner_payments
  for each row execute function refuse_change();
create trigger partner_payments_status_law before insert or update of status on partner_payments
  for each row execute function keep_status('status', '>PENDING', 'PENDING>WAITING_PAYMENT', 'PENDING>PAID',
    'PENDING>FAILED', 'PENDING>EXPIRED', 'WAITING_PAYMENT>PAID', 'WAITING_PAYMENT>FAILED', 'WAITING_PAYMENT>EXPIRED');

-- A paid payment posts its amount and the provider's cost once, and a released one its net; no other payment posts
-- anything. Clearing gets the remainder, which may be negative.
create view check_partner_payments_posted_once as
  select p.id as payment_id, p.status, p.amount, s.posted as settled, s.cost, r.posted as released
  from partner_payments p
  left join journal_keys js on js.business_key = 'partner-payment/' || p.id || '/settled'
  left join journal_keys jr on jr.business_key = 'partner-payment/' || p.id || '/released'
  left join lateral (
    select sum(amount) filter (where amount > 0 and account_id <> '00000000-0000-4000-8000-000000000001') as posted,
      case when count(*) > 0 then coalesce(
        -sum(amount) filter (where account_id = '00000000-0000-4000-8000-000000000003'), 0) end as cost
    from postings where journal_id = js.journal_id) s on true
  left join lateral (
    select sum(amount) filter (where amount > 0 and account_id <> '00000000-0000-4000-8000-000000000001') as posted,
      case when count(*) > 0 then coalesce(
        -sum(amount) filter (where account_id = '00000000-0000-4000-8000-000000000003'), 0) end as cost
    from postings where journal_id = jr.journal_id) r on true
  where p.updated_at >= checks_since_time() and (s.posted is distinct from case when p.status = 'PAID' then p.amount end
    or s.cost is distinct from case when p.status = 'PAID' then p.provider_fee end
    or r.posted is distinct from case when p.released_at is not null then p.net_amount end);
-- A partner's pending account holds its paid payments that are not released yet.
create view check_partner_pending_matches_payments as
  select p.id as partner_id, account_balance(p.pending_account_id) as balance, coalesce(owed.amount, 0) as owed
  from partners p
  left join lateral (select sum(net_amount) as amount from partner_payments
    where partner_id = p.id and status = 'PAID' and released_at is null) owed on true
  where account_balance(p.pending_account_id) <> coalesce(owed.amount, 0);
-- A payment to an instrument belongs to its partner, has its channel, its amount if that is fixed, and is paid.
create view check_instrument_payments_fit as
  select p.id as payment_id, i.id as instrument_id, p.status, p.amount
  from partner_payments p join partner_instruments i on i.id = p.instrument_id
  where p.updated_at >= checks_since_time() and (p.partner_id <> i.partner_id or p.channel_id <> i.channel_id
    or p.amount <> coalesce(i.amount, p.amount) or p.status <> 'PAID' or p.organization_id is not null);
