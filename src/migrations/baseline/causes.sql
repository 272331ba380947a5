-- Causes, their managers, and totals of received donations.
--
-- A cause's total is split into seventeen shards. Each connection adds to one of sixteen, so that concurrent payers do
-- not wait for each other. No donation changes the cause's own row; donations share-lock it as their last step.
-- Triggers of donations maintain the totals. Refunds and allocations use the remaining shard, so single shards may be
-- negative, but never their sum.

create table charitable_causes (
  id uuid primary key,
  name varchar(200) not null,
  description text not null,
  target_amount numeric(20, 4) not null check (target_amount > 0 and target_amount < 'Infinity'),
  currency char(3) not null default 'IDR' check (currency = 'IDR'),
  location varchar(255),
  regulations text not null,
  benefit text not null,
  owner_type text not null check (owner_type in ('organization', 'individual', 'platform')),
  organization_id uuid references organizations (id),
  account_id uuid not null references accounts (id),
  status text not null check (status in ('pending', 'new', 'active', 'approved', 'in_progress', 'completed',
    'cancelled', 'rejected', 'deactivated')),
  -- The status before the platform stopped the cause; while it is set, the status is rejected.
  stopped_from text check (stopped_from in ('pending', 'new', 'active', 'approved', 'in_progress', 'completed',
    'cancelled', 'rejected', 'deactivated')),
  created_by uuid not null references users (id),
  approved_by uuid references users (id),
  approved_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (status not in ('active', 'approved') or approved_at is not null),
  check (stopped_from not in ('active', 'approved') or approved_at is not null),
  check (stopped_from is null or status = 'rejected'),
  check ((approved_at is null) = (approved_by is null))
);
create trigger charitable_causes_take_money_for_people before insert or update of account_id on charitable_causes
  for each row execute function keep_account_kinds('account_id', 'user organization');
create index charitable_causes_by_creation on charitable_causes (created_at, id);
create index charitable_causes_of_organization on charitable_causes (organization_id, created_at, id)
  where organization_id is not null;
create index charitable_causes_of_account on charitable_causes (account_id, created_at, id);
create trigger charitable_causes_of_nobody_erased before insert on charitable_causes
  for each row execute function refuse_erased('created_by');
-- A closed or stopped cause is not reopened once its owner has been erased.
create trigger charitable_causes_reopened_for_nobody_erased before update of status on charitable_causes
  for each row when (new.owner_type = 'individual' and new.status <> old.status
    and new.status not in ('completed', 'cancelled', 'rejected', 'deactivated'))
  execute function refuse_erased('created_by');
create index charitable_causes_of_approver on charitable_causes (approved_by) where approved_by is not null;
create index charitable_causes_of_creator on charitable_causes (created_by, created_at, id);
create trigger charitable_causes_status_law before insert or update of status on charitable_causes
  for each row execute function keep_status('status', '>pending', '*');

create table cause_managers (
  cause_id uuid not null references charitable_causes (id),
  user_id uuid not null references users (id),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  primary key (cause_id, user_id)
);
create index cause_managers_of_user on cause_managers (user_id);
create index cause_managers_of_creator on cause_managers (created_by);
create trigger cause_managers_of_nobody_erased before insert on cause_managers
  for each row execute function refuse_erased('user_id');

create table cause_totals (
  cause_id uuid not null,
  shard smallint not null check (shard between 0 and 16),
  donated numeric(30, 4) not null check (donated > '-Infinity' and donated < 'Infinity'),
  donations bigint not null,
  primary key (cause_id, shard)
) with (fillfactor = 60);
-- Only the triggers of donations write totals; a direct statement runs at depth 0.
create trigger totals_follow_donations before insert or update or delete on cause_totals
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();

-- The donations received by a cause, in IDR, net of refunds, including money it has disbursed.
create function cause_current_amount(p_cause_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(donated), 0)::numeric(20, 4) from cause_totals where cause_id = p_cause_id
$$;

-- Returns the targets of donations to causes, in the order of the request. Only reads a cause's row, so that donors do
-- not wait for each other.
create function targets_of_causes(p_ids uuid[]) returns payment_target[] language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan as $$
begin
  return array(select case
      when c.id is null then row(null, refusal('NOT_FOUND', 'the charitable cause was not found', 'reference_id'))::payment_target
      when c.status <> 'active' and (c.status <> 'in_progress' or c.approved_at is null) then
        row(null, refusal('REQUEST_INVALID', 'the charitable cause is ' || c.status, 'reference_id'))::payment_target
      when o.status in ('inactive', 'suspended') then row(null, refusal('REQUEST_INVALID',
        'the charitable cause is of an organization that is ' || o.status, 'reference_id'))::payment_target
      else row(c.account_id, null)::payment_target end
    from unnest(p_ids) with ordinality asked (id, place)
    left join lateral (select * from charitable_causes c where c.id = asked.id limit 1) c on true
    left join lateral (select o.status from organizations o where o.id = c.organization_id limit 1) o on true
    order by asked.place);
end $$;

-- Share-locks causes that received donations until the transaction ends, so that none is closed, and then completed,
-- before the money is committed. Donors do not wait for each other. This is the last lock of a donation, and of every
-- transaction that completes a cause. Refuses a cause that was closed, or whose organization was suspended, after the
-- donation was checked. Waits only briefly, so that a cause locked for long does not delay other payments in the batch.
create function hold_causes(p_ids uuid[]) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms'
set plan_cache_mode = force_generic_plan as $$
declare
  owners constant uuid[] := array(select distinct c.organization_id from charitable_causes c
    where c.id = any (p_ids) and c.organization_id is not null);
begin
  if (select count(*) from (
        select from organizations o where o.id = any (owners) and o.status not in ('inactive', 'suspended')
        order by o.id for key share) held) < cardinality(owners)
    or (select count(*) from (
        select from charitable_causes c where c.id = any (p_ids) and c.status in ('active', 'in_progress')
        order by c.id for key share) held)
      < (select count(*) from charitable_causes c where c.id = any (p_ids)) then
    raise exception 'the charitable cause no longer accepts donations' using errcode = 'AM004', column = 'reference_id';
  end if;
end $$;

-- As hold_causes, for a cause that received money by the gateway. Returns whether it is active or in progress.
create function hold_open_cause(p_id uuid) returns boolean language plpgsql
set search_path = pg_catalog, public, pg_temp
set lock_timeout = '500ms' as $$
begin
  perform from charitable_causes c where c.id = p_id and c.status in ('active', 'in_progress') for key share;
  return found;
end $$;
