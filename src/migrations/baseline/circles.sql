-- Saving circles: the circle, its members, its rounds and their contributions. Contributions stay in the circle's
-- holding account until the round's pot is paid or they are refunded.
--
-- Contributors share-lock the circle's row and do not wait for each other; payout and cancellation lock it exclusively.
-- Unique indexes allow one open round per circle, one pot per round, and one pending or completed contribution per
-- member and turn.

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
  -- The terms: all set, or none.
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
create index saving_circles_to_open on saving_circles (next_opens_at) where next_opens_at is not null;
-- For the checks, which read open and recently ended circles.
create index saving_circles_by_end on saving_circles ((coalesce(ended_at, 'infinity')));
create index saving_circles_cancelled on saving_circles (ended_at) where status = 'cancelled';
create trigger saving_circles_of_nobody_erased before insert on saving_circles
  for each row execute function refuse_erased('created_by');
create trigger saving_circles_status_law before insert or update of status on saving_circles
  for each row execute function keep_status('status', '>new', 'new>active', 'new>cancelled', 'active>completed',
    'active>cancelled');
create trigger saving_circles_hold_in_their_own_account before insert or update of holding_account_id on saving_circles
  for each row execute function keep_own_accounts('holding_account_id', 'circle_holding');

-- Validates the start date, which is stored as requested: an invalid date would fail every query for due circles.
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
  -- The member's value for the draw of a lottery.
  entropy text check (entropy ~ '^[0-9A-Fa-f]{16,64}$'),
  -- When the member consented to debits of the account for contributions after the member's turn.
  consented_at timestamptz,
  -- The result of a lottery's draw, not affected by later changes to turns and places.
  drawn_turn integer check (drawn_turn >= 1),
  drawn_account_id uuid,
  check ((drawn_turn is null) = (drawn_account_id is null)),
  -- The turn at which a default ended the member's place; a turn not yet received is lost.
  excluded_turn integer check (excluded_turn >= 1),
  created_at timestamptz not null default now(),
  unique (saving_circle_id, user_id),
  unique (saving_circle_id, account_id)
);
create unique index saving_circle_turns on saving_circle_members (saving_circle_id, turn_number)
  where turn_number is not null;
create index saving_circle_members_of_user on saving_circle_members (user_id);
create index saving_circle_members_of_account on saving_circle_members (account_id);
create trigger saving_circle_members_of_nobody_erased before insert or update of user_id on saving_circle_members
  for each row execute function refuse_erased('user_id');

create trigger saving_circle_members_take_money_as_people before insert or update of account_id on saving_circle_members
  for each row execute function keep_account_kinds('account_id', 'user organization');

-- Amount, terms and first turn are fixed while anybody but the creator is a member. Interval and turn order never
-- change.
create function keep_plan() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if (old.round_interval, old.turn_order) is distinct from (new.round_interval, new.turn_order)
    or ((old.amount, old.grace_days, old.on_default, old.guarantee_percent)
          is distinct from (new.amount, new.grace_days, new.on_default, new.guarantee_percent)
        or (new.status = 'new' and old.current_turn <> new.current_turn))
      and exists (select from saving_circle_members m
        where m.saving_circle_id = new.id and m.user_id <> new.created_by) then
    raise exception 'amount, terms, first turn, interval and turn order cannot change' using errcode = 'AM003';
  end if;
  return new;
end $$;
create trigger saving_circles_keep_their_plan
  before update of amount, grace_days, on_default, guarantee_percent, current_turn, round_interval, turn_order
  on saving_circles for each row execute function keep_plan();

create table saving_circle_rounds (
  saving_circle_id uuid not null references saving_circles (id),
  turn_number integer not null check (turn_number >= 1),
  receiver_member_id uuid not null references saving_circle_members (id),
  opened_at timestamptz not null,
  due_at timestamptz not null,
  reminded_at timestamptz,
  overdue_reported_at timestamptz,
  -- When missing contributions became a default, and when the remedy was last tried.
  defaulted_at timestamptz,
  remedied_at timestamptz,
  paid_at timestamptz,
  amount numeric(20, 4) check (amount > 0 and amount < 'Infinity'),
  journal_id uuid unique references journals (id),
  -- When sweeps look at the round again: no step is due before. A sweep postpones it, or clears it if no step remains.
  look_at timestamptz default now(),
  primary key (saving_circle_id, turn_number),
  check (num_nonnulls(paid_at, amount, journal_id) in (0, 3))
);
create index saving_circle_rounds_of_receiver on saving_circle_rounds (receiver_member_id);
create unique index one_open_round_of_a_circle on saving_circle_rounds (saving_circle_id) where paid_at is null;
create index saving_circle_rounds_to_look_at on saving_circle_rounds (look_at) where look_at is not null;

-- Makes sweeps look again at a round whose end changes.
create function look_at_round() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  new.look_at := new.opened_at;
  return new;
end $$;
create trigger saving_circle_rounds_are_looked_at before update of due_at on saving_circle_rounds
  for each row execute function look_at_round();

create table saving_circle_contributions (
  id uuid primary key,
  saving_circle_id uuid not null references saving_circles (id),
  member_id uuid not null references saving_circle_members (id),
  user_id uuid not null references users (id),
  turn_number integer not null,
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  -- The guarantee paid with a member's first contribution, which the circle holds until its end.
  guarantee_amount numeric(20, 4) not null default 0 check (guarantee_amount >= 0 and guarantee_amount < 'Infinity'),
  rail text not null check (rail in ('gateway', 'balance')),
  status text not null check (status in ('pending', 'completed', 'failed', 'cancelled', 'refunded')),
  refund_account_id uuid not null references accounts (id),
  payment_order_id uuid unique references payment_orders (id),
  transaction_id uuid,
  refund_journal_id uuid unique references journals (id),
  -- The refunded amount: late money in full, otherwise the contribution without its guarantee.
  refunded_amount numeric(20, 4),
  -- When a sweep found that this completed contribution completes no round.
  swept_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  foreign key (saving_circle_id, turn_number) references saving_circle_rounds (saving_circle_id, turn_number),
  check ((rail = 'gateway') = (payment_order_id is not null)),
  check ((status in ('completed', 'refunded')) = (transaction_id is not null)),
  check ((status = 'refunded') = (refund_journal_id is not null)),
  check ((status = 'refunded') = (refunded_amount is not null)),
  check (refunded_amount in (amount, amount + guarantee_amount))
);
create unique index one_contribution_of_a_turn on saving_circle_contributions (saving_circle_id, member_id, turn_number)
  where status in ('pending', 'completed');
create unique index one_guarantee_of_a_member on saving_circle_contributions (member_id)
  where guarantee_amount > 0 and status in ('pending', 'completed');
create index saving_circle_contributions_unswept on saving_circle_contributions (updated_at)
  where status = 'completed' and swept_at is null;
-- For the checks; see payment_orders_by_change.
create index saving_circle_contributions_by_change on saving_circle_contributions using brin (updated_at)
  with (pages_per_range = 16, autosummarize = on);
create index saving_circle_contributions_of_member on saving_circle_contributions (member_id);
create index saving_circle_contributions_of_user on saving_circle_contributions (user_id);
create index saving_circle_contributions_of_turn on saving_circle_contributions (saving_circle_id, turn_number, status);
create trigger saving_circle_contributions_status_law before insert or update of status on saving_circle_contributions
  for each row execute function keep_status('status', '>pending', '>completed', 'pending>completed', 'pending>failed',
    'pending>cancelled', 'pending>refunded', 'completed>refunded', 'cancelled>refunded');

-- Records an e-mail receipt when a contribution is paid.
create function tell_of_contribution() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform tell('contribution', new.id, null, array[new.user_id]);
  return null;
end $$;
create trigger contributions_are_told after insert or update of status on saving_circle_contributions
  for each row when (new.status = 'completed') execute function tell_of_contribution();

-- People invited by the creator or an admin, who may read the circle while it is new, and join by themselves.
create table saving_circle_invitations (
  saving_circle_id uuid not null references saving_circles (id),
  user_id uuid not null references users (id),
  created_by uuid not null references users (id),
  created_at timestamptz not null default now(),
  primary key (saving_circle_id, user_id)
);
create index saving_circle_invitations_of_user on saving_circle_invitations (user_id);
create index saving_circle_invitations_of_creator on saving_circle_invitations (created_by);
create trigger saving_circle_invitations_of_nobody_erased before insert on saving_circle_invitations
  for each row execute function refuse_erased('user_id');

-- Replacements of members: proposed, accepted by both members, completed.
create table saving_circle_replacements (
  id uuid primary key,
  saving_circle_id uuid not null references saving_circles (id),
  member_id uuid not null references saving_circle_members (id) on delete cascade,
  leaving_user_id uuid not null references users (id),
  account_id uuid not null references accounts (id),
  user_id uuid not null references users (id),
  proposed_by uuid not null references users (id),
  left_at timestamptz,
  joined_at timestamptz,
  status text not null default 'pending' check (status in ('pending', 'completed', 'withdrawn')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (status <> 'completed' or num_nonnulls(left_at, joined_at) = 2)
);
create unique index one_replacement_of_a_member on saving_circle_replacements (member_id) where status = 'pending';
create index saving_circle_replacements_of_member on saving_circle_replacements (member_id);
create index saving_circle_replacements_of_circle on saving_circle_replacements (saving_circle_id);
create index saving_circle_replacements_of_account on saving_circle_replacements (account_id);
create index saving_circle_replacements_of_user on saving_circle_replacements (user_id);
create index saving_circle_replacements_of_leaving on saving_circle_replacements (leaving_user_id);
create index saving_circle_replacements_of_proposer on saving_circle_replacements (proposed_by);
create trigger saving_circle_replacements_status_law before insert or update of status on saving_circle_replacements
  for each row execute function keep_status('status', '>pending', 'pending>completed', 'pending>withdrawn');

-- A place is transferred only if both members have agreed.
create function keep_place() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if (old.user_id, old.account_id) is distinct from (new.user_id, new.account_id)
      and not exists (select from saving_circle_replacements r where r.member_id = new.id and r.status = 'completed'
        and r.user_id = new.user_id and r.account_id = new.account_id and r.leaving_user_id = old.user_id) then
    raise exception 'both members must agree to transfer the place' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $$;
create trigger places_pass_over_as_agreed before update of user_id, account_id on saving_circle_members
  for each row execute function keep_place();

-- Members' standing orders, which pay each round when it opens: the account, the exact contribution, the guarantee that
-- the first payment includes, and the last turn that was tried.
create table saving_circle_standing_orders (
  -- The id of the member.
  id uuid primary key references saving_circle_members (id) on delete cascade,
  source_account_id uuid not null references accounts (id),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  guarantee_amount numeric(20, 4) not null check (guarantee_amount >= 0 and guarantee_amount < 'Infinity'),
  attempted_turn integer,
  created_at timestamptz not null default now()
);
create index saving_circle_standing_orders_of_account on saving_circle_standing_orders (source_account_id);
create trigger saving_circle_standing_orders_of_people before insert or update of source_account_id
  on saving_circle_standing_orders for each row execute function keep_account_kinds('source_account_id', 'user organization');

-- The parts of a round's pot paid by guarantees, by debtor and guarantor.
create table saving_circle_covers (
  saving_circle_id uuid not null,
  turn_number integer not null,
  debtor_member_id uuid not null references saving_circle_members (id),
  guarantor_member_id uuid not null references saving_circle_members (id),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  created_at timestamptz not null default now(),
  primary key (saving_circle_id, turn_number, debtor_member_id, guarantor_member_id),
  foreign key (saving_circle_id, turn_number) references saving_circle_rounds (saving_circle_id, turn_number)
);
create index saving_circle_covers_of_debtor on saving_circle_covers (debtor_member_id);
create index saving_circle_covers_of_guarantor on saving_circle_covers (guarantor_member_id);
create trigger covers_are_final before update or delete on saving_circle_covers
  for each row execute function refuse_change();

-- The shares of a circle's remaining balance at its end.
create table saving_circle_settlements (
  -- The id of the member.
  id uuid primary key references saving_circle_members (id),
  saving_circle_id uuid not null references saving_circles (id),
  account_id uuid not null references accounts (id),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  created_at timestamptz not null default now()
);
create index saving_circle_settlements_of_circle on saving_circle_settlements (saving_circle_id);
create index saving_circle_settlements_of_account on saving_circle_settlements (account_id);
create trigger settlements_are_final before update or delete on saving_circle_settlements
  for each row execute function refuse_change();
create trigger saving_circle_settlements_to_people before insert on saving_circle_settlements
  for each row execute function keep_account_kinds('account_id', 'user organization');

-- Each member's position: amounts paid and received (pots and settlement). `elsewhere` is the amount paid in rounds
-- that the circle held elsewhere before, less the pot received there; `covered` is the used part of the guarantee.
create view saving_circle_positions as
  select m.id as member_id, m.saving_circle_id, m.account_id, m.user_id, m.turn_number, m.joining_order, m.excluded_turn,
    c.paid, c.guarantee, r.received + s.received as received, g.covered,
    case when o.first_turn > 1 then (o.first_turn - 1) * o.amount - case when m.turn_number < o.first_turn
      then o.amount * (select count(*) from saving_circle_members a where a.saving_circle_id = o.id) else 0 end
      else 0 end as elsewhere
  from saving_circle_members m
  join saving_circles o on o.id = m.saving_circle_id
  cross join lateral (select coalesce(sum(c.amount) filter (where c.status = 'completed'), 0) as paid,
      coalesce(sum(case c.status when 'completed' then c.guarantee_amount
        when 'refunded' then c.amount + c.guarantee_amount - c.refunded_amount end), 0) as guarantee
    from saving_circle_contributions c where c.member_id = m.id) c
  cross join lateral (select coalesce(sum(r.amount), 0) as received
    from saving_circle_rounds r where r.receiver_member_id = m.id) r
  cross join lateral (select coalesce(sum(s.amount), 0) as received
    from saving_circle_settlements s where s.id = m.id) s
  cross join lateral (select coalesce(sum(g.amount), 0) as covered
    from saving_circle_covers g where g.guarantor_member_id = m.id) g;

create trigger circles_are_kept before delete on saving_circles for each row execute function refuse_change();
create trigger rounds_are_kept before delete on saving_circle_rounds for each row execute function refuse_change();
create trigger contributions_are_kept before delete on saving_circle_contributions
  for each row execute function refuse_change();

create trigger saving_circle_contributions_to_people before insert or update of refund_account_id on saving_circle_contributions
  for each row execute function keep_account_kinds('refund_account_id', 'user organization');
-- A contribution's circle, member, payer, turn, amounts, rail and refund account never change.
create function keep_contribution() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if (old.saving_circle_id, old.member_id, old.user_id, old.turn_number, old.amount, old.guarantee_amount, old.rail,
        old.refund_account_id)
      is distinct from
      (new.saving_circle_id, new.member_id, new.user_id, new.turn_number, new.amount, new.guarantee_amount, new.rail,
        new.refund_account_id)
  then
    raise exception 'the member, payer and circle of a contribution cannot change' using errcode = 'AM003';
  end if;
  return new;
end $$;
create trigger contributions_keep_their_facts before update on saving_circle_contributions
  for each row execute function keep_contribution();

-- A member has at most one open or paid contribution per turn.
create view check_circle_contributions_once as
  select saving_circle_id, member_id, turn_number, count(*) as contributions from saving_circle_contributions
  where status in ('pending', 'completed') and updated_at >= checks_since_time() group by 1, 2, 3 having count(*) > 1;
-- A paid contribution has a ledger line of the same amount, including its guarantee; a refund was posted too.
create view check_circle_contributions_posted as
  select c.id as contribution_id, c.status, 'its price row is missing or differs' as problem
  from saving_circle_contributions c left join transactions t on t.id = c.transaction_id
  where c.transaction_id is not null and c.updated_at >= checks_since_time()
    and (t.id is null or (t.amount, t.type, t.user_id, t.reference_type, t.reference_id)
      <> (c.amount + c.guarantee_amount, 'price', c.user_id, 'saving_circle', c.saving_circle_id))
  union all
  select c.id, c.status, 'its refund was not posted, or with another amount'
  from saving_circle_contributions c
  where c.status = 'refunded' and c.updated_at >= checks_since_time()
    and not exists (select from postings p where p.journal_id = c.refund_journal_id
      and p.account_id = c.refund_account_id and p.amount = c.refunded_amount);
-- A circle's balance is what its members paid in less what was paid out, and zero once it has ended.
create view check_circle_holdings as
  select s.id as saving_circle_id, account_balance(s.holding_account_id) as held,
    coalesce(p.brought, 0) - coalesce(p.received, 0) as due
  from saving_circles s
  left join lateral (select sum(paid + guarantee) as brought, sum(received) as received
    from saving_circle_positions where saving_circle_id = s.id) p on true
  where coalesce(s.ended_at, 'infinity') >= checks_since_time()
    and (account_balance(s.holding_account_id) <> coalesce(p.brought, 0) - coalesce(p.received, 0)
      or (s.ended_at is not null and account_balance(s.holding_account_id) <> 0));
-- A turn is paid out once, in full, to its receiver, after every member with a place in it has paid or is covered.
create view check_circle_pots_paid_once as
  select r.saving_circle_id, r.turn_number, r.amount, c.amount + g.amount as contributed, p.amount as posted
  from saving_circle_rounds r
  join saving_circles s on s.id = r.saving_circle_id
  join saving_circle_members m on m.id = r.receiver_member_id
  left join lateral (select coalesce(sum(amount), 0) as amount, count(*) as count from saving_circle_contributions
    where saving_circle_id = r.saving_circle_id and turn_number = r.turn_number and status = 'completed') c on true
  left join lateral (select coalesce(sum(amount), 0) as amount, count(distinct debtor_member_id) as count
    from saving_circle_covers
    where saving_circle_id = r.saving_circle_id and turn_number = r.turn_number) g on true
  -- One look-up per round; for a join the planner would read the keys of all journals.
  left join lateral (select k.journal_id from journal_keys k
    where k.business_key = 'saving-circle/' || r.saving_circle_id || '/turn/' || r.turn_number || '/pot' limit 1) j on true
  left join lateral (select sum(amount) as amount from postings
    where journal_id = j.journal_id and account_id in (m.account_id, (select t.destination_account_id
      from transactions t where t.batch_id = j.journal_id))) p on true
  where coalesce(s.ended_at, 'infinity') >= checks_since_time() and (r.journal_id is distinct from j.journal_id
    or ((r.paid_at is not null or s.status = 'active') and m.turn_number is distinct from r.turn_number)
    or (r.paid_at is not null and (r.amount is distinct from c.amount + g.amount or r.amount is distinct from p.amount
      or c.count + g.count <> (select count(*) from saving_circle_members n
        where n.saving_circle_id = r.saving_circle_id and coalesce(n.excluded_turn > r.turn_number, true)))));
-- Covers of a default sum to the whole contribution, and no guarantee covers more than its amount.
create view check_circle_covers as
  select g.saving_circle_id, g.turn_number, g.debtor_member_id as member_id, sum(g.amount) as covered,
    'the covers differ from the missing contribution' as problem
  from saving_circle_covers g join saving_circles s on s.id = g.saving_circle_id
  where coalesce(s.ended_at, 'infinity') >= checks_since_time()
  group by g.saving_circle_id, g.turn_number, g.debtor_member_id, s.amount having sum(g.amount) <> s.amount
  union all
  select p.saving_circle_id, null, p.member_id, p.covered, 'the covers exceed the guarantee'
  from saving_circle_positions p join saving_circles s on s.id = p.saving_circle_id
  where coalesce(s.ended_at, 'infinity') >= checks_since_time() and p.covered > p.guarantee;
-- A circle's remaining balance was paid to its members as recorded, and nobody got more than was due. After the last
-- round everybody has their unused guarantee back, less their debts.
create view check_circle_settlements as
  select s.id as member_id, s.amount, p.amount as posted
  from saving_circle_settlements s
  join saving_circle_positions m on m.member_id = s.id
  join saving_circles o on o.id = s.saving_circle_id
  left join journal_keys j on j.business_key = 'saving-circle/' || s.saving_circle_id || '/settlement'
  left join lateral (select sum(amount) as amount from postings
    where journal_id = j.journal_id and account_id = s.account_id) p on true
  where coalesce(o.ended_at, 'infinity') >= checks_since_time()
    and (p.amount is distinct from s.amount or m.paid + m.guarantee - m.received + m.elsewhere < 0)
  union all
  select m.member_id, coalesce(s.amount, 0), null
  from saving_circle_positions m
  join saving_circles c on c.id = m.saving_circle_id and c.status = 'completed'
    and coalesce(c.ended_at, 'infinity') >= checks_since_time()
  left join saving_circle_settlements s on s.id = m.member_id
  where m.guarantee > 0 and coalesce(s.amount, 0) < least(m.guarantee - m.covered,
    m.paid + m.guarantee - m.received + m.elsewhere + coalesce(s.amount, 0));
-- A circle's status, rounds and members agree.
create view check_circle_states as
  select s.id as saving_circle_id, s.status,
    'a completed circle has paid every turn from its first to its last' as problem
  from saving_circles s
  where s.status = 'completed' and coalesce(s.ended_at, 'infinity') >= checks_since_time() and
    (select count(*) from saving_circle_members m where m.saving_circle_id = s.id and m.turn_number >= s.first_turn)
    <> (select count(*) from saving_circle_rounds r where r.saving_circle_id = s.id and r.paid_at is not null)
  union all
  select s.id, s.status, 'an active circle has one open round, or a time for the next'
  from saving_circles s
  where s.status = 'active' and coalesce(s.ended_at, 'infinity') >= checks_since_time() and (s.next_opens_at is null) <>
    exists (select from saving_circle_rounds r
      where r.saving_circle_id = s.id and r.paid_at is null and r.turn_number = s.current_turn)
  union all
  select s.id, s.status, 'members have turns exactly if the circle has started'
  from saving_circles s
  where coalesce(s.ended_at, 'infinity') >= checks_since_time() and exists (select from saving_circle_members m
    where m.saving_circle_id = s.id and (m.turn_number is null) <> (s.started_at is null) and m.excluded_turn is null)
  union all
  select s.id, s.status, 'an ended circle has no pending rows'
  from saving_circles s
  where s.ended_at is not null and coalesce(s.ended_at, 'infinity') >= checks_since_time()
    and exists (select from saving_circle_contributions c where c.saving_circle_id = s.id and c.status = 'pending')
  union all
  select s.id, s.status, 'a circle has no more members than its capacity'
  from saving_circles s
  where coalesce(s.ended_at, 'infinity') >= checks_since_time()
    and s.capacity < (select count(*) from saving_circle_members m where m.saving_circle_id = s.id);
