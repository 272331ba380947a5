-- What became of a request that opens something: made, or refused. Both are one row of the resource, so that they
-- exclude each other whatever is tried again meanwhile.

-- Orders requests and refusals. Without a cache, so that a later number is a greater one in every session.
create sequence opening_numbers cache 1;

create table openings (
  resource_id uuid primary key,
  kind text not null check (kind in ('payout', 'withdrawal', 'payment_refund', 'payment_order', 'partner_payment', 'partner_instrument',
    'saving_circle',
    'donation_subscription', 'donation_allocation')),
  -- The number of the request that made the resource.
  made bigint,
  -- No request with this number or a smaller one ever makes the resource; they are told the refusal.
  refused_upto bigint,
  refusal jsonb,
  decided_at timestamptz not null default clock_timestamp(),
  check ((refused_upto is null) = (refusal is null)),
  check (refused_upto < made)
);
create index openings_by_decision on openings (decided_at);

-- What became of requests under an idempotency key: something was made, once, or the last one was refused and the key is
-- free. Both are one row, so that they exclude each other whatever is tried again meanwhile.
create table idempotency_keys (
  -- The user or partner whose key it is.
  owner_id uuid not null,
  key_hash text not null,
  fingerprint text not null,
  resource_id uuid not null,
  -- Of opening_numbers: the request that made the resource.
  made bigint,
  -- No request with this number or a smaller one ever makes anything under the key.
  refused_upto bigint not null default 0,
  refusal jsonb,
  answer_status smallint,
  -- Of a partner sealed, as it may hold bank account numbers, for the row of this id: derived from partner and key, so that
  -- it is known before the row is read.
  answer_body text,
  answer_sealed text,
  id uuid,
  decided_at timestamptz not null default clock_timestamp(),
  primary key (owner_id, key_hash),
  check (num_nonnulls(answer_status, answer_body, answer_sealed) in (0, 2)),
  check (num_nonnulls(answer_body, answer_sealed) <= 1),
  check (refused_upto < made),
  check (num_nonnulls(made, refusal) <= 1),
  check (answer_status is null or made is not null)
);
create index idempotency_keys_by_time on idempotency_keys using brin (decided_at)
  with (pages_per_range = 16, autosummarize = on);
create index idempotency_keys_by_age on idempotency_keys (decided_at) where answer_status is not null or refusal is not null;
create index idempotency_keys_by_id on idempotency_keys (id) where id is not null;

-- Attaches a key to what its request makes; a concurrent request under the key waits here. Answers whether it is attached
-- now: false where it was already, to something else, null where a later request under it was refused.
create function claim_key(p_owner_id uuid, p_key_hash text, p_fingerprint text, p_resource_id uuid, p_number bigint)
returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into idempotency_keys as k (owner_id, key_hash, fingerprint, resource_id, made)
    values (p_owner_id, p_key_hash, p_fingerprint, p_resource_id, p_number)
    on conflict (owner_id, key_hash) do update set fingerprint = excluded.fingerprint, resource_id = excluded.resource_id,
        made = excluded.made, refusal = null, decided_at = excluded.decided_at
      where k.refused_upto < excluded.made and (k.made is null
        or (k.fingerprint, k.resource_id) = (excluded.fingerprint, excluded.resource_id));
  if found then return true; end if;
  return (select case when k.made is not null then false end from idempotency_keys k
    where k.owner_id = p_owner_id and k.key_hash = p_key_hash);
end $$;

/*
 * Refuses what was asked for under a key: no request before this moment makes it, also one that is under way, which is
 * waited for. Answers the key's row instead, and writes nothing, where something was made meanwhile. The key stays free
 * for later requests.
 */
create function refuse_under_key(p_owner_id uuid, p_key_hash text, p_fingerprint text, p_refusal jsonb)
returns setof idempotency_keys language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform refuse_old_snapshot();
  insert into idempotency_keys as k (owner_id, key_hash, fingerprint, resource_id)
    values (p_owner_id, p_key_hash, p_fingerprint, uuidv7())
    on conflict (owner_id, key_hash) do update set fingerprint = excluded.fingerprint where k.made is null;
  -- The number is drawn after the wait.
  update idempotency_keys k set refused_upto = nextval('opening_numbers'), refusal = p_refusal,
      decided_at = clock_timestamp()
    where k.owner_id = p_owner_id and k.key_hash = p_key_hash and k.made is null;
  if not found then
    return query select * from idempotency_keys k where k.owner_id = p_owner_id and k.key_hash = p_key_hash;
  end if;
end $$;

-- What was refused has no row, what was made has one.
create view check_openings_are_kept as
  select o.resource_id, o.kind, o.made, o.refused_upto from openings o
  left join lateral (
    select 1 as there from payouts r where o.kind = 'payout' and r.id = o.resource_id
    union all select 1 from withdrawals r where o.kind = 'withdrawal' and r.id = o.resource_id
    union all select 1 from payment_refunds r where o.kind = 'payment_refund' and r.id = o.resource_id
    union all select 1 from payment_orders r where o.kind = 'payment_order' and r.id = o.resource_id
    union all select 1 from partner_payments r where o.kind = 'partner_payment' and r.id = o.resource_id
    union all select 1 from partner_instruments r where o.kind = 'partner_instrument' and r.id = o.resource_id
    union all select 1 from saving_circles r where o.kind = 'saving_circle' and r.id = o.resource_id
    union all select 1 from donation_subscriptions r where o.kind = 'donation_subscription' and r.id = o.resource_id
    union all select 1 from donation_allocations r where o.kind = 'donation_allocation' and r.id = o.resource_id
  ) resource on true
  where o.decided_at >= checks_since_time()
    and ((o.made is not null) <> (resource.there is not null) or o.made <= o.refused_upto);
-- A user's key has its refusal, or what was made under it: of a payment from a balance its answer, until that is forgotten, by its
-- age or with whom it belonged to; one of an order may wait for it.
create view check_idempotency_keys_complete as
  select k.owner_id, k.resource_id from idempotency_keys k
  where k.answer_status is null and k.decided_at between now() - interval '30 days' and now() - interval '1 hour'
    and k.decided_at >= checks_since_time() and (k.made is not null or k.refusal is null)
    and not exists (select from payment_orders o where o.id = k.resource_id)
    and not exists (select from users u where u.id = k.owner_id and u.erased_at is not null)
    and not exists (select from partners p where p.id = k.owner_id);
