-- Withdrawals: payouts of people and organizations, from one of their accounts to one of their bank accounts. The
-- fields of all payouts are in payouts, under the same id; this adds the owner and the destination.

create table withdrawals (
  id uuid primary key references payouts (id),
  -- The requester, and the organization if the account belongs to one.
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  bank_account_id uuid not null references bank_accounts (id),
  transaction_id uuid not null,
  -- For a disbursement: the cause whose money it is, and its purpose, which is public.
  cause_id uuid references charitable_causes (id),
  purpose_note varchar(500) check (length(btrim(purpose_note)) >= 10),
  created_at timestamptz not null,
  check ((cause_id is null) = (purpose_note is null))
);
create index withdrawals_by_creation on withdrawals (created_at, id);
create index withdrawals_of_user on withdrawals (user_id, created_at, id);
create index withdrawals_of_organization on withdrawals (organization_id, created_at, id)
  where organization_id is not null;
create index withdrawals_of_bank_account on withdrawals (bank_account_id);
create index withdrawals_of_cause on withdrawals (cause_id, created_at, id) where cause_id is not null;
create trigger withdrawals_are_final before update or delete on withdrawals for each row execute function refuse_change();

-- A withdrawal pays from an account to a usable bank account of the same owner; any other row would prove journals that
-- empty anybody's account.
create function keep_withdrawal() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (
      select from payouts p
      join accounts a on a.id = p.source_account_id
      join users u on u.id = new.user_id
      join bank_accounts b on b.id = new.bank_account_id
      where p.id = new.id and p.kind = 'withdrawal' and p.created_at = new.created_at and b.bank_code = p.bank_code
        and b.deleted_at is null and b.usable_at <= clock_timestamp()
        and case a.kind
          when 'user' then new.organization_id is null and a.user_id = u.id and b.user_id = u.id
            and b.organization_id is null
          when 'organization' then u.user_type = 'organization' and new.organization_id = u.organization_id
            and a.organization_id = u.organization_id and b.organization_id = u.organization_id
          end
        and (new.cause_id is null or exists (select from charitable_causes c where c.id = new.cause_id
          and c.account_id = a.id and c.approved_at is not null and c.stopped_from is null))) then
    raise exception 'the bank account is not usable or belongs to another owner' using errcode = 'AM010',
      detail = new.id::text;
  end if;
  return new;
end $$;
create trigger withdrawals_are_of_one_owner before insert on withdrawals
  for each row execute function keep_withdrawal();

-- The status of a disbursement's owner if it forbids moving money: `suspended` or `inactive`; otherwise null.
create function owner_of_disbursement(p_withdrawal_id uuid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(case when u.status <> 'active' then u.status end,
    case when o.status in ('suspended', 'inactive') then o.status end)
  from withdrawals w join users u on u.id = w.user_id left join organizations o on o.id = w.organization_id
  where w.id = p_withdrawal_id and w.cause_id is not null
$$;

-- Records e-mails to owners when their withdrawal is paid, and to donors when a disbursement is.
create function tell_of_withdrawal() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform tell('withdrawal', new.id, null, array(select w.user_id from withdrawals w where w.id = new.id));
  insert into mail_rounds (kind, subject)
    select 'disbursement', w.id::text from withdrawals w where w.id = new.id and w.cause_id is not null
    on conflict do nothing;
  return null;
end $$;
create trigger payouts_tell_of_withdrawals after update of status on payouts
  for each row when (new.kind = 'withdrawal' and new.status = 'succeeded') execute function tell_of_withdrawal();

-- Each withdrawal is a payout and has its transaction; check_transactions_agree_with_postings verifies the rows of
-- returned money and later bookings.
create view check_withdrawals_are_told as
  select p.id as withdrawal_id, p.status, p.net_amount + p.fee as amount, told.successful, told.reversed
  from payouts p
  left join withdrawals w on w.id = p.id
  left join lateral (
    select sum(t.amount) filter (where t.status = 'successful') as successful,
      coalesce(sum(t.amount) filter (where t.status = 'reversed'), 0) as reversed,
      bool_or(t.id = w.transaction_id and t.type = 'price' and t.status = 'successful') as named
    from transactions t where t.reference_id = p.id and t.reference_type = 'account_top_up'
      and t.purpose = 'external_withdrawal' and t.source_account_id = p.source_account_id
      and not exists (select from journals j where j.id = t.batch_id and starts_with(j.kind, 'transfer.'))) told on true
  where p.kind = 'withdrawal' and p.updated_at >= checks_since_time() and (w.id is null or told.named is not true
    or told.successful is distinct from p.net_amount + p.fee
    or told.reversed <> case p.status when 'failed' then p.net_amount + p.fee when 'reversed' then p.net_amount else 0 end);

-- Money of an erased person's cause that a decision paid out (book_external), because it cannot be disbursed.
create table cause_remainders (
  cause_id uuid not null references charitable_causes (id),
  decision_id uuid not null,
  amount numeric(20, 4) not null check (amount > 0),
  primary key (cause_id, decision_id)
);
create index cause_remainders_of_decision on cause_remainders (decision_id);
create trigger cause_remainders_are_final before update or delete on cause_remainders for each row execute function refuse_change();

-- The total disbursed by a cause, including pending disbursements and those that left although they failed here, less
-- returns, plus payouts made instead of disbursements.
create function disbursed_of_cause(p_cause_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce((select sum(case when p.has_left then least(p.net_amount, p.booked_amount) else 0 end + case p.status when 'failed' then 0 else p.fee end)
      from withdrawals w join payouts p on p.id = w.id where w.cause_id = p_cause_id), 0)
    + coalesce((select sum(r.amount) from cause_remainders r where r.cause_id = p_cause_id), 0)
$$;

-- The amount that a cause may disburse: donations received less disbursements.
create function disbursable_of_cause(p_cause_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select greatest(cause_current_amount(p_cause_id) - disbursed_of_cause(p_cause_id), 0)::numeric(20, 4)
$$;

-- The amount of disbursements that left although they failed here or were returned; it stays on the account until two
-- people book it.
create function unbooked_of_cause(p_cause_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(p.net_amount), 0) from withdrawals w join payouts p on p.id = w.id
  where w.cause_id = p_cause_id and p.status in ('failed', 'reversed') and p.has_left and p.booked_at is null
$$;

-- The part of a cause's money that may leave its account only by disbursements or refunds. If the account's owner was
-- erased, nobody can disburse, and it is zero once it covers no refundable donation.
create function kept_for_cause(p_cause_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(l.amount), 0)
  from charitable_causes c
  cross join lateral (select disbursable_of_cause(c.id) + unbooked_of_cause(c.id) as amount offset 0) l
  where c.id = p_cause_id and l.amount > 0
    and (not exists (select from accounts a join users u on u.id = a.user_id
        where a.id = c.account_id and a.organization_id is null and u.erased_at is not null)
      or exists (select from donations d where d.cause_id = c.id and d.status = 'completed'
        and d.allocation_batch_id is null and d.amount <= l.amount and refund_account(d.id) is not null))
$$;

-- The part of an account's balance that is reserved for its causes.
create function kept_for_causes(p_account_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(kept_for_cause(c.id)), 0) from charitable_causes c where c.account_id = p_account_id
$$;

-- Refuses a debit that leaves an account with less than is reserved for its causes. The caller has locked the balance;
-- the ledger refuses debits beyond it.
create function refuse_what_causes_keep(p_account_id uuid, p_amount numeric) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  kept numeric;
  held numeric;
begin
  select kept_for_causes(p_account_id), account_balance(p_account_id) into kept, held;
  if kept > 0 and p_amount <= held and p_amount > held - kept then
    raise exception 'only IDR % of the account are free: what was given to its causes leaves it by disbursements',
      greatest(held - kept, 0)::numeric(20, 4) using errcode = 'AM004', column = 'amount';
  end if;
end $$;

-- Donations to an account's causes are on it unless they were disbursed or otherwise paid out. Each change of either
-- posts to the account, so between the nights only accounts with new postings are read.
create view check_causes_keep_what_was_given as
  with held as not materialized (
    select account_id from charitable_causes where checks_read_all() group by account_id
    union all
    select distinct p.account_id from postings p
    -- One account at a time, however many rows the planner expects.
    cross join lateral (select from charitable_causes c where c.account_id = p.account_id limit 1) c
    where not checks_read_all() and p.journal_id >= checks_since())
  select h.account_id, k.kept, account_balance(h.account_id) as balance
  from held h cross join lateral (select sum(disbursable_of_cause(c.id)) as kept from charitable_causes c
    where c.account_id = h.account_id) k
  where k.kept > account_balance(h.account_id);
