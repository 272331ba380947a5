-- Partners: their accounts, keys, fees, limits and linked organizations, and used signatures.

create table partners (
  id uuid primary key,
  name varchar(200) not null,
  organization_id uuid not null references organizations (id),
  status text not null default 'pending' check (status in ('pending', 'active', 'suspended')),
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  settlement_delay_hours integer not null default 0 check (settlement_delay_hours between 0 and 8760),
  payouts_enabled boolean not null default true,
  max_payout_amount numeric(20, 4) check (max_payout_amount > 0 and max_payout_amount < 'Infinity'),
  max_daily_amount numeric(20, 4) check (max_daily_amount > 0 and max_daily_amount < 'Infinity'),
  max_hourly_count integer check (max_hourly_count > 0),
  available_account_id uuid not null unique references accounts (id),
  pending_account_id uuid not null unique references accounts (id),
  reserved_account_id uuid not null unique references accounts (id),
  -- When the paced sending of the last webhook replay ends; the next replay starts afterwards.
  replayed_until timestamptz,
  created_by uuid references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nulls(max_payout_amount, max_daily_amount, max_hourly_count) in (0, 3))
);
create index partners_by_creation on partners (created_at, id);
create trigger partners_status_law before insert or update of status on partners
  for each row execute function keep_status('status', '>pending', '*');
create trigger partners_have_their_own_accounts
  before insert or update of available_account_id, pending_account_id, reserved_account_id on partners
  for each row execute function keep_own_accounts('available_account_id', 'partner_available', 'pending_account_id',
    'partner_pending', 'reserved_account_id', 'partner_reserved');

create table partner_keys (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  prefix varchar(16) not null,
  key_hash text not null unique,
  signing_secret_sealed text not null,
  permissions text[] not null
    check (permissions <@ '{collect-payment,read-gateway,request-payout,approve-payout,refund-payment,manage-webhooks,manage-keys}'),
  require_signature_v2 boolean not null default false,
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
  fixed numeric(20, 4) not null check (fixed >= 0 and fixed < 'Infinity'),
  basis_points integer not null check (basis_points between 0 and 10000),
  provider_fixed numeric(20, 4) not null default 0 check (provider_fixed >= 0 and provider_fixed < 'Infinity'),
  provider_basis_points integer not null default 0 check (provider_basis_points between 0 and 10000),
  unique nulls not distinct (partner_id, method, channel, organization_id)
);

-- Signatures of whole writing requests without an idempotency key. Each is accepted once.
create table used_signatures (
  digest text primary key check (length(digest) = 64),
  used_at timestamptz not null default clock_timestamp()
);
create index used_signatures_by_age on used_signatures (used_at);

-- A partner's three accounts belong to it, one of each kind.
create view check_partner_accounts_are_theirs as
  select p.id as partner_id, a.id as account_id, a.kind from partners p
  join accounts a on a.id in (p.available_account_id, p.pending_account_id, p.reserved_account_id)
  where a.owner_id is distinct from p.id or a.kind <> case a.id when p.available_account_id then 'partner_available'
    when p.pending_account_id then 'partner_pending' else 'partner_reserved' end;
