import { Migration } from '@mikro-orm/migrations';

/**
 * Payouts: money reserved, sent once, spent or returned. An attempt is written down before it is made, and a payout has
 * one that may have reached the provider, never two. Reconciliation keeps what we and the provider say differently.
 */
export class M0009Payouts extends Migration {
  override up(): void {
    this.addSql(`
create table payouts (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  reference varchar(40) not null unique,
  external_ref varchar(128),
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  amount numeric(20, 4) not null check (amount > 0),
  fee numeric(20, 4) not null check (fee >= 0),
  net_amount numeric(20, 4) not null check (net_amount > 0 and net_amount = trunc(net_amount)),
  provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0),
  bank_code text not null references payout_banks (bank_code),
  texts_sealed text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'reversed')),
  failure_code text,
  provider_transfer_id text unique,
  last_word text check (last_word in ('accepted', 'succeeded', 'failed', 'reversed', 'refused', 'unsent', 'not known',
    'silent', 'another amount')),
  last_word_at timestamptz,
  asked_at timestamptz,
  asks integer not null default 0,
  unknown_since timestamptz,
  contradicted_at timestamptz,
  look_again_at timestamptz,
  version integer not null default 0,
  request_id text,
  finalized_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (amount = case fee_mode when 'DEDUCTED' then net_amount + fee else net_amount end),
  check ((status = 'pending') = (finalized_at is null)),
  check ((status = 'failed') = (failure_code is not null)),
  check (unknown_since is null or status = 'pending'),
  check (contradicted_at is null or status <> 'pending')
);
create index payouts_of_partner on payouts (partner_id, created_at desc, id desc) include (status, amount);
create index payouts_by_external_ref on payouts (partner_id, external_ref) where external_ref is not null;
create index payouts_by_creation on payouts (created_at, id);
create index payouts_unknown on payouts (unknown_since) where unknown_since is not null;
create index payouts_contradicted on payouts (contradicted_at) where contradicted_at is not null;
create index payouts_to_look_at on payouts (look_again_at) where look_again_at is not null;

-- An attempt without an outcome may have reached the provider. Only one that provably never left is followed by another.
create table payout_attempts (
  payout_id uuid not null references payouts (id),
  number smallint not null check (number > 0),
  sent_at timestamptz not null default clock_timestamp(),
  outcome text check (outcome in ('accepted', 'refused', 'unknown', 'unsent')),
  answered_at timestamptz,
  primary key (payout_id, number),
  check ((outcome is null) = (answered_at is null))
);
create unique index payout_attempts_once on payout_attempts (payout_id) where outcome is distinct from 'unsent';

-- What the provider said of a transfer, one row for each change of it.
create table payout_words (
  id bigint generated always as identity primary key,
  payout_id uuid not null references payouts (id),
  said text not null,
  failure_code text,
  at timestamptz not null
);
create index payout_words_of_payout on payout_words (payout_id, id);

create function move_payout() returns trigger language plpgsql as $$
begin
  if new.status <> old.status and (old.status, new.status) not in
      (('pending', 'succeeded'), ('pending', 'failed'), ('succeeded', 'reversed')) then
    raise exception 'a payout does not go from % to %', old.status, new.status using errcode = 'AM003';
  end if;
  if (new.partner_id, new.amount, new.fee, new.net_amount, new.bank_code, new.created_at)
      is distinct from (old.partner_id, old.amount, old.fee, old.net_amount, old.bank_code, old.created_at) then
    raise exception 'what a payout pays is never changed' using errcode = 'AM003';
  end if;
  return new;
end $$;
create trigger payouts_move_forward before update on payouts for each row execute function move_payout();
create trigger payouts_are_kept before delete on payouts for each row execute function refuse_change();

create table reconciliations (
  id uuid primary key,
  day date not null,
  resource_type text not null check (resource_type in ('payout', 'payment')),
  -- The provider's id of the money, or our own where the provider knows none.
  subject text not null,
  resource_id uuid,
  reference text not null,
  ours jsonb,
  theirs jsonb,
  state text not null default 'open' check (state in ('open', 'explained', 'resolved')),
  note varchar(300),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (day, resource_type, subject),
  check ((state = 'explained') <= (note is not null))
);
create index reconciliations_by_creation on reconciliations (created_at desc, id desc);
create index reconciliations_open on reconciliations (day) where state = 'open';
`);
    this.addSql(`
create view check_payouts_posted_once as
  with posted as (
    select split_part(j.business_key, '/', 2) as payout_id, split_part(j.business_key, '/', 3) as step,
      sum(g.amount) filter (where g.amount > 0) as amount
    from journals j join postings g on g.journal_id = j.id
    where j.business_key like 'partner-payout/%' group by 1, 2)
  select p.id as payout_id, p.status, p.net_amount + p.fee as amount, reserved.amount as reserved, spent.amount as spent,
    returned.amount as returned, reversed.amount as reversed
  from payouts p
  left join posted reserved on reserved.payout_id = p.id::text and reserved.step = 'reserved'
  left join posted spent on spent.payout_id = p.id::text and spent.step = 'spent'
  left join posted returned on returned.payout_id = p.id::text and returned.step = 'returned'
  left join posted reversed on reversed.payout_id = p.id::text and reversed.step = 'reversed'
  where reserved.amount is distinct from p.net_amount + p.fee
    or spent.amount is distinct from case when p.status in ('succeeded', 'reversed') then p.net_amount + p.fee end
    or returned.amount is distinct from case when p.status = 'failed' then p.net_amount + p.fee end
    or reversed.amount is distinct from case when p.status = 'reversed' then p.net_amount end;
create view check_partner_reserved_matches_payouts as
  select p.id as partner_id, account_balance(p.reserved_account_id) as balance, coalesce(open.amount, 0) as open_payouts
  from partners p
  left join lateral (select sum(net_amount + fee) as amount from payouts
    where partner_id = p.id and status = 'pending') open on true
  where account_balance(p.reserved_account_id) <> coalesce(open.amount, 0);
create view check_payouts_sent_once as
  select p.id as payout_id, p.status, p.provider_transfer_id, count(a.number) as attempts
  from payouts p left join payout_attempts a on a.payout_id = p.id and a.outcome is distinct from 'unsent'
  group by p.id
  having count(a.number) > 1 or (p.provider_transfer_id is not null and count(a.number) = 0);
`);
    // The least and the most that a bank takes are the provider's to refuse; the table keeps what no rail can carry.
    this.addSql(`update payout_banks set minimum_amount = 1`);
  }
}
