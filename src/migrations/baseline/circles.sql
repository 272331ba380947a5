-- Saving circles: the circle, its members, its rounds and their contributions. Contributions rest on the circle's
-- holding account until the round's pot is paid or they are refunded.
--
-- Contributors take a share lock on the circle's row and do not wait for each other; what ends a round (payout,
-- cancellation) takes it whole. One open round for each circle, one pot for each round, and one contribution pending or
-- completed for each member and turn: unique indexes say so, whoever asks.

create table saving_circles (
  id uuid primary key,
  name varchar(255) not null,
  account_id uuid not null references accounts (id),
  holding_account_id uuid not null unique references accounts (id),
  owner_type text not null check (owner_type in ('individual', 'organization')),
  owner_id uuid not null,
  organization_id uuid references organizations (id),
  created_by uuid not null references users (id),
  capacity integer not null check (capacity >= 1),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  visibility text not null check (visibility in ('private', 'public', 'organization')),
  round_interval text not null check (round_interval in ('daily', 'weekly', 'monthly')),
  turn_order text not null check (turn_order in ('joining', 'lottery')),
  -- The terms, all or none.
  grace_days integer check (grace_days between 0 and 30),
  on_default text check (on_default in ('wait', 'cover', 'exclude', 'winner_first')),
  guarantee_percent integer check (guarantee_percent between 0 and 100),
  start_date text not null,
  starts_at timestamptz not null,
  current_turn integer not null default 1,
  first_turn integer,
  status text not null default 'new' check (status in ('new', 'active', 'cancelled', 'completed')),
  schedule_anchor timestamptz,
  schedule_step integer not null default 0 check (schedule_step between 0 and 10000),
  next_opens_at timestamptz,
  draw_commitment text,
  draw_seed_sealed text,
  draw_seed text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  deleted_at timestamptz,
  check (current_turn between 1 and capacity),
  check ((status in ('cancelled', 'completed')) = (ended_at is not null)),
  check (deleted_at is null or status = 'cancelled'),
  check (next_opens_at is null or status = 'active'),
  check ((turn_order = 'lottery') = (draw_commitment is not null)),
  check ((turn_order = 'lottery') = (num_nonnulls(draw_seed_sealed, draw_seed) = 1)),
  check (num_nonnulls(grace_days, on_default, guarantee_percent) in (0, 3))
);
create index saving_circles_by_creation on saving_circles (created_at, id) where deleted_at is null;
create index saving_circles_of_organization on saving_circles (organization_id, created_at, id)
  where organization_id is not null;
create index saving_circles_of_owner on saving_circles (owner_id, created_at, id);
create index saving_circles_of_creator on saving_circles (created_by, created_at, id);
create index saving_circles_of_account on saving_circles (account_id, created_at, id);
create index saving_circles_new on saving_circles (starts_at) where status = 'new';
create index saving_circles_active on saving_circles (id) where status = 'active';
create index saving_circles_cancelled on saving_circles (ended_at) where status = 'cancelled';
create trigger saving_circles_status_law before insert or update of status on saving_circles
  for each row execute function keep_status('status', '>new', 'new>active', 'new>cancelled', 'active>completed',
    'active>cancelled');
create trigger saving_circles_hold_in_their_own_account before insert or update of holding_account_id on saving_circles
  for each row execute function keep_own_accounts('holding_account_id', 'circle_holding');

-- When it starts is written as its founder wrote it; a text that is no time would stop all who read when circles start.
create function keep_start_date() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform (new.start_date || case when length(new.start_date) = 10 then 'T00:00:00+07' else '' end)::timestamptz;
  return new;
end $$;
create trigger saving_circles_when_they_start before insert or update of start_date on saving_circles
  for each row execute function keep_start_date();

create table saving_circle_members (
  id uuid primary key,
  saving_circle_id uuid not null references saving_circles (id),
  account_id uuid not null references accounts (id),
  user_id uuid not null references users (id),
  turn_number integer check (turn_number >= 1),
  joining_order bigint generated always as identity,
  -- What the member adds to the draw of a lottery.
  entropy text check (entropy ~ '^[0-9A-Fa-f]{16,64}$'),
  -- When the member agreed that the account may be debited for contributions after the member's turn.
  consented_at timestamptz,
  created_at timestamptz not null default now(),
  unique (saving_circle_id, user_id),
  unique (saving_circle_id, account_id)
);
create unique index saving_circle_turns on saving_circle_members (saving_circle_id, turn_number)
  where turn_number is not null;
create index saving_circle_members_of_user on saving_circle_members (user_id);
create index saving_circle_members_of_account on saving_circle_members (account_id);

create trigger saving_circle_members_take_money_as_people before insert or update of account_id on saving_circle_members
  for each row execute function keep_account_kinds('account_id', 'user organization');

create table saving_circle_rounds (
  saving_circle_id uuid not null references saving_circles (id),
  turn_number integer not null check (turn_number >= 1),
  receiver_member_id uuid not null references saving_circle_members (id),
  opened_at timestamptz not null,
  due_at timestamptz not null,
  overdue_reported_at timestamptz,
  paid_at timestamptz,
  amount numeric(20, 4) check (amount > 0 and amount < 'Infinity'),
  journal_id uuid unique references journals (id),
  primary key (saving_circle_id, turn_number),
  check (num_nonnulls(paid_at, amount, journal_id) in (0, 3))
);
create index saving_circle_rounds_of_receiver on saving_circle_rounds (receiver_member_id);
create unique index one_open_round_of_a_circle on saving_circle_rounds (saving_circle_id) where paid_at is null;

create table saving_circle_contributions (
  id uuid primary key,
  saving_circle_id uuid not null references saving_circles (id),
  member_id uuid not null references saving_circle_members (id),
  user_id uuid not null references users (id),
  turn_number integer not null,
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  rail text not null check (rail in ('gateway', 'balance')),
  status text not null check (status in ('pending', 'completed', 'failed', 'cancelled', 'refunded')),
  refund_account_id uuid not null references accounts (id),
  payment_order_id uuid unique references payment_orders (id),
  transaction_id uuid,
  refund_journal_id uuid unique references journals (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (saving_circle_id, turn_number) references saving_circle_rounds (saving_circle_id, turn_number),
  check ((rail = 'gateway') = (payment_order_id is not null)),
  check ((status in ('completed', 'refunded')) = (transaction_id is not null)),
  check ((status = 'refunded') = (refund_journal_id is not null))
);
create unique index one_contribution_of_a_turn on saving_circle_contributions (saving_circle_id, user_id, turn_number)
  where status in ('pending', 'completed');
create index saving_circle_contributions_of_member on saving_circle_contributions (member_id);
create index saving_circle_contributions_of_user on saving_circle_contributions (user_id);
create index saving_circle_contributions_of_turn on saving_circle_contributions (saving_circle_id, turn_number, status);
create trigger saving_circle_contributions_status_law before insert or update of status on saving_circle_contributions
  for each row execute function keep_status('status', '>pending', '>completed', 'pending>completed', 'pending>failed',
    'pending>cancelled', 'pending>refunded', 'completed>refunded', 'cancelled>refunded');

create trigger circles_are_kept before delete on saving_circles for each row execute function refuse_change();
create trigger rounds_are_kept before delete on saving_circle_rounds for each row execute function refuse_change();
create trigger contributions_are_kept before delete on saving_circle_contributions
  for each row execute function refuse_change();

create trigger saving_circle_contributions_to_people before insert or update of refund_account_id on saving_circle_contributions
  for each row execute function keep_account_kinds('refund_account_id', 'user organization');
-- A contribution stays whose it is, and to what.
create function keep_contribution() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if (old.saving_circle_id, old.member_id, old.user_id, old.turn_number, old.amount, old.rail, old.refund_account_id)
      is distinct from
      (new.saving_circle_id, new.member_id, new.user_id, new.turn_number, new.amount, new.rail, new.refund_account_id)
  then
    raise exception 'whose contribution it is, and to what, is never changed' using errcode = 'AM003';
  end if;
  return new;
end $$;
create trigger contributions_keep_their_facts before update on saving_circle_contributions
  for each row execute function keep_contribution();

-- One contribution of a member to a turn is open or paid.
create view check_circle_contributions_once as
  select saving_circle_id, user_id, turn_number, count(*) as contributions from saving_circle_contributions
  where status in ('pending', 'completed') group by 1, 2, 3 having count(*) > 1;
-- A contribution that was paid is a line of the ledger of the same amount; one that was given back was posted so.
create view check_circle_contributions_posted as
  select c.id as contribution_id, c.status, 'its price row is missing or differs' as problem
  from saving_circle_contributions c left join transactions t on t.id = c.transaction_id
  where c.transaction_id is not null and (t.id is null or (t.amount, t.type, t.user_id, t.reference_type,
    t.reference_id) <> (c.amount, 'price', c.user_id, 'saving_circle', c.saving_circle_id))
  union all
  select c.id, c.status, 'its refund was posted in another amount, or nowhere'
  from saving_circle_contributions c
  where c.status = 'refunded' and not exists (select from postings p where p.journal_id = c.refund_journal_id
    and p.account_id = c.refund_account_id and p.amount = c.amount);
-- A circle holds what was contributed to turns that are not paid out yet, and nothing besides.
create view check_circle_holdings as
  select s.id as saving_circle_id, account_balance(s.holding_account_id) as held, coalesce(c.amount, 0) as contributed
  from saving_circles s
  left join lateral (select sum(c.amount) as amount from saving_circle_contributions c
    join saving_circle_rounds r using (saving_circle_id, turn_number)
    where c.saving_circle_id = s.id and c.status = 'completed' and r.paid_at is null and s.status = 'active') c on true
  where account_balance(s.holding_account_id) <> coalesce(c.amount, 0);
-- A turn is paid out once, to its receiver, whole, and when everybody has paid.
create view check_circle_pots_paid_once as
  select r.saving_circle_id, r.turn_number, r.amount, c.amount as contributed, p.amount as posted
  from saving_circle_rounds r
  join saving_circle_members m on m.id = r.receiver_member_id
  left join lateral (select sum(amount) as amount, count(*) as count from saving_circle_contributions
    where saving_circle_id = r.saving_circle_id and turn_number = r.turn_number and status = 'completed') c on true
  left join journal_keys j
    on j.business_key = 'saving-circle/' || r.saving_circle_id || '/turn/' || r.turn_number || '/pot'
  left join lateral (select sum(amount) as amount from postings
    where journal_id = j.journal_id and account_id = m.account_id) p on true
  where r.journal_id is distinct from j.journal_id or m.turn_number is distinct from r.turn_number
    or (r.paid_at is not null and (r.amount is distinct from c.amount or r.amount is distinct from p.amount
      or c.count <> (select count(*) from saving_circle_members where saving_circle_id = r.saving_circle_id)));
-- A circle's status, rounds and members agree.
create view check_circle_states as
  select s.id as saving_circle_id, s.status,
    'a completed circle has paid every turn from its first to its last' as problem
  from saving_circles s where s.status = 'completed' and
    (select count(*) from saving_circle_members m where m.saving_circle_id = s.id and m.turn_number >= s.first_turn)
    <> (select count(*) from saving_circle_rounds r where r.saving_circle_id = s.id and r.paid_at is not null)
  union all
  select s.id, s.status, 'an active circle has one open round, or knows when the next one opens'
  from saving_circles s where s.status = 'active' and (s.next_opens_at is null) <>
    exists (select from saving_circle_rounds r
      where r.saving_circle_id = s.id and r.paid_at is null and r.turn_number = s.current_turn)
  union all
  select s.id, s.status, 'members have turns once the circle has started, and not before'
  from saving_circles s where exists (select from saving_circle_members m
    where m.saving_circle_id = s.id and (m.turn_number is null) <> (s.started_at is null))
  union all
  select s.id, s.status, 'nothing is pending in a circle that has ended'
  from saving_circles s where s.ended_at is not null and exists (select from saving_circle_contributions c
    where c.saving_circle_id = s.id and c.status = 'pending')
  union all
  select s.id, s.status, 'a circle has at most as many members as its capacity'
  from saving_circles s
  where s.capacity < (select count(*) from saving_circle_members m where m.saving_circle_id = s.id);
