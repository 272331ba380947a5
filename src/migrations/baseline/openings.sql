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
