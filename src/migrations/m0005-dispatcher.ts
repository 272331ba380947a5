import { Migration } from '@mikro-orm/migrations';

/**
 * What the dispatcher pays for and how it pays from a balance: products, saving goals, and `pay_from_balance`, the one
 * round trip of a balance payment. What a goal or product holds is its account's balance; a product without a target has
 * no row that its payers share.
 *
 * SQLSTATEs of ours: AM004 the target takes no payment now (the message is for the caller).
 */
export class M0005Dispatcher extends Migration {
  override up(): void {
    this.addSql(`
create table products (
  id uuid primary key,
  kind text not null check (kind in ('investment', 'commodity_financing', 'trusted_partner_investment',
    'takaful_insurance', 'takaful_tabaru')),
  name varchar(200) not null,
  account_id uuid not null unique references accounts (id),
  target_amount numeric(20, 4) check (target_amount > 0),
  minimum_amount numeric(20, 4) check (minimum_amount > 0),
  status text not null check (status in ('open', 'closed', 'completed')),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (minimum_amount <= target_amount)
);
create index products_by_creation on products (created_at desc, id desc);

create table saving_goals (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  name varchar(200) not null,
  account_id uuid not null unique references accounts (id),
  target_amount numeric(20, 4) not null check (target_amount > 0),
  target_date date,
  status text not null check (status in ('active', 'completed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index saving_goals_of_user on saving_goals (user_id, created_at desc, id desc);

-- The pending row of a gateway contribution: one open order for a goal, whatever comes at once.
create table saving_goal_orders (
  payment_order_id uuid primary key references payment_orders (id),
  saving_goal_id uuid not null references saving_goals (id),
  status text not null check (status in ('pending', 'completed', 'failed', 'cancelled')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index one_open_order_of_a_goal on saving_goal_orders (saving_goal_id) where status = 'pending';
create index saving_goal_orders_of_goal on saving_goal_orders (saving_goal_id);
`);
    this.addSql(`
-- Completes a goal or product that a payment fills. Called after the journal: what it holds is its account's balance,
-- read under the lock of its row, so that of payments that come at once none goes past the target. A payment that was
-- opened in time (p_strict false) is taken whatever has become of its target. A product without a target is not locked.
create function settle_saving_goal(p_id uuid, p_order_id uuid, p_strict boolean) returns void language plpgsql as $$
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
  end if;
  if p_order_id is not null then
    update saving_goal_orders set status = 'completed', updated_at = now() where payment_order_id = p_order_id;
  end if;
end $$;

create function settle_product(p_id uuid, p_strict boolean) returns void language plpgsql as $$
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
  end if;
end $$;

/*
 * A payment from a balance in one round trip: whose account, idempotency key, journal (lock, check, post), transaction
 * row, event. 'foreign' and 'missing' (the source account), 'reused' (the key) and 'replayed' change nothing; an
 * overdraft raises AM001. p_answer is the answer's body with a place for the new balance, kept under the key.
 */
create function pay_from_balance(
  p_transaction_id uuid, p_journal_id uuid, p_business_key text, p_kind text,
  p_user_id uuid, p_user_type text, p_organization_id uuid,
  p_source uuid, p_target uuid, p_amount numeric,
  p_reference_type text, p_reference_id uuid, p_purpose text, p_request_id text,
  p_key_hash text, p_fingerprint text, p_answer text)
returns table (outcome text, new_balance numeric, answer_status smallint, answer_body text)
language plpgsql rows 1 as $$
declare
  source accounts;
  kept idempotency_keys;
begin
  select * into source from accounts a where a.id = p_source;
  if not found then
    outcome := 'missing'; return next; return;
  end if;
  if not (source.kind = 'user' and source.user_id = p_user_id
      or source.kind = 'organization' and p_user_type = 'organization' and source.organization_id = p_organization_id) then
    outcome := 'foreign'; return next; return;
  end if;
  if p_key_hash is not null then
    insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id)
      values (p_user_id, p_key_hash, p_fingerprint, p_transaction_id) on conflict do nothing;
    if not found then
      select * into kept from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
      outcome := case when kept.fingerprint = p_fingerprint and kept.answer_body is not null
        then 'replayed' else 'reused' end;
      answer_status := kept.answer_status;
      answer_body := kept.answer_body;
      return next; return;
    end if;
  end if;
  if not post_journal(p_journal_id, p_business_key, p_kind, array[p_source, p_target], array[-p_amount, p_amount]) then
    -- The key was forgotten, the journal never is: nothing is paid twice, and no key is left without its answer.
    delete from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
    outcome := 'reused'; return next; return;
  end if;
  select sum(b.balance) into new_balance from account_balances b where b.account_id = p_source;
  insert into transactions (id, user_id, organization_id, amount, status, source_account_id, destination_account_id,
      type, reference_type, reference_id, batch_id, purpose, created_by)
    values (p_transaction_id, p_user_id, p_organization_id, p_amount, 'successful', p_source, p_target,
      'price', p_reference_type, p_reference_id, p_journal_id, p_purpose, p_user_id);
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id)
    values ('RESOURCE_CREATED', 'MEDIUM', 'transaction', p_transaction_id::text, p_user_id, p_request_id);
  answer_status := 201;
  answer_body := replace(p_answer, '<new_balance>', new_balance::text);
  if p_key_hash is not null then
    update idempotency_keys k set answer_status = pay_from_balance.answer_status,
        answer_body = pay_from_balance.answer_body
      where k.user_id = p_user_id and k.key_hash = p_key_hash;
  end if;
  outcome := 'paid';
  return next;
end $$;

create view check_completed_targets_are_reached as
  select g.id, 'saving goal' as thing, account_balance(g.account_id) as held, g.target_amount
  from saving_goals g where g.status = 'completed' and account_balance(g.account_id) < g.target_amount
  union all
  select p.id, 'product', account_balance(p.account_id), p.target_amount
  from products p
  where p.status = 'completed' and (p.target_amount is null or account_balance(p.account_id) < p.target_amount);
create view check_goal_orders_follow_orders as
  select g.payment_order_id, g.status, o.status as order_status
  from saving_goal_orders g join payment_orders o on o.id = g.payment_order_id
  where g.status <> case o.status when 'PAID' then 'completed' when 'FAILED' then 'failed'
    when 'EXPIRED' then 'cancelled' else 'pending' end;
`);
  }
}
