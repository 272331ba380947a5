import { Migration } from '@mikro-orm/migrations';

/**
 * Partners: their accounts, keys, fees, limits, linked organizations and webhook endpoints; the payments that they
 * collect; answers kept for idempotency; and the outbox of webhooks. Receipts learn of partner payments here.
 */
export class M0008Partners extends Migration {
  override up(): void {
    this.addSql(`
create table partners (
  id uuid primary key,
  name varchar(200) not null,
  organization_id uuid not null references organizations (id),
  status text not null default 'pending' check (status in ('pending', 'active', 'suspended')),
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  settlement_delay_hours integer not null default 0 check (settlement_delay_hours between 0 and 8760),
  payouts_enabled boolean not null default true,
  max_payout_amount numeric(20, 4) check (max_payout_amount > 0),
  max_daily_amount numeric(20, 4) check (max_daily_amount > 0),
  max_hourly_count integer check (max_hourly_count > 0),
  available_account_id uuid not null unique references accounts (id),
  pending_account_id uuid not null unique references accounts (id),
  reserved_account_id uuid not null unique references accounts (id),
  created_by uuid references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nulls(max_payout_amount, max_daily_amount, max_hourly_count) in (0, 3))
);
create index partners_by_creation on partners (created_at, id);

create table partner_keys (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  prefix varchar(16) not null,
  key_hash text not null unique,
  signing_secret_sealed text not null,
  permissions text[] not null check (permissions <@ '{collect-payment,read-gateway,request-payout}'),
  rotated_from uuid references partner_keys (id),
  created_by uuid references users (id),
  created_at timestamptz not null default now(),
  valid_until timestamptz,
  revoked_at timestamptz
);
create index partner_keys_of_partner on partner_keys (partner_id, created_at, id);

create table partner_organizations (
  partner_id uuid not null references partners (id),
  organization_id uuid not null references organizations (id),
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  primary key (partner_id, organization_id)
);

create table partner_fees (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  method text not null check (method in ('virtual_account', 'qris', 'ewallet', 'payout')),
  channel text,
  organization_id uuid references organizations (id),
  fixed numeric(20, 4) not null check (fixed >= 0),
  basis_points integer not null check (basis_points between 0 and 10000),
  provider_fixed numeric(20, 4) not null default 0 check (provider_fixed >= 0),
  provider_basis_points integer not null default 0 check (provider_basis_points between 0 and 10000),
  unique nulls not distinct (partner_id, method, channel, organization_id)
);

create table payout_banks (
  bank_code text primary key,
  name varchar(100) not null,
  minimum_amount numeric(20, 4) not null check (minimum_amount >= 1),
  maximum_amount numeric(20, 4) not null,
  account_number_min_length smallint not null check (account_number_min_length > 0),
  account_number_max_length smallint not null,
  active boolean not null default true,
  check (maximum_amount >= minimum_amount),
  check (account_number_max_length >= account_number_min_length)
);

create table partner_payments (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  organization_id uuid references organizations (id),
  external_ref varchar(128),
  channel_id integer not null references payment_channels (id),
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  amount numeric(20, 4) not null check (amount > 0 and amount = trunc(amount)),
  fee numeric(20, 4) not null check (fee >= 0),
  net_amount numeric(20, 4) not null check (net_amount > 0),
  provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0),
  status text not null check (status in ('PENDING', 'WAITING_PAYMENT', 'PAID', 'FAILED', 'EXPIRED')),
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  customer_sealed text,
  version integer not null default 0,
  request_id text,
  expires_at timestamptz not null,
  instrument_at timestamptz,
  finalized_at timestamptz,
  available_at timestamptz,
  released_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (amount = fee + net_amount),
  check ((status in ('PENDING', 'WAITING_PAYMENT')) = (finalized_at is null)),
  check ((status = 'PAID') = (available_at is not null)),
  check (released_at is null or available_at is not null)
);
create index partner_payments_of_partner on partner_payments (partner_id, created_at desc, id desc) include (status);
create index partner_payments_by_reference on partner_payments (partner_id, external_ref) where external_ref is not null;
create index partner_payments_open on partner_payments (expires_at) where status in ('PENDING', 'WAITING_PAYMENT');
create index partner_payments_unreleased on partner_payments (available_at) where status = 'PAID' and released_at is null;

-- A key's fingerprint and resource are kept, so that however old a retry is it never makes a second resource; the
-- answer is forgotten after 30 days.
create table partner_idempotency_keys (
  partner_id uuid not null references partners (id),
  key_hash text not null,
  fingerprint text not null,
  resource_type text not null check (resource_type in ('payment', 'payout')),
  resource_id uuid not null,
  answer_status smallint,
  answer_body bytea,
  answered_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (partner_id, key_hash),
  check ((answer_status is null) = (answer_body is null))
);
create index partner_idempotency_keys_by_age on partner_idempotency_keys (created_at) where answer_body is not null;

create table webhook_endpoints (
  id uuid primary key,
  partner_id uuid not null unique references partners (id),
  url varchar(2000) not null,
  events text[] not null,
  secret_sealed text not null,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((previous_secret_sealed is null) = (previous_secret_until is null))
);

create table webhook_deliveries (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  resource_type text not null check (resource_type in ('payment', 'payout')),
  resource_id uuid not null,
  version integer not null check (version > 0),
  type text not null,
  body_sealed text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'parked')),
  attempts integer not null default 0,
  last_status smallint,
  last_error text,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  created_at timestamptz not null default now(),
  unique (resource_type, resource_id, version),
  check ((status = 'delivered') = (delivered_at is not null)),
  check ((status = 'pending') = (next_attempt_at is not null))
);
create index webhook_deliveries_of_partner on webhook_deliveries (partner_id, created_at desc, id desc);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';

alter table receipts add column partner_payment_id uuid references partner_payments (id);
alter table receipts drop constraint receipts_check;
alter table receipts add constraint receipts_applied_to_one
  check (num_nonnulls(order_id, partner_payment_id) = case when state = 'applied' then 1 else 0 end);
create unique index receipts_of_partner_payment on receipts (partner_payment_id) where partner_payment_id is not null;
`);
    this.addSql(`
create view check_partner_payments_posted_once as
  select p.id as payment_id, p.status, p.amount, s.posted as settled, r.posted as released
  from partner_payments p
  left join lateral (select sum(g.amount) as posted from journals j join postings g on g.journal_id = j.id
    where j.business_key = 'partner-payment/' || p.id || '/settled' and g.amount > 0) s on true
  left join lateral (select sum(g.amount) as posted from journals j join postings g on g.journal_id = j.id
    where j.business_key = 'partner-payment/' || p.id || '/released' and g.amount > 0) r on true
  where s.posted is distinct from case when p.status = 'PAID' then p.amount end
    or r.posted is distinct from case when p.released_at is not null then p.net_amount end;
create view check_partner_receipts_applied_once as
  select p.id as payment_id, p.status, r.id as receipt_id, r.amount
  from partner_payments p full join receipts r on r.partner_payment_id = p.id
  where (p.status = 'PAID' or r.partner_payment_id is not null)
    and (p.status is distinct from 'PAID' or r.amount is distinct from p.amount);
create view check_partner_pending_matches_payments as
  select p.id as partner_id, account_balance(p.pending_account_id) as balance, coalesce(owed.amount, 0) as owed
  from partners p
  left join lateral (select sum(net_amount) as amount from partner_payments
    where partner_id = p.id and status = 'PAID' and released_at is null) owed on true
  where account_balance(p.pending_account_id) <> coalesce(owed.amount, 0);
create view check_partner_accounts_are_theirs as
  select p.id as partner_id, a.id as account_id, a.kind from partners p
  join accounts a on a.id in (p.available_account_id, p.pending_account_id, p.reserved_account_id)
  where a.owner_id is distinct from p.id or a.kind <> case a.id when p.available_account_id then 'partner_available'
    when p.pending_account_id then 'partner_pending' else 'partner_reserved' end;
`);
    this.addSql(`
insert into payment_channels (id, name, method, channel_code, fee_fixed, minimum_amount, maximum_amount, needs_phone)
values (33, 'OVO', 'ewallet', 'OVO', 1500, 100, 20000000, true);
insert into payout_banks (bank_code, name, minimum_amount, maximum_amount, account_number_min_length,
  account_number_max_length) values
  ('BCA', 'Bank Central Asia', 10000, 250000000, 10, 10),
  ('BNI', 'Bank Negara Indonesia', 10000, 250000000, 7, 11),
  ('BRI', 'Bank Rakyat Indonesia', 10000, 250000000, 13, 17),
  ('MANDIRI', 'Bank Mandiri', 10000, 250000000, 12, 17),
  ('PERMATA', 'Bank Permata', 10000, 250000000, 7, 16),
  ('BSI', 'Bank Syariah Indonesia', 10000, 250000000, 10, 16),
  ('CIMB', 'CIMB Niaga', 10000, 250000000, 10, 16),
  ('DANAMON', 'Bank Danamon', 10000, 250000000, 8, 16),
  ('BTN', 'Bank Tabungan Negara', 10000, 250000000, 10, 16),
  ('BCA_SYARIAH', 'BCA Syariah', 10000, 250000000, 10, 10),
  ('BJB', 'Bank BJB', 10000, 250000000, 10, 16),
  ('JAGO', 'Bank Jago', 10000, 250000000, 10, 16),
  ('MAYBANK', 'Maybank Indonesia', 10000, 250000000, 10, 16),
  ('MEGA', 'Bank Mega', 10000, 250000000, 10, 16),
  ('MUAMALAT', 'Bank Muamalat', 10000, 250000000, 10, 16),
  ('OCBC', 'OCBC Indonesia', 10000, 250000000, 10, 16),
  ('PANIN', 'Bank Panin', 10000, 250000000, 10, 16),
  ('SEABANK', 'SeaBank Indonesia', 10000, 250000000, 10, 16);
`);
  }
}
