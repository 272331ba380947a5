import { Migration } from '@mikro-orm/migrations';

/**
 * What follows from a payment is told as events like every other change: the goal or product that a payment completes,
 * and the request that a donation was made by.
 */
export class M0012EffectsTell extends Migration {
  override up(): void {
    this.addSql(`
create or replace function settle_saving_goal(p_id uuid, p_order_id uuid, p_strict boolean) returns void
language plpgsql as $$
declare
  goal saving_goals;
  held numeric;
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  held := account_balance(goal.account_id);
  if p_strict and goal.status <> 'active' then
    raise exception 'reference_id: the saving goal is completed' using errcode = 'AM004';
  elsif p_strict and held > goal.target_amount then
    raise exception 'amount: it would go past the target of the saving goal' using errcode = 'AM004';
  end if;
  if held >= goal.target_amount and goal.status = 'active' then
    update saving_goals set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'saving_goal', p_id::text, '{"status": "completed"}');
  end if;
  if p_order_id is not null then
    update saving_goal_orders set status = 'completed', updated_at = now() where payment_order_id = p_order_id;
  end if;
end $$;

create or replace function settle_product(p_id uuid, p_strict boolean) returns void language plpgsql as $$
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
    raise exception 'reference_id: the product is %', product.status using errcode = 'AM004';
  elsif p_strict and held > product.target_amount then
    raise exception 'amount: it would go past the target of the product' using errcode = 'AM004';
  end if;
  if held >= product.target_amount and product.status = 'open' then
    update products set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'product', p_id::text, '{"status": "completed"}');
  end if;
end $$;

drop function settle_donation(text, uuid, uuid, numeric, uuid, uuid, uuid, integer);
create function settle_donation(p_type text, p_user_id uuid, p_cause_id uuid, p_amount numeric, p_order_id uuid,
  p_transaction_id uuid, p_subscription_id uuid default null, p_period integer default null,
  p_request_id text default null)
returns uuid language plpgsql as $$
declare
  settled uuid;
  happened text := 'RESOURCE_UPDATED';
begin
  if p_order_id is not null then
    update donations set status = 'completed', transaction_id = p_transaction_id, updated_at = now()
      where payment_order_id = p_order_id and status = 'pending' returning id into settled;
  end if;
  if settled is null then
    happened := 'RESOURCE_CREATED';
    insert into donations (id, user_id, type, amount, status, cause_id, transaction_id, payment_order_id,
        subscription_id, period)
      values (gen_random_uuid(), p_user_id, p_type, p_amount, 'completed', p_cause_id, p_transaction_id, p_order_id,
        p_subscription_id, p_period) returning id into settled;
  end if;
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id, data)
    values (happened, 'MEDIUM', 'donation', settled::text, p_user_id, p_request_id,
      jsonb_build_object('status', 'completed', 'transaction_id', p_transaction_id));
  return settled;
end $$;
`);
  }
}
