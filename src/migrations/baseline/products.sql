-- Products. A product's money is its account's balance. Payers into a product without a target lock no common row.

create table products (
  id uuid primary key,
  kind text not null check (kind in ('investment', 'commodity_financing', 'trusted_partner_investment',
    'takaful_insurance', 'takaful_tabaru')),
  name varchar(200) not null,
  account_id uuid not null unique references accounts (id),
  target_amount numeric(20, 4) check (target_amount > 0 and target_amount < 'Infinity'),
  minimum_amount numeric(20, 4) check (minimum_amount > 0 and minimum_amount < 'Infinity'),
  status text not null check (status in ('open', 'closed', 'completed')),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (minimum_amount <= target_amount)
);
create index products_of_creator on products (created_by);
create trigger products_of_nobody_erased before insert on products
  for each row execute function refuse_erased('created_by');
create index products_by_creation on products (created_at desc, id desc);
create index products_completed on products (id) where status = 'completed';
create trigger products_status_law before insert or update of status on products
  for each row execute function keep_status('status', '>open', 'open>closed', 'open>completed', 'closed>open',
    'completed>open', 'completed>closed');

-- Returns the targets of payments into products of a kind, in the order of the request. With p_hold locks products with
-- a target first, so that the remaining amount stays valid until the payment. Several amounts for one product are each
-- checked as if the earlier ones were paid. Returns null for an amount that does not fit after those, and for a product
-- that is locked for long: such a payment is retried alone.
create function targets_of_products(p_kind text, p_ids uuid[], p_amounts numeric[], p_hold boolean) returns payment_target[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms'
set plan_cache_mode = force_generic_plan as $$
declare
  bounded constant uuid[] := case when p_hold then array(select p.id from products p
    where p.id = any (p_ids) and p.kind = p_kind and p.target_amount is not null) end;
  is_held boolean := true;
begin
  if cardinality(bounded) > 0 then
    begin
      perform from products p where p.id = any (bounded) order by p.id for no key update;
    exception when lock_not_available then
      is_held := false;
    end;
  end if;
  return array(select case
      when p.id is null then row(null, refusal('NOT_FOUND', 'the product was not found', 'reference_id'))::payment_target
      when p.kind <> p_kind then row(null, refusal('REQUEST_INVALID',
        format('a product of kind %s, not %s', p.kind, p_kind), 'reference_id'))::payment_target
      when not is_held and p.id = any (bounded) then null
      when p.status <> 'open' then row(null, refusal('REQUEST_INVALID',
        'the product is ' || p.status, 'reference_id'))::payment_target
      when asked.complaint is null then row(p.account_id, null)::payment_target
      when asked.before = 0 then row(null, refusal('REQUEST_INVALID', asked.complaint, 'amount'))::payment_target end
    from (select a.id, a.amount, a.place, coalesce(sum(a.amount) over (partition by a.id order by a.place
        rows between unbounded preceding and 1 preceding), 0) as before
      from unnest(p_ids, p_amounts) with ordinality a (id, amount, place)) a
    left join lateral (select * from products p where p.id = a.id limit 1) p on true
    -- Read a product's balance only if it has a target.
    cross join lateral (select case when p.target_amount is not null
      then (p.target_amount - account_balance(p.account_id) - a.before)::numeric(20, 4) end as rest offset 0) free
    cross join lateral (select a.before, a.place, case
      when p.minimum_amount is not null and free.rest < p.minimum_amount then
        case when a.amount <> free.rest then 'the product takes exactly IDR ' || free.rest end
      when a.amount < p.minimum_amount then 'the product takes at least IDR ' || p.minimum_amount
      when a.amount > free.rest then 'it would exceed the target of the product' end as complaint) asked
    order by asked.place);
end $$;

-- Completes a product whose target a payment has reached, as settle_saving_goal does. Does not lock a product without a
-- target.
create function settle_product(p_id uuid) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  product products;
begin
  select * into strict product from products where id = p_id;
  if product.target_amount is null then
    return;
  end if;
  select * into strict product from products where id = p_id for no key update;
  if account_balance(product.account_id) >= product.target_amount and product.status = 'open' then
    update products set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'product', p_id::text, '{"status": "completed"}');
  end if;
end $$;

-- As settle_product, for products that were paid from balances.
create function settle_products(p_paid balance_payment[]) returns bigint language plpgsql strict
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform settle_product(p.reference_id) from (select distinct reference_id from unnest(p_paid)) p
    order by p.reference_id;
  return cardinality(p_paid);
end $$;

-- Completed saving goals and products hold at least their target.
create view check_completed_targets_are_reached as
  select g.id, 'saving goal' as thing, account_balance(g.account_id) as held, g.target_amount
  from saving_goals g where g.status = 'completed' and g.closed_at is null
    and g.updated_at >= checks_since_time() and account_balance(g.account_id) < g.target_amount
  union all
  select p.id, 'product', account_balance(p.account_id), p.target_amount
  from products p
  where p.status = 'completed' and (p.target_amount is null or account_balance(p.account_id) < p.target_amount);
