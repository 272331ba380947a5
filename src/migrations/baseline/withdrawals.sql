-- Withdrawals: payouts of people and organizations, from an account of theirs to a bank account of theirs. What is of every
-- payout stands in payouts, under the same id; here stands whose it is and where it goes.

create table withdrawals (
  id uuid primary key references payouts (id),
  -- Who asked for it; and the organization, when the account is one of its.
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  bank_account_id uuid not null references bank_accounts (id),
  transaction_id uuid not null,
  created_at timestamptz not null
);
create index withdrawals_by_creation on withdrawals (created_at, id);
create index withdrawals_of_user on withdrawals (user_id, created_at, id);
create index withdrawals_of_organization on withdrawals (organization_id, created_at, id)
  where organization_id is not null;
create index withdrawals_of_bank_account on withdrawals (bank_account_id);
create trigger withdrawals_are_final before update or delete on withdrawals for each row execute function refuse_change();

-- Money goes from an account of somebody to a bank account of the same owner that is usable: a row that says otherwise
-- would prove journals that empty anybody's account.
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
          end) then
    raise exception 'a withdrawal goes to a usable bank account of whose money it is' using errcode = 'AM010',
      detail = new.id::text;
  end if;
  return new;
end $$;
create trigger withdrawals_are_of_one_owner before insert on withdrawals
  for each row execute function keep_withdrawal();

-- Each withdrawal is a payout and has its transaction; what came back has rows of its own.
create view check_withdrawals_are_told as
  select p.id as withdrawal_id, p.status, p.net_amount + p.fee as amount, told.successful, told.reversed
  from payouts p
  left join withdrawals w on w.id = p.id
  left join lateral (
    select sum(t.amount) filter (where t.status = 'successful') as successful,
      coalesce(sum(t.amount) filter (where t.status = 'reversed'), 0) as reversed,
      bool_or(t.id = w.transaction_id and t.type = 'price' and t.status = 'successful') as named
    from transactions t where t.reference_id = p.id and t.reference_type = 'account_top_up'
      and t.purpose = 'external_withdrawal' and t.source_account_id = p.source_account_id) told on true
  where p.kind = 'withdrawal' and (w.id is null or told.named is not true
    or told.successful is distinct from p.net_amount + p.fee
    or told.reversed <> case p.status when 'failed' then p.net_amount + p.fee when 'reversed' then p.net_amount else 0 end);
