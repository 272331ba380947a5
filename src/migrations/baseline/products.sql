-- Products. What a product holds is its account's balance; one without a target has no row that its payers share.

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

-- The accounts of products of a kind that surely take these amounts, in the order in which they are asked for; null for any
-- other. A product with a target is locked first, so that what it still takes stays true until the payment is made; of
-- several amounts for it each is judged as if those before it were paid. Null, too, where others hold one for long: who
-- waits for it waits alone.
create function accounts_of_products(p_kind text, p_ids uuid[], p_amounts numeric[]) returns uuid[]
language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms'
set plan_cache_mode = force_generic_plan as $$
declare
  bounded constant uuid[] := array(select p.id from products p where p.id = any (p_ids) and p.kind = p_kind
    and p.target_amount is not null);
  held uuid[] := bounded;
begin
  if cardinality(bounded) > 0 then
    begin
      perform from products p where p.id = any (bounded) order by p.id for no key update;
    exception when lock_not_available then
      held := '{}';
    end;
  end if;
  return array(select (select p.account_id from products p
      cross join lateral (select p.target_amount - account_balance(p.account_id) - asked.before as rest
        where p.target_amount is not null limit 1) free
      where p.id = asked.id and p.kind = p_kind and p.status = 'open' and p.id = any (held)
        and asked.amount <= free.rest and (p.minimum_amount is null or asked.before = 0
          and case when free.rest < p.minimum_amount then asked.amount = free.rest else asked.amount >= p.minimum_amount end)
      union all
      select p.account_id from products p where p.id = asked.id and p.kind = p_kind and p.status = 'open'
        and p.target_amount is null and (p.minimum_amount is null or p.minimum_amount <= asked.amount))
    from (select a.id, a.amount, a.place, coalesce(sum(a.amount) over (partition by a.id order by a.place
        rows between unbounded preceding and 1 preceding), 0) as before
      from unnest(p_ids, p_amounts) with ordinality a (id, amount, place)) asked
    order by asked.place);
end $$;

-- Completes a product that a payment fills, as a saving goal is; a product without a target is not locked.
create function settle_product(p_id uuid, p_strict boolean) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  product products;
  held numeric;
begin
  select * into strict product from products where id = p_id;
  if product.target_amount is not null then
    select * into strict product from products where id = p_id for no key update;
    held := account_balance(product.account_id);
  end if;
  if p_strict and product.status <> 'open' then
    raise exception 'the product is %', product.status using errcode = 'AM004', column = 'reference_id';
  elsif p_strict and held > product.target_amount then
    raise exception 'it would exceed the target of the product' using errcode = 'AM004', column = 'amount';
  end if;
  if held >= product.target_amount and product.status = 'open' then
    update products set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'product', p_id::text, '{"status": "completed"}');
  end if;
end $$;

-- The same for products that were paid together from balances.
create function settle_products(p_paid balance_payment[]) returns bigint language plpgsql strict
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform settle_product(p.reference_id, true) from (select distinct reference_id from unnest(p_paid)) p
    order by p.reference_id;
  return cardinality(p_paid);
end $$;

-- Of saving goals and products alike.
create view check_completed_targets_are_reached as
  select g.id, 'saving goal' as thing, account_balance(g.account_id) as held, g.target_amount
  from saving_goals g where g.status = 'completed' and g.closed_at is null
    and g.updated_at >= checks_since_time() and account_balance(g.account_id) < g.target_amount
  union all
  select p.id, 'product', account_balance(p.account_id), p.target_amount
  from products p
  where p.status = 'completed' and (p.target_amount is null or account_balance(p.account_id) < p.target_amount);
