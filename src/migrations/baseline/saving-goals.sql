-- Saving goals. What a goal holds is its account's balance.

create table saving_goals (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  name varchar(200) not null,
  account_id uuid not null unique references accounts (id),
  target_amount numeric(20, 4) not null check (target_amount > 0 and target_amount < 'Infinity'),
  target_date date,
  status text not null check (status in ('active', 'completed')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index saving_goals_by_creation on saving_goals (created_at desc, id desc);
create index saving_goals_of_user on saving_goals (user_id, created_at desc, id desc);
create trigger saving_goals_status_law before insert or update of status on saving_goals
  for each row execute function keep_status('status', '>active', 'active>completed', 'completed>active');

-- The pending row of a gateway contribution: one open order for a goal, whatever comes at once.
create table saving_goal_orders (
  payment_order_id uuid primary key references payment_orders (id),
  saving_goal_id uuid not null references saving_goals (id),
  status text not null check (status in ('pending', 'completed', 'failed', 'cancelled')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index one_open_order_of_a_goal on saving_goal_orders (saving_goal_id) where status = 'pending';
create trigger saving_goal_orders_status_law before insert or update of status on saving_goal_orders
  for each row execute function keep_status('status', '>pending', 'pending>completed', 'pending>failed',
    'pending>cancelled');

-- Completes a goal that a payment fills. Called after the journal: what it holds is its account's balance, read under
-- the lock of its row, so that of payments that come at once none goes past the target. A payment that was opened in
-- time (p_strict false) is taken whatever has become of its target.
create function settle_saving_goal(p_id uuid, p_order_id uuid, p_strict boolean) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  goal saving_goals;
  held numeric;
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  held := account_balance(goal.account_id);
  if p_strict and goal.status <> 'active' then
    raise exception 'the saving goal is completed' using errcode = 'AM004', column = 'reference_id';
  elsif p_strict and held > goal.target_amount then
    raise exception 'it would go past the target of the saving goal' using errcode = 'AM004', column = 'amount';
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

-- The order of a saving goal has the status of its payment order.
create view check_goal_orders_follow_orders as
  select g.payment_order_id, g.status, o.status as order_status
  from saving_goal_orders g join payment_orders o on o.id = g.payment_order_id
  where g.status <> case o.status when 'PAID' then 'completed' when 'FAILED' then 'failed'
    when 'EXPIRED' then 'cancelled' else 'pending' end;
