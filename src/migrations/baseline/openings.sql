-- The outcome of a request that creates a resource, with or without an idempotency key: created or refused. Both are in
-- one row, so that they exclude each other, whoever retries. A payment from a balance without a key has no row; its
-- journal's key makes it idempotent.

-- Numbers requests and refusals. Without a cache, so that numbers increase across sessions.
create sequence opening_numbers cache 1;

create table requests (
  -- The user or partner with the key, and the key; without a key, the resource and an empty key.
  owner_id uuid not null,
  key_hash text not null,
  -- The digest of the body; empty if the body was not examined.
  fingerprint text not null,
  resource_id uuid not null,
  -- The kind of resource that a workflow opens; null for a payment from a balance.
  kind text check (kind in ('payout', 'withdrawal', 'payment_refund', 'payment_order', 'partner_payment', 'partner_instrument', 'payout_batch',
    'donation_subscription', 'donation_allocation')),
  -- The number of the request that created the resource.
  made bigint,
  -- Requests up to this number create nothing; an equal request gets the refusal.
  refused_upto bigint not null default 0,
  refusal jsonb,
  answer_status smallint,
  -- The first response: to a person as answer_body, to a partner as answer_sealed, because it may contain bank account
  -- numbers. It is sealed for the id, which is derived from partner and key and so is known before the row is read.
  answer_body text,
  answer_sealed text,
  -- The payer's balance in the first response to a payment from a balance, which is rebuilt from the payment. IDR.
  new_balance numeric(20, 4),
  id uuid,
  decided_at timestamptz not null default clock_timestamp(),
  primary key (owner_id, key_hash),
  check (num_nonnulls(answer_status, answer_body, answer_sealed) in (0, 2)),
  check (num_nonnulls(answer_body, answer_sealed) <= 1),
  check (refused_upto < made),
  check (num_nonnulls(made, refusal) <= 1),
  check (answer_status is null or made is not null)
);
create index requests_by_time on requests using brin (decided_at) with (pages_per_range = 16, autosummarize = on);
create index requests_by_age on requests (decided_at)
  where answer_status is not null or refusal is not null or key_hash = '';
create index requests_by_id on requests (id) where id is not null;
create index requests_for_resource on requests (resource_id) where kind is not null;
-- A resource created under a key never changes, and a refusal is never withdrawn.
create trigger requests_keep_what_became_of_them before update on requests
  for each row when (new.refused_upto < old.refused_upto or old.made is not null
    and (old.owner_id, old.key_hash, old.fingerprint, old.resource_id, old.made)
      is distinct from (new.owner_id, new.key_hash, new.fingerprint, new.resource_id, new.made))
  execute function refuse_change();

-- The resource of an accepted request exists, and that of a refused request does not.
create view check_requests_are_kept as
  select o.resource_id, o.kind, o.made, o.refused_upto from requests o
  left join lateral (
    select 1 as there from payouts r where o.kind = 'payout' and r.id = o.resource_id
    union all select 1 from withdrawals r where o.kind = 'withdrawal' and r.id = o.resource_id
    union all select 1 from payment_refunds r where o.kind = 'payment_refund' and r.id = o.resource_id
    union all select 1 from payment_orders r where o.kind = 'payment_order' and r.id = o.resource_id
    union all select 1 from partner_payments r where o.kind = 'partner_payment' and r.id = o.resource_id
    union all select 1 from partner_instruments r where o.kind = 'partner_instrument' and r.id = o.resource_id
    union all select 1 from payout_batches r where o.kind = 'payout_batch' and r.id = o.resource_id
    union all select 1 from donation_subscriptions r where o.kind = 'donation_subscription' and r.id = o.resource_id
    union all select 1 from donation_allocations r where o.kind = 'donation_allocation' and r.id = o.resource_id
  ) resource on true
  where o.kind is not null and o.decided_at >= checks_since_time() and (o.made is not null) <> (resource.there is not null);
