-- Saving goals. A goal's money is its account's balance.

create table saving_goals (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  name varchar(200) not null,
  account_id uuid not null unique references accounts (id),
  target_amount numeric(20, 4) not null check (target_amount > 0 and target_amount < 'Infinity'),
  target_date date,
  status text not null check (status in ('active', 'completed')),
  -- When it was closed, and the account that received its money and receives later payments.
  closed_at timestamptz,
  released_to uuid references accounts (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((closed_at is null) = (released_to is null))
);
create index saving_goals_by_creation on saving_goals (created_at desc, id desc);
create index saving_goals_of_user on saving_goals (user_id, created_at desc, id desc);
create index saving_goals_by_change on saving_goals (updated_at);
create index saving_goals_by_closing on saving_goals (closed_at) where closed_at is not null;
create trigger saving_goals_of_nobody_erased before insert on saving_goals
  for each row execute function refuse_erased('user_id');
create trigger saving_goals_status_law before insert or update of status on saving_goals
  for each row execute function keep_status('status', '>active', 'active>completed', 'completed>active');
create trigger saving_goals_keep_their_own before insert or update of account_id on saving_goals
  for each row execute function keep_own_accounts('account_id', 'saving_goal');
create trigger saving_goals_stay_closed before update of closed_at, released_to on saving_goals
  for each row when (old.closed_at is not null
    and (new.closed_at, new.released_to) is distinct from (old.closed_at, old.released_to))
  execute function refuse_change();

-- A goal is released only to an account of its saver, or of the organization that they act for.
create function keep_release_with_saver() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from accounts a join users u on u.id = new.user_id where a.id = new.released_to
      and (a.kind = 'user' and a.user_id = u.id
        or a.kind = 'organization' and u.user_type = 'organization' and a.organization_id = u.organization_id)) then
    raise exception 'saving_goals %: released_to % is not an account of the saver', new.id, new.released_to
      using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = 'released_to';
  end if;
  return new;
end $$;
create trigger saving_goals_release_to_their_saver before insert or update of released_to on saving_goals
  for each row when (new.released_to is not null) execute function keep_release_with_saver();

-- Gateway contributions. A goal has at most one open order, even for simultaneous requests.
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

-- Moves the balance of a closed goal to the account of its release, with a transaction row. The caller has locked the
-- goal's row. Runs at the release, and after the payment of an order. Returns the journal, or null if the balance is
-- zero.
create function empty_saving_goal(p_id uuid, p_order_id uuid, p_actor_id uuid) returns uuid language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  goal saving_goals;
  held numeric;
  journal uuid := uuidv7();
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  held := account_balance(goal.account_id);
  if held = 0 then
    return null;
  end if;
  if not post_journal(journal, 'saving-goal/' || p_id || '/released' || coalesce('/' || p_order_id, ''),
      'saving-goal.released', array[goal.account_id, goal.released_to], array[-held, held]) then
    raise exception 'this release is already posted' using errcode = 'AM003', detail = p_id::text;
  end if;
  perform record_transactions(journal, jsonb_build_array(jsonb_build_object('id', uuidv7(), 'user_id', goal.user_id,
    'organization_id', goal.organization_id, 'amount', held, 'status', 'successful',
    'source_account_id', goal.account_id, 'destination_account_id', goal.released_to, 'type', 'price',
    'reference_type', 'saving_goal', 'reference_id', p_id, 'purpose', 'internal_withdrawal', 'created_by', p_actor_id)));
  insert into events (event, impact, resource_type, resource_id, actor_id, data)
    values ('RESOURCE_UPDATED', 'MEDIUM', 'saving_goal', p_id::text, p_actor_id, jsonb_build_object(
      'released_to', goal.released_to, 'amount', held::numeric(20, 4)::text, 'journal_id', journal));
  return journal;
end $$;

-- Completes a goal whose target a payment has reached. Called after the journal, under the lock of the goal's row.
-- Accepts the payment of an order whatever the goal's current status; for a closed goal moves it on to the account of
-- its release.
create function settle_saving_goal(p_id uuid, p_order_id uuid) returns void
language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  goal saving_goals;
begin
  select * into strict goal from saving_goals where id = p_id for no key update;
  if goal.closed_at is not null then
    perform empty_saving_goal(p_id, p_order_id, null);
  elsif goal.status = 'active' and account_balance(goal.account_id) >= goal.target_amount then
    update saving_goals set status = 'completed', updated_at = now() where id = p_id;
    insert into events (event, impact, resource_type, resource_id, data)
      values ('RESOURCE_UPDATED', 'MEDIUM', 'saving_goal', p_id::text, '{"status": "completed"}');
  end if;
  if p_order_id is not null then
    update saving_goal_orders set status = 'completed', updated_at = now() where payment_order_id = p_order_id;
  end if;
end $$;

-- Returns the targets of payments by these users into goals, in the order of the request. Locks and checks as
-- targets_of_products does.
create function targets_of_saving_goals(p_user_ids uuid[], p_ids uuid[], p_amounts numeric[], p_hold boolean)
returns payment_target[] language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms'
set plan_cache_mode = force_generic_plan as $$
begin
  if p_hold then
    begin
      perform from saving_goals g where g.id = any (p_ids) and g.user_id = any (p_user_ids)
        order by g.id for no key update;
    exception when lock_not_available then
      return array_fill(null::payment_target, array[cardinality(p_ids)]);
    end;
  end if;
  return array(select case
      when g.id is null then row(null, refusal('NOT_FOUND', 'the saving goal was not found', 'reference_id'))::payment_target
      when g.user_id <> a.user_id then row(null, refusal('FORBIDDEN',
        'the saving goal is not yours', 'reference_id'))::payment_target
      when g.closed_at is not null then row(null, refusal('REQUEST_INVALID',
        'the saving goal is closed', 'reference_id'))::payment_target
      when g.status <> 'active' then row(null, refusal('REQUEST_INVALID',
        'the saving goal is completed', 'reference_id'))::payment_target
      when account_balance(g.account_id) + a.upto <= g.target_amount then row(g.account_id, null)::payment_target
      when a.upto = a.amount then row(null, refusal('REQUEST_INVALID',
        'it would exceed the target of the saving goal', 'amount'))::payment_target end
    from (select a.user_id, a.id, a.amount, a.place, sum(a.amount) over (partition by a.id, a.user_id order by a.place) as upto
      from unnest(p_user_ids, p_ids, p_amounts) with ordinality a (user_id, id, amount, place)) a
    left join lateral (select * from saving_goals g where g.id = a.id limit 1) g on true
    order by a.place);
end $$;

-- As settle_saving_goal, for goals that were paid from balances.
create function settle_saving_goals(p_paid balance_payment[]) returns bigint language plpgsql strict
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform settle_saving_goal(p.reference_id, null) from (select distinct reference_id from unnest(p_paid)) p
    order by p.reference_id;
  return cardinality(p_paid);
end $$;

-- The order of a saving goal has the status of its payment order.
create view check_goal_orders_follow_orders as
  select g.payment_order_id, g.status, o.status as order_status
  from saving_goal_orders g join payment_orders o on o.id = g.payment_order_id
  where o.updated_at >= checks_since_time() and g.status <> case o.status when 'PAID' then 'completed' when 'FAILED' then 'failed'
    when 'EXPIRED' then 'cancelled' else 'pending' end;
-- A closed goal is empty, and its money was moved only to the account of its release, or paid out for an erased saver
-- as two people decided (check_decisions_were_carried_out).
create view check_closed_goals_are_empty as
  select g.id as saving_goal_id, account_balance(g.account_id) as held, null::uuid as journal_id
  from saving_goals g where g.closed_at >= checks_since_time() and account_balance(g.account_id) <> 0
  union all
  select g.id, null, p.journal_id
  from saving_goals g
  join postings p on p.account_id = g.account_id and p.amount < 0
  where p.journal_id >= checks_since() and not exists (select from postings r
    where r.journal_id = p.journal_id and r.account_id = g.released_to and r.amount = -p.amount)
    and not exists (select from journals j where j.id = p.journal_id and j.kind = 'platform.external');
