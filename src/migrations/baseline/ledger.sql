-- The ledger: accounts, journals of postings that sum to zero, and balances, which are the sums of postings. Triggers
-- refuse every violation of the ledger's laws, whoever writes.
--
-- A balance is the sum of its shards. Debits of an account that must not go negative go to shard 0, whose row lock is
-- the only place where payments from one account wait for each other. Credits go to one of sixteen other shards, chosen
-- by the connection, so that many payers into one account do not wait. Those shards only grow, so a debit that reads
-- them without a lock may see too little but never too much.
--
-- SQLSTATEs of ours: AM001 insufficient balance, AM002 an invalid journal, AM003 a change of something immutable, AM010
-- a journal without proof, or a row that would prove a false journal.

create table accounts (
  id uuid primary key,
  name varchar(100) not null,
  kind text not null check (kind in ('user', 'organization', 'circle_holding', 'saving_goal', 'product',
    'open_donation_pool', 'partner_available', 'partner_pending', 'partner_reserved', 'withdrawal_reserved',
    'gateway_clearing', 'fee_revenue', 'provider_cost', 'suspense', 'loss')),
  user_id uuid references users (id),
  organization_id uuid references organizations (id),
  owner_id uuid,
  currency char(3) not null default 'IDR' check (currency = 'IDR'),
  may_go_negative boolean not null generated always as (kind in ('gateway_clearing', 'provider_cost', 'loss')) stored,
  created_at timestamptz not null default now()
);
create index accounts_of_user on accounts (user_id, created_at, id) where user_id is not null;
create trigger accounts_of_nobody_erased before insert on accounts for each row when (new.user_id is not null)
  execute function refuse_erased('user_id');
create index accounts_of_organization on accounts (organization_id, created_at, id) where organization_id is not null;
create index accounts_by_creation on accounts (created_at, id);
create index accounts_by_kind on accounts (kind, created_at, id);
create unique index accounts_of_system on accounts (kind)
  where kind in ('open_donation_pool', 'gateway_clearing', 'fee_revenue', 'provider_cost', 'suspense', 'loss');
-- The account that holds an account's withdrawals until they are sent.
create unique index accounts_of_withdrawals on accounts (owner_id) where kind = 'withdrawal_reserved';

create table account_balances (
  account_id uuid not null,
  shard smallint not null check (shard between 0 and 16),
  -- Wider than a posting, so that no number of postings overflows it.
  balance numeric(30, 4) not null,
  primary key (account_id, shard)
) with (fillfactor = 60);

-- Permanently unique keys are in a small separate table, which is never partitioned or archived. Journals are
-- partitioned by month, and their indexes are unique only within a partition.
create table journal_keys (
  business_key text primary key,
  journal_id uuid not null
);
-- For the check, which reads new rows; they arrive nearly in id order.
create index journal_keys_by_id on journal_keys using brin (journal_id) with (pages_per_range = 16, autosummarize = on);

create table journals (
  id uuid primary key,
  -- Unique through journal_keys.
  business_key text not null,
  kind text not null,
  created_at timestamptz not null default now()
);

create table postings (
  id bigint generated always as identity primary key,
  -- apply_postings checks that the journal exists, without the locks of a foreign key.
  journal_id uuid not null,
  account_id uuid not null,
  amount numeric(20, 4) not null check (amount <> 0),
  created_at timestamptz not null default now()
);
create index postings_of_journal on postings (journal_id);
-- For the postings of a day. Rows arrive nearly in time order, so block ranges suffice and cost a payment next to
-- nothing.
create index postings_by_time on postings using brin (created_at) with (pages_per_range = 16, autosummarize = on);
create index postings_of_account on postings (account_id, created_at, id) include (amount);

create trigger journal_keys_are_final before update or delete on journal_keys
  for each row execute function refuse_change();
create trigger journal_keys_are_kept before truncate on journal_keys
  for each statement execute function refuse_change();
create trigger journals_are_final before update or delete on journals for each row execute function refuse_change();
create trigger journals_are_kept before truncate on journals for each statement execute function refuse_change();
create trigger postings_are_final before update or delete on postings for each row execute function refuse_change();
create trigger postings_are_kept before truncate on postings for each statement execute function refuse_change();
create trigger accounts_are_kept before delete on accounts for each row execute function refuse_change();
create trigger accounts_stay before truncate on accounts for each statement execute function refuse_change();
create trigger account_kind_is_final before update of id, kind, currency on accounts
  for each row execute function refuse_change();
-- The owner of an account never changes, because its transactions are listed by owner.
create trigger account_owner_is_final before update of user_id, organization_id, owner_id on accounts
  for each row execute function refuse_change();

-- A row may debit only its own account, opened for this row and of the kind that the trigger names after the column.
-- Otherwise a row naming another's account would prove journals that empty it.
create function keep_own_accounts() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  written constant jsonb := to_jsonb(new);
begin
  for place in 0 .. tg_nargs - 1 by 2 loop
    if not exists (select from accounts a where a.id = (written ->> tg_argv[place])::uuid
        and a.kind = tg_argv[place + 1] and a.owner_id = new.id) then
      raise exception '% %: % is not an account of kind % opened for this row', tg_table_name, new.id, tg_argv[place],
          tg_argv[place + 1]
        using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = tg_argv[place];
    end if;
  end loop;
  return new;
end $$;
-- Donations and savings are credited to people's accounts, never to a partner's account, from which they could be paid
-- out, or to an account that may go negative, where they would cover a deficit. The trigger names a column, and the
-- allowed kinds of its account.
create function keep_account_kinds() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  named constant uuid := to_jsonb(new) ->> tg_argv[0];
begin
  if named is not null and not exists (
      select from accounts a where a.id = named and a.kind = any (string_to_array(tg_argv[1], ' '))) then
    raise exception '% %: % is not an account of the kinds %', tg_table_name, new.id, tg_argv[0], tg_argv[1]
      using errcode = 'AM010', schema = tg_table_schema, table = tg_table_name, column = tg_argv[0];
  end if;
  return new;
end $$;

-- Only the triggers of postings and accounts write balances; a direct statement, at depth 0, may only insert an empty
-- shard.
create trigger balances_follow_postings before update or delete on account_balances
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger balances_begin_with_nothing before insert on account_balances
  for each row when (pg_trigger_depth() = 0 and new.balance <> 0) execute function refuse_change();
create trigger balances_are_kept before truncate on account_balances
  for each statement execute function refuse_change();

-- Every account has a shard 0 from the start, because debits lock it.
create function open_balance() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into account_balances (account_id, shard, balance) values (new.id, 0, 0);
  return null;
end $$;
create trigger account_has_balance after insert on accounts for each row execute function open_balance();

-- Checks and applies the postings of a statement: any number of journals, each complete.
create function apply_postings() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan as $$
declare
  credit_shard constant smallint := 1 + pg_backend_pid() % 16;
  debited uuid[];
  broken uuid;
  homeless uuid;
  overdrawn uuid;
begin
  with due as materialized (
    select n.journal_id, n.account_id, a.may_go_negative, sum(n.amount) as delta, count(*) as written
    from new_postings n
    left join lateral (select may_go_negative from accounts where id = n.account_id limit 1) a on true
    group by n.journal_id, n.account_id, a.may_go_negative),
  -- Journals that are incomplete, unbalanced or missing. The join replaces a foreign key, without its locks.
  unlawful as (
    select d.journal_id from (
      select journal_id, sum(delta) as total, sum(written) as written from due group by journal_id) d
    where d.total <> 0 or d.written = 1 or d.written <> (
      select count(*) from journals j join postings p on p.journal_id = j.id where j.id = d.journal_id)
    limit 1),
  -- Locks the latest version of each row in the order of src/ledger/lock-order.ts: debited accounts by id, then
  -- credited accounts by id.
  applied as (
    insert into account_balances (account_id, shard, balance)
      select d.account_id, d.shard, sum(d.delta)
      from (select account_id, delta,
          case when delta < 0 and not may_go_negative then 0 else credit_shard end as shard
        from due where delta <> 0 and may_go_negative is not null) d
      group by d.account_id, d.shard order by d.shard > 0, d.account_id
      on conflict (account_id, shard) do update set balance = account_balances.balance + excluded.balance
      returning account_id, shard)
  select array_agg(account_id) filter (where shard = 0),
      (select journal_id from unlawful),
      (select account_id from due where may_go_negative is null limit 1)
    into debited, broken, homeless from applied;
  if homeless is not null then
    raise exception 'account % does not exist', homeless using errcode = 'AM002';
  elsif broken is not null then
    raise exception 'a journal is written in one statement and sums to zero' using errcode = 'AM002', detail = broken::text;
  end if;
  -- Read the balance after its lock was acquired.
  if debited is not null then
    select b.account_id into overdrawn from account_balances b
      where b.account_id = any (debited) group by b.account_id having sum(b.balance) < 0 limit 1;
    if found then
      raise exception 'insufficient balance' using errcode = 'AM001', detail = overdrawn::text;
    end if;
  end if;
  return null;
end $$;
create trigger postings_are_applied after insert on postings
  referencing new table as new_postings for each statement execute function apply_postings();

-- Requires read committed: data for a decision under a lock must be read after the lock was acquired, but a transaction
-- with a single snapshot would read older data.
create function refuse_old_snapshot() returns void language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'money moves only in read committed transactions' using errcode = 'AM010';
  end if;
end $$;

-- Writes a journal that the caller has proven. Returns false, without effect, if its business key exists. The
-- application must use post_journal, which checks the proof.
--
-- A journal is dated after the check under the locks of the accounts that it debits. The start of the transaction,
-- which may have waited, could precede the credits that the journal spends.
create function write_journal(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[], p_amounts numeric[])
returns boolean language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  debited uuid[];
  overdrawn uuid;
  dated timestamptz;
begin
  insert into journal_keys (business_key, journal_id) values (p_business_key, p_id)
    on conflict (business_key) do nothing;
  if not found then
    return false;
  end if;
  debited := array(select b.account_id from account_balances b
    where b.shard = 0 and b.account_id = any (array(
      select a.id from unnest(p_accounts, p_amounts) as entry (account_id, amount)
      join accounts a on a.id = entry.account_id where entry.amount < 0 and not a.may_go_negative))
    order by b.account_id for no key update);
  select d.account_id into overdrawn from unnest(debited) as d (account_id)
    where account_balance(d.account_id) + (select sum(entry.amount)
      from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.account_id = d.account_id) < 0
    limit 1;
  if found then
    raise exception 'insufficient balance' using errcode = 'AM001', detail = overdrawn::text;
  end if;
  -- Never before the transaction's start, even if the clock was set back.
  dated := greatest(clock_timestamp(), transaction_timestamp());
  with journal as (
    insert into journals (id, business_key, kind, created_at) values (p_id, p_business_key, p_kind, dated))
  insert into postings (journal_id, account_id, amount, created_at)
    select p_id, entry.account_id, entry.amount, dated
    from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.amount <> 0;
  return true;
end $$;

-- Posts a journal, other than a balance payment, if rows prove each of its postings (proven_postings). Returns false as
-- write_journal does.
create function post_journal(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[], p_amounts numeric[])
returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform refuse_old_snapshot();
  if not write_journal(p_id, p_business_key, p_kind, p_accounts, p_amounts) then
    return false;
  end if;
  -- The proof is checked only at writing: the same journal may be posted again even if its rows have changed since.
  if (select array_agg(row (entry.account_id, entry.amount) order by entry.account_id, entry.amount)
      from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.amount <> 0)
    is distinct from coalesce(
      (select array_agg(row (due.account_id, due.amount) order by due.account_id, due.amount)
      from proven_postings(p_kind, p_business_key) as due (account_id, amount) where due.amount <> 0),
      array[row (null::uuid, null::numeric)]) then
    raise exception 'no rows prove this journal of kind %', p_kind using errcode = 'AM010', detail = p_business_key;
  end if;
  return true;
end $$;

-- An account's balance, in IDR: the sum of its shards.
create function account_balance(p_account_id uuid) returns numeric language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(sum(balance), 0) from account_balances where account_id = p_account_id
$$;

-- A journal has at least two postings, and they sum to zero.
create view check_journals_balance as
  select j.id as journal_id, count(p.id) as postings, coalesce(sum(p.amount), 0) as sum
  from journals j left join postings p on p.journal_id = j.id and p.journal_id >= checks_since()
  where j.id >= checks_since()
  group by j.id having count(p.id) < 2 or sum(p.amount) <> 0;
-- Every journal has its key, and every key its journal.
create view check_journals_have_their_keys as
  select j.id as journal_id, k.journal_id as key_journal_id, coalesce(j.business_key, k.business_key) as business_key
  from (select id, business_key from journals where id >= checks_since()) j
  full join (select * from journal_keys where journal_id >= checks_since()) k on k.business_key = j.business_key
  where j.id is distinct from k.journal_id;
-- The balance of an account is the sum of its postings, and so of the exports of all days, because each posting belongs
-- to one day. That reads all history, so between the nights only the sum of all balances is checked: it is zero, as for
-- each journal. While all other checks of the ledger are empty, the postings are right: with API and workers stopped
-- and two people present, a superuser corrects the largest shard:
--   begin;
--   set local session_replication_role = 'replica';
--   update account_balances b set balance = b.balance + c.postings - c.balance
--     from (select * from check_balances_match_postings) c
--     where b.account_id = c.account_id and b.shard =
--       (select shard from account_balances l where l.account_id = b.account_id order by balance desc limit 1);
--   commit;
create view check_balances_match_postings as
  select account_id, coalesce(b.balance, 0) as balance, coalesce(p.balance, 0) as postings
  from (select account_id, sum(balance) as balance from account_balances group by account_id) b
  full join (select account_id, sum(amount) as balance from postings group by account_id) p using (account_id)
  where checks_read_all() and coalesce(b.balance, 0) <> coalesce(p.balance, 0)
  union all
  select null, sum(balance), 0 from account_balances having sum(balance) <> 0;
-- No account that must not be negative is below zero, and neither is any of its shards of credits.
create view check_no_forbidden_negative as
  select a.id as account_id, a.kind, sum(b.balance) as balance
  from accounts a join account_balances b on b.account_id = a.id
  where not a.may_go_negative group by a.id having sum(b.balance) < 0 or min(b.balance) filter (where b.shard > 0) < 0;
-- Each posting belongs to an existing account, and each account has a balance.
create view check_postings_have_accounts as
  select p.id as posting_id, p.account_id from postings p
  where p.journal_id >= checks_since() and not exists (select from accounts a where a.id = p.account_id)
  union all
  select null, a.id from accounts a
  where a.id >= checks_since() and not exists (select from account_balances b where b.account_id = a.id and b.shard = 0);

insert into accounts (id, name, kind) values
  ('00000000-0000-4000-8000-000000000001', 'Gateway clearing', 'gateway_clearing'),
  ('00000000-0000-4000-8000-000000000002', 'Fee revenue', 'fee_revenue'),
  ('00000000-0000-4000-8000-000000000003', 'Provider cost', 'provider_cost'),
  ('00000000-0000-4000-8000-000000000004', 'Suspense', 'suspense'),
  ('00000000-0000-4000-8000-000000000005', 'Open donations', 'open_donation_pool'),
  ('00000000-0000-4000-8000-000000000006', 'Loss', 'loss');
