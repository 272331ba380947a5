-- Subscriptions: recurring donations to a cause, and the outcome of each attempt to collect one.

create table donation_subscriptions (
  id uuid primary key,
  user_id uuid not null references users (id),
  cause_id uuid not null references charitable_causes (id),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  source_account_id uuid not null references accounts (id),
  interval text not null check (interval in ('weekly', 'monthly')),
  status text not null check (status in ('active', 'stopped', 'failed')),
  started_at timestamptz not null,
  periods_paid integer not null default 0 check (periods_paid between 0 and 10000),
  -- When the next period is due, in calendar months of UTC+7.
  due_at timestamptz not null generated always as ((started_at at time zone interval '7 hours'
    + case "interval" when 'weekly' then make_interval(weeks => periods_paid)
        else make_interval(months => periods_paid) end) at time zone interval '7 hours') stored,
  refusals smallint not null default 0 check (refusals between 0 and 3),
  -- When the last attempt was made; the next one counts from it.
  attempted_at timestamptz not null default now(),
  -- When the receiving side last refused the next period; that is not an attempt.
  postponed_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status = 'active') = (ended_at is null))
);
create index donation_subscriptions_of_user on donation_subscriptions (user_id, created_at desc, id desc);
create trigger donation_subscriptions_of_nobody_erased before insert on donation_subscriptions
  for each row execute function refuse_erased('user_id');
create index donation_subscriptions_due on donation_subscriptions (due_at) where status = 'active';
create index donation_subscriptions_by_change on donation_subscriptions (updated_at);
create index donation_subscriptions_stopped on donation_subscriptions (ended_at) where status = 'stopped';
create trigger donation_subscriptions_status_law before insert or update of status on donation_subscriptions
  for each row execute function keep_status('status', '>active', 'active>stopped', 'active>failed');

create table donation_subscription_attempts (
  subscription_id uuid not null references donation_subscriptions (id),
  period integer not null check (period >= 0),
  attempt smallint not null check (attempt between 1 and 3),
  outcome text not null check (outcome in ('paid', 'refused')),
  reason text,
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (subscription_id, period, attempt),
  check ((outcome = 'refused') = (reason is not null))
);
create unique index donation_subscription_periods_paid on donation_subscription_attempts (subscription_id, period)
  where outcome = 'paid';
create trigger donation_subscription_attempts_outcome_law
  before insert or update of outcome on donation_subscription_attempts
  for each row execute function keep_status('outcome', '>paid', '>refused');
create trigger subscription_attempts_are_final before update or delete on donation_subscription_attempts
  for each row execute function refuse_change();
