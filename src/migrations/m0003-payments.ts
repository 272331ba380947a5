import { Migration } from '@mikro-orm/migrations';

/**
 * Payments by gateway: channels, orders, the inbox of callbacks, receipts (every payment that the provider confirmed,
 * applied to an order or in suspense) and idempotency keys of users.
 */
export class M0003Payments extends Migration {
  override up(): void {
    this.addSql(`
create table payment_channels (
  id integer primary key,
  name varchar(100) not null,
  method text not null check (method in ('virtual_account', 'qris', 'ewallet')),
  channel_code text not null,
  fee_fixed numeric(20, 4) not null check (fee_fixed >= 0),
  fee_basis_points integer not null default 0 check (fee_basis_points between 0 and 10000),
  minimum_amount numeric(20, 4) not null check (minimum_amount >= 1),
  maximum_amount numeric(20, 4) not null,
  needs_phone boolean not null default false,
  active boolean not null default true,
  unique (method, channel_code),
  check (maximum_amount >= minimum_amount)
);

create table payment_orders (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  reference_type text not null,
  reference_id uuid not null,
  target_account_id uuid not null references accounts (id),
  payment_id integer not null references payment_channels (id),
  nominal numeric(20, 4) not null check (nominal > 0),
  admin_fee numeric(20, 4) not null check (admin_fee >= 0),
  status text not null check (status in ('PENDING', 'WAITING_PAYMENT', 'PAID', 'FAILED', 'EXPIRED')),
  provider_payment_request_id text,
  provider_payment_method_id text,
  payment_code text,
  failure_code text,
  texts_sealed text,
  expires_at timestamptz not null,
  request_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  finalized_at timestamptz
);
create index payment_orders_of_user on payment_orders (user_id, created_at desc, id desc);
create index payment_orders_open on payment_orders (expires_at) where status in ('PENDING', 'WAITING_PAYMENT');
create index payment_orders_of_target on payment_orders (reference_id) where status in ('PENDING', 'WAITING_PAYMENT');

create table receipts (
  id uuid primary key,
  provider_payment_id text not null unique,
  provider_payment_method_id text not null,
  reference text not null,
  amount numeric(20, 4) not null check (amount > 0),
  state text not null check (state in ('applied', 'suspended', 'credited', 'refunded')),
  reason text check (reason in ('late', 'double', 'wrong_amount', 'unknown')),
  order_id uuid references payment_orders (id),
  account_id uuid references accounts (id),
  settled_by uuid references users (id),
  note varchar(300),
  received_at timestamptz not null default now(),
  settled_at timestamptz,
  check ((state = 'applied') = (order_id is not null)),
  check ((state = 'applied') = (reason is null))
);
create unique index receipts_of_order on receipts (order_id) where order_id is not null;
create index receipts_in_suspense on receipts (received_at) where state = 'suspended';

create table gateway_callbacks (
  id uuid primary key,
  webhook_id text not null unique,
  event text not null,
  kind text not null,
  reference text not null,
  provider_payment_id text,
  provider_payment_request_id text,
  provider_payment_method_id text,
  provider_transfer_id text,
  body_sealed text not null,
  received_at timestamptz not null default now(),
  delivered_at timestamptz,
  attempts integer not null default 0
);
create index gateway_callbacks_undelivered on gateway_callbacks (received_at) where delivered_at is null;

create table idempotency_keys (
  user_id uuid not null references users (id),
  key_hash text not null,
  fingerprint text not null,
  resource_id uuid not null,
  answer_status smallint,
  answer_body text,
  created_at timestamptz not null default now(),
  primary key (user_id, key_hash),
  check ((answer_status is null) = (answer_body is null))
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
`);
    this.addSql(`
create view check_orders_posted_once as
  select o.id as order_id, o.status, count(j.id) as journals, sum(p.amount) as posted, o.nominal + o.admin_fee as total
  from payment_orders o
  left join journals j on j.business_key = 'payment-order/' || o.id || '/settled'
  left join lateral (select sum(amount) as amount from postings where journal_id = j.id and amount > 0) p on true
  group by o.id
  having (o.status = 'PAID') <> (count(j.id) = 1)
    or (count(j.id) = 1 and sum(p.amount) is distinct from o.nominal + o.admin_fee);
create view check_receipts_posted_once as
  select r.id as receipt_id, r.state, 'an applied receipt belongs to a paid order' as problem
  from receipts r join payment_orders o on o.id = r.order_id
  where o.status <> 'PAID' or r.amount <> o.nominal + o.admin_fee
  union all
  select null, o.status, 'the paid order ' || o.id || ' has no receipt'
  from payment_orders o where o.status = 'PAID' and not exists (select from receipts r where r.order_id = o.id)
  union all
  select r.id, r.state, 'money in suspense has one journal in and, once settled, one out'
  from receipts r
  where r.state <> 'applied' and (
    not exists (select from journals where business_key = 'receipt/' || r.id || '/suspense')
    or (r.state = 'suspended') = exists (select from journals where business_key = 'receipt/' || r.id || '/settled'))
  union all
  select r.id, r.state, 'an applied receipt is not in suspense'
  from receipts r
  where r.state = 'applied' and exists (select from journals where business_key = 'receipt/' || r.id || '/suspense');
create view check_suspense_matches_receipts as
  select coalesce(s.balance, 0) as suspense, r.amount as receipts
  from (select coalesce(sum(amount), 0) as amount from receipts where state = 'suspended') r,
    (select sum(b.balance) as balance from account_balances b join accounts a on a.id = b.account_id
     where a.kind = 'suspense') s
  where coalesce(s.balance, 0) <> r.amount;
create view check_idempotency_keys_complete as
  select k.user_id, k.key_hash, k.resource_id from idempotency_keys k
  where k.answer_status is null and k.created_at < now() - interval '1 hour'
    and not exists (select from payment_orders o where o.id = k.resource_id);
`);
    this.addSql(`
insert into payment_channels (id, name, method, channel_code, fee_fixed, minimum_amount, maximum_amount) values
  (1, 'BCA Virtual Account', 'virtual_account', 'BCA', 4000, 10000, 50000000),
  (2, 'BNI Virtual Account', 'virtual_account', 'BNI', 4000, 1, 50000000),
  (3, 'BRI Virtual Account', 'virtual_account', 'BRI', 4000, 1, 50000000000),
  (4, 'Mandiri Virtual Account', 'virtual_account', 'MANDIRI', 4000, 1, 50000000000),
  (5, 'Permata Virtual Account', 'virtual_account', 'PERMATA', 4000, 1, 9999999999),
  (6, 'BSI Virtual Account', 'virtual_account', 'BSI', 4000, 1, 50000000000),
  (7, 'CIMB Virtual Account', 'virtual_account', 'CIMB', 4000, 1, 50000000),
  (20, 'QRIS', 'qris', 'QRIS', 0, 1, 10000000),
  (30, 'DANA', 'ewallet', 'DANA', 1500, 100, 20000000),
  (31, 'ShopeePay', 'ewallet', 'SHOPEEPAY', 1500, 1, 20000000),
  (32, 'LinkAja', 'ewallet', 'LINKAJA', 1500, 1, 20000000);
`);
  }
}
