-- Payouts to a bank account, or to the wallet that paid: reserved, sent once, then spent or returned. All share one
-- life cycle; `kind` determines the owner of the money, the checks and the effects. An attempt is recorded before it is
-- made. The same frozen request may be repeated if the provider reports that it does not know it: until then the
-- attempt is open, and a payout never has two open attempts.

create table payout_banks (
  bank_code text primary key,
  -- The provider for transfers to the bank.
  provider text not null default 'xendit',
  name varchar(100) not null,
  -- Limits of a transfer: the provider's minimum, and the maximum of BI-FAST.
  minimum_amount numeric(20, 4) not null check (minimum_amount >= 1),
  maximum_amount numeric(20, 4) not null,
  account_number_min_length smallint not null check (account_number_min_length > 0),
  account_number_max_length smallint not null,
  active boolean not null default true,
  -- The provider's price of a transfer for people and organizations; partners' prices are in their fee rules.
  provider_fee_fixed numeric(20, 4) not null default 0 check (provider_fee_fixed >= 0 and provider_fee_fixed < 'Infinity'),
  provider_fee_basis_points integer not null default 0 check (provider_fee_basis_points between 0 and 10000),
  check (maximum_amount >= minimum_amount),
  check (account_number_max_length >= account_number_min_length)
);

create table payouts (
  id uuid primary key,
  -- The kind is also the prefix of its journals' keys: partner-payout/<id>/reserved for partner_payout.
  kind text not null check (kind in ('partner_payout', 'withdrawal', 'payment_refund')),
  -- The account that pays, and gets the money back if it is not spent; and the account that holds the money until then.
  source_account_id uuid not null references accounts (id),
  reserved_account_id uuid not null references accounts (id),
  partner_id uuid references partners (id),
  reference varchar(40) not null unique,
  external_ref varchar(128),
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  fee numeric(20, 4) not null check (fee >= 0 and fee < 'Infinity'),
  net_amount numeric(20, 4) not null check (net_amount > 0 and net_amount = trunc(net_amount)),
  provider_fee numeric(20, 4) not null default 0 check (provider_fee >= 0 and provider_fee < 'Infinity'),
  -- The provider's price of the transfer, posted with the settlement.
  provider_cost numeric(20, 4) not null default 0 check (provider_cost >= 0 and provider_cost < 'Infinity'),
  bank_code text references payout_banks (bank_code),
  -- For a refund by the provider to the wallet that paid: the provider's id of the payment request.
  refund_of text,
  provider text not null default 'xendit',
  texts_sealed text not null,
  -- Its batch.
  batch_id uuid,
  -- A digest freezes the request.
  request_digest text check (request_digest ~ '^[0-9a-f]{64}$'),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'reversed')),
  failure_code text,
  provider_transfer_id text unique,
  last_word text check (last_word in ('accepted', 'succeeded', 'failed', 'reversed', 'refused', 'repeat refused',
    'unsent', 'not known', 'silent', 'another amount', 'request differs')),
  last_word_at timestamptz,
  asked_at timestamptz,
  asks integer not null default 0,
  unknown_since timestamptz,
  -- When the delay was reported to subscribers, which happens once.
  delay_told_at timestamptz,
  contradicted_at timestamptz,
  -- The contradicting provider status that an operator has explained; it is not reported again.
  explained_word text,
  -- Whether its money has left, or may have (say_what_has_left).
  has_left boolean not null default true,
  -- When two people booked a transfer that was made although the payout had failed or was returned.
  booked_at timestamptz,
  -- The amount that was booked.
  booked_amount numeric(20, 4) check (booked_amount > 0 and booked_amount < 'Infinity'),
  look_again_at timestamptz,
  version integer not null default 0,
  request_id text,
  -- When the money left; stays set if the bank returns it.
  succeeded_at timestamptz,
  finalized_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((kind = 'withdrawal') = (partner_id is null)),
  constraint payouts_go_to_a_bank_or_back check ((bank_code is null) = (refund_of is not null)),
  check (refund_of is null or kind = 'payment_refund'),
  check (kind <> 'payment_refund' or fee = 0),
  check (amount = case fee_mode when 'DEDUCTED' then net_amount + fee else net_amount end),
  check ((status = 'pending') = (finalized_at is null)),
  check ((status = 'failed') = (failure_code is not null)),
  check (unknown_since is null or status = 'pending'),
  check (contradicted_at is null or status <> 'pending'),
  check (succeeded_at is null or status in ('succeeded', 'reversed')),
  check (booked_at is null or status in ('failed', 'reversed')),
  check ((booked_at is null) = (booked_amount is null)),
  -- A return by the bank is followed up until it is booked.
  constraint payouts_returns_are_booked
    check (status <> 'succeeded' or last_word is distinct from 'reversed' or look_again_at is not null),
  constraint payouts_provider_ids check (provider = 'xendit' or starts_with(provider_transfer_id, provider || ':'))
);
create index payouts_of_partner on payouts (partner_id, created_at desc, id desc) include (kind, status, amount)
  where partner_id is not null;
-- For operators' lists and search.
create index payouts_by_creation on payouts (created_at desc, id desc) include (kind, status);
create index payouts_by_external_ref on payouts (external_ref, partner_id) where external_ref is not null;
-- For the checks; see payment_orders_by_change.
create index payouts_by_time on payouts using brin (created_at, updated_at) with (pages_per_range = 16, autosummarize = on);
create index payouts_unknown on payouts (unknown_since) where unknown_since is not null;
create index payouts_contradicted on payouts (contradicted_at) where contradicted_at is not null;
create index payouts_to_look_at on payouts (look_again_at) where look_again_at is not null;
create index payouts_pending on payouts (created_at) where status = 'pending';
create index payouts_unheard on payouts (finalized_at) where status = 'failed' and has_left and booked_at is null and explained_word is null;
create index payouts_failed on payouts (finalized_at) where status = 'failed';
-- Sets the provider of a transfer from its bank, and of a refund from the payment.
create function set_provider_of_payout() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  new.provider := coalesce((select b.provider from payout_banks b where b.bank_code = new.bank_code),
    (select p.provider from partner_payments p where p.provider_payment_request_id = new.refund_of limit 1));
  return new;
end $$;
create trigger payouts_have_a_provider before insert on payouts
  for each row execute function set_provider_of_payout();
create trigger payouts_status_law before insert or update of status on payouts
  for each row execute function keep_status('status', '>pending', 'pending>succeeded', 'pending>failed',
    'succeeded>reversed');

-- The switch that holds all transfers and refunds: one row, changed by a super admin.
create table payout_switch (
  id boolean primary key default true check (id),
  enabled boolean not null default true,
  reason varchar(300),
  changed_by uuid references users (id),
  changed_at timestamptz,
  check (enabled or num_nulls(reason, changed_by, changed_at) = 0)
);
insert into payout_switch default values;
-- Whether transfers and refunds are held.
create function payouts_held() returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select not s.enabled from payout_switch s
$$;
-- The provider's response about a bank account that a partner checked, retained for a day. The account is found by its
-- keyed digest; its holder is encrypted.
create table bank_account_checks (
  id uuid not null unique,
  partner_id uuid not null references partners (id),
  account_digest text not null,
  bank_code text not null references payout_banks (bank_code),
  asked_at timestamptz not null default clock_timestamp(),
  -- Null until the provider has responded.
  exists_at_bank boolean,
  holder_sealed text,
  checked_at timestamptz,
  primary key (partner_id, account_digest),
  check ((exists_at_bank is null) = (checked_at is null)),
  check (holder_sealed is null or exists_at_bank)
);
create index bank_account_checks_by_age on bank_account_checks (asked_at);
-- Each check of an account by a partner, for the limits of 24 hours; the response may be older.
create table bank_account_questions (
  id bigint generated always as identity primary key,
  partner_id uuid not null references partners (id),
  account_digest text not null,
  asked_at timestamptz not null default clock_timestamp()
);
create index bank_account_questions_of_partner on bank_account_questions (partner_id, asked_at) include (account_digest);
create index bank_account_questions_by_age on bank_account_questions (asked_at);

-- An attempt without an outcome may have reached the provider. It is open until the provider, asked at least two
-- minutes later, reports that it does not know it; not_known_at is the last such report. The next attempt may follow
-- only one that provably never left, or that the provider does not know.
create table payout_attempts (
  payout_id uuid not null references payouts (id),
  number integer not null check (number > 0),
  sent_at timestamptz not null default clock_timestamp(),
  outcome text check (outcome in ('accepted', 'refused', 'unknown', 'unsent')),
  failure_code text,
  answered_at timestamptz,
  not_known_at timestamptz,
  -- Found at the provider, because a restore lost the original attempt.
  is_found boolean not null default false,
  primary key (payout_id, number),
  check ((outcome is null) = (answered_at is null)),
  check (not_known_at >= sent_at + interval '2 minutes')
);
create unique index payout_attempts_one_open on payout_attempts (payout_id)
  where outcome is distinct from 'unsent' and not_known_at is null;
-- For the transfers of a day, by their first attempt, because a payout may be reserved days before it is sent.
create index payout_attempts_by_day on payout_attempts (sent_at, payout_id) where outcome is distinct from 'unsent';

-- The provider's statuses of a transfer, one row for each change.
create table payout_words (
  id bigint generated always as identity primary key,
  payout_id uuid not null references payouts (id),
  said text not null,
  failure_code text,
  at timestamptz not null
);
create index payout_words_of_payout on payout_words (payout_id, id);

-- A payout's accounts belong to the owner of its money; a row that named another owner's account would prove journals
-- that empty it.
create function keep_payout_accounts() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if not (case new.kind
      when 'withdrawal' then exists (select from accounts s join accounts r on r.owner_id = s.id where s.id = new.source_account_id
        and s.kind in ('user', 'organization') and r.id = new.reserved_account_id and r.kind = 'withdrawal_reserved')
      else exists (select from partners t where t.id = new.partner_id
        and (t.available_account_id, t.reserved_account_id) = (new.source_account_id, new.reserved_account_id))
      end) then
    raise exception 'the accounts of the payout do not belong to its owner' using errcode = 'AM010', detail = new.id::text;
  end if;
  return new;
end $$;
create trigger payouts_have_their_accounts before insert on payouts
  for each row execute function keep_payout_accounts();

-- The owner, destination and amount of a payout never change.
create function keep_payout() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if (new.kind, new.source_account_id, new.reserved_account_id, new.partner_id, new.amount, new.fee, new.net_amount,
        new.bank_code, new.refund_of, new.batch_id, new.created_at)
      is distinct from (old.kind, old.source_account_id, old.reserved_account_id, old.partner_id, old.amount, old.fee,
        old.net_amount, old.bank_code, old.refund_of, old.batch_id, old.created_at) then
    raise exception 'owner, destination and amount of a payout cannot change' using errcode = 'AM003';
  end if;
  return new;
end $$;
create trigger payouts_keep_their_facts before update on payouts for each row execute function keep_payout();
create trigger payouts_keep_their_success before update of succeeded_at on payouts for each row
  when (old.succeeded_at is not null and new.succeeded_at is distinct from old.succeeded_at)
  execute function refuse_change();
create trigger payouts_are_kept before delete on payouts for each row execute function refuse_change();
create trigger payouts_keep_their_request before update on payouts for each row
  when (old.request_digest is not null and new.request_digest is distinct from old.request_digest)
  execute function refuse_change();

create trigger payout_attempts_outcome_law before insert or update of outcome on payout_attempts
  for each row execute function keep_status('outcome', '>accepted', '>refused', '>unknown', '>unsent');

-- Sets whether a payout's money counts as gone. After a payout failed or was returned here, it does while the provider
-- reports that it was made. After people failed a payout without a provider status, it does until the provider reports
-- its outcome, or that it does not know it.
create function say_what_has_left() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  new.has_left := case new.status when 'reversed' then coalesce(new.last_word, '') in ('succeeded', 'another amount') when 'failed'
    then coalesce(new.last_word, '') not in ('failed', 'refused', 'reversed', 'not known')
      and (coalesce(new.last_word, '') in ('accepted', 'succeeded', 'another amount') or exists (select from payout_attempts a
        where a.payout_id = new.id and a.outcome is distinct from 'unsent'))
    else true end;
  return new;
end $$;
create trigger payouts_say_what_has_left before insert or update on payouts
  for each row execute function say_what_has_left();

-- Begins an attempt of a pending payout and returns its number; an index refuses a second open attempt. Returns null
-- while transfers are held, unless the provider already has the payout.
create function open_payout_attempt(p_payout_id uuid, p_is_made boolean default false) returns integer language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  opened integer;
begin
  perform from payouts p where p.id = p_payout_id and p.status = 'pending' for update;
  if not found or not p_is_made and (standing_of_refund(p_payout_id) <> 'fits'
    or exists (select from decisions d where d.withdrawal_id = p_payout_id and d.status <> 'carried_out')) then
    raise exception 'the payout may not be sent' using errcode = 'AM003', detail = p_payout_id::text;
  end if;
  if not p_is_made and payouts_held() then
    return null;
  end if;
  insert into payout_attempts (payout_id, number, is_found)
    select p_payout_id, count(*) + 1, p_is_made from payout_attempts a where a.payout_id = p_payout_id
    returning number into opened;
  return opened;
end $$;

-- Records the outcome of an attempt, once.
create function answer_payout_attempt(p_payout_id uuid, p_number integer, p_outcome text, p_failure_code text)
returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update payout_attempts a set outcome = p_outcome, failure_code = p_failure_code, answered_at = clock_timestamp()
    where a.payout_id = p_payout_id and a.number = p_number and a.outcome is null and p_outcome is not null;
  if not found then
    raise exception 'the attempt already has an outcome' using errcode = 'AM003', detail = p_payout_id || '/' || p_number;
  end if;
end $$;

-- Records that the provider, asked at p_asked_at, did not know the transfer. Closes the attempt if it was made at least
-- two minutes earlier.
create function close_payout_attempt(p_payout_id uuid, p_number integer, p_asked_at timestamptz)
returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if p_asked_at is null or p_asked_at > clock_timestamp() then
    raise exception 'p_asked_at is missing or in the future' using errcode = 'AM003', detail = p_payout_id || '/' || p_number;
  end if;
  update payout_attempts a set not_known_at = greatest(a.not_known_at, p_asked_at)
    where a.payout_id = p_payout_id and a.number = p_number and a.sent_at <= p_asked_at - interval '2 minutes';
end $$;

-- A payout was reserved once, and was then spent, returned, or spent and reversed, each once and in full. One join with
-- one row per payout: for four joins the planner would expect so few rows that it compares every payout with all
-- others.
create view check_payouts_posted_once as
  select p.id as payout_id, p.status, p.net_amount + p.fee as amount, posted.reserved, posted.spent, posted.returned,
    posted.reversed, p.provider_cost, posted.cost
  from payouts p
  cross join lateral (
    select -sum(g.amount) filter (where step = 'reserved' and is_debit) as reserved,
      -sum(g.amount) filter (where step = 'spent' and is_debit) as spent,
      -sum(g.amount) filter (where step = 'returned' and is_debit) as returned,
      -sum(g.amount) filter (where step = 'reversed' and is_debit) as reversed,
      -sum(g.amount) filter (where step = 'spent' and is_cost) as cost,
      count(*) filter (where step <> 'spent' and is_cost) as costs_elsewhere
    from unnest('{reserved,spent,returned,reversed}'::text[]) step
    join journal_keys k on k.business_key = replace(p.kind, '_', '-') || '/' || p.id || '/' || step
    join postings g on g.journal_id = k.journal_id
    cross join lateral (select g.account_id = '00000000-0000-4000-8000-000000000003' as is_cost,
      g.amount < 0 and g.account_id <> '00000000-0000-4000-8000-000000000003' as is_debit) of) posted
  where p.updated_at >= checks_since_time() and (posted.reserved is distinct from p.net_amount + p.fee
    or posted.spent is distinct from case when p.status in ('succeeded', 'reversed') then p.net_amount + p.fee end
    or posted.returned is distinct from case when p.status = 'failed' then p.net_amount + p.fee end
    or posted.reversed is distinct from case when p.status = 'reversed' then p.net_amount end
    or coalesce(posted.cost, 0) <> p.provider_cost or p.provider_cost not in (0, p.provider_fee)
    or posted.costs_elsewhere > 0);
-- Reserved balances equal the pending payouts plus their fees.
create view check_reserved_matches_payouts as
  select account_id, coalesce(held.balance, 0) as balance, coalesce(open.amount, 0) as open_payouts
  from (select id as account_id, account_balance(id) as balance from accounts
    where kind in ('partner_reserved', 'withdrawal_reserved')) held
  full join (select reserved_account_id as account_id, sum(net_amount + fee) as amount from payouts
    where status = 'pending' group by 1) open using (account_id)
  where coalesce(held.balance, 0) <> coalesce(open.amount, 0);
-- A payout never has two attempts that may both have been carried out, unless the provider did not know the first in
-- between; never more than five; none after it is final (with a minute's tolerance for clocks). A failed payout that
-- the provider made anyway is not an error in the books, but is reported to operators.
create view check_payouts_sent_once as
  select p.id as payout_id, p.status, p.provider_transfer_id, c.attempts, c.unasked
  from payouts p
  cross join lateral (
    select count(*) as attempts, max(sent_at) as last_sent_at,
      count(*) filter (where place > 1 and (not_known_before is null or not_known_before > sent_at)) as unasked
    from (select sent_at, row_number() over by_number as place, lag(not_known_at) over by_number as not_known_before
      from payout_attempts where payout_id = p.id and outcome is distinct from 'unsent'
      window by_number as (order by number)) made) c
  where p.updated_at >= checks_since_time() and (c.unasked > 0 or c.attempts > 5
    or c.last_sent_at > p.finalized_at + interval '1 minute' or (p.provider_transfer_id is not null and c.attempts = 0 and p.status <> 'failed'));

insert into payout_banks (bank_code, name, minimum_amount, maximum_amount, account_number_min_length,
  account_number_max_length) values
  ('BCA', 'Bank Central Asia', 10000, 250000000, 10, 10),
  ('BNI', 'Bank Negara Indonesia', 10000, 250000000, 7, 11),
  ('BRI', 'Bank Rakyat Indonesia', 10000, 250000000, 13, 17),
  ('MANDIRI', 'Bank Mandiri', 10000, 250000000, 12, 17),
  ('PERMATA', 'Bank Permata', 10000, 250000000, 7, 16),
  ('BSI', 'Bank Syariah Indonesia', 10000, 250000000, 10, 16),
  ('CIMB', 'CIMB Niaga', 10000, 250000000, 10, 16),
  ('DANAMON', 'Bank Danamon', 10000, 250000000, 8, 16),
  ('BTN', 'Bank Tabungan Negara', 10000, 250000000, 10, 16),
  ('BCA_SYARIAH', 'BCA Syariah', 10000, 250000000, 10, 10),
  ('BJB', 'Bank BJB', 10000, 250000000, 10, 16),
  ('JAGO', 'Bank Jago', 10000, 250000000, 10, 16),
  ('MAYBANK', 'Maybank Indonesia', 10000, 250000000, 10, 16),
  ('MEGA', 'Bank Mega', 10000, 250000000, 10, 16),
  ('MUAMALAT', 'Bank Muamalat', 10000, 250000000, 10, 16),
  ('OCBC', 'OCBC Indonesia', 10000, 250000000, 10, 16),
  ('PANIN', 'Bank Panin', 10000, 250000000, 10, 16),
  ('SEABANK', 'SeaBank Indonesia', 10000, 250000000, 10, 16);
