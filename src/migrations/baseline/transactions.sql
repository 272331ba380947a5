-- Transactions, as shown to people, and structures for lists and totals without scans: an owner's rows are counted in a
-- covering index, all rows by sharded counters (all payments would lock a single row), and the rows of an organization
-- (of its users and accounts) and of a receiver are listed in separate tables. Triggers maintain them; check_* views
-- verify them.

create table transactions (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  status text not null check (status in ('pending', 'successful', 'failed', 'reversed')),
  date timestamptz not null default now(),
  source_account_id uuid not null,
  destination_account_id uuid,
  type text not null check (type in ('price', 'fee', 'tax')),
  reference_type text not null check (reference_type in ('donation', 'saving_goal', 'saving_circle', 'investment',
    'commodity_financing', 'account_top_up')),
  reference_id uuid not null,
  -- Its journal, which the inserting function has written or found; a check below finds rows without a journal.
  batch_id uuid not null,
  purpose text not null check (purpose in ('topup_pocket', 'topup_product', 'external_withdrawal',
    'internal_withdrawal', 'product_transfer', 'pocket_transfer')),
  payment_order_id uuid,
  created_by uuid,
  updated_by uuid,
  deleted_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index transactions_of_user on transactions (user_id, created_at desc, id desc)
  include (reference_type, type, reference_id);
create index transactions_by_creation on transactions (created_at desc, id desc);
create index transactions_of_batch on transactions (batch_id);
create index transactions_of_reference on transactions (reference_id, created_at desc, id desc)
  include (reference_type, type, user_id);
create trigger transactions_status_law before insert or update of status on transactions
  for each row execute function keep_status('status', '>successful', '>reversed');

create table transaction_counts (
  reference_type text not null,
  type text not null,
  shard smallint not null check (shard between 0 and 31),
  count bigint not null check (count > 0),
  primary key (reference_type, type, shard)
) with (fillfactor = 60);

create table transaction_organizations (
  organization_id uuid not null,
  transaction_id uuid not null,
  created_at timestamptz not null,
  user_id uuid not null,
  reference_type text not null,
  type text not null,
  reference_id uuid not null
);
-- For the check, which reads new rows; they arrive nearly in time order.
create index transaction_organizations_by_time on transaction_organizations using brin (created_at)
  with (pages_per_range = 16, autosummarize = on);
create unique index transactions_of_organization
  on transaction_organizations (organization_id, created_at desc, transaction_id desc)
  include (user_id, reference_type, type, reference_id);

-- Transactions by the user whose account receives the money.
create table transaction_receivers (
  user_id uuid not null,
  transaction_id uuid not null,
  created_at timestamptz not null,
  reference_type text not null,
  type text not null,
  reference_id uuid not null
);
create index transaction_receivers_by_time on transaction_receivers using brin (created_at)
  with (pages_per_range = 16, autosummarize = on);
create unique index transactions_of_receiver on transaction_receivers (user_id, created_at desc, transaction_id desc)
  include (reference_type, type, reference_id);

create trigger transactions_are_final before update or delete on transactions
  for each row execute function refuse_change();
create trigger transactions_are_kept before truncate on transactions
  for each statement execute function refuse_change();

-- A transaction belongs to the organizations of its payer and of its two accounts. Its receiver is the owner, if not
-- the payer, of the account that it credits: its destination or, for gateway money, the credited account. Checks below
-- verify this for all transactions.
create function list_transactions() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp
set plan_cache_mode = force_generic_plan as $$
begin
  insert into transaction_counts (reference_type, type, shard, count)
    select n.reference_type, n.type, pg_backend_pid() % 32, count(*) from new_transactions n
    group by n.reference_type, n.type order by n.reference_type, n.type
    on conflict (reference_type, type, shard) do update set count = transaction_counts.count + excluded.count;
  with ends as materialized (
    select n.id, n.created_at, n.user_id, n.reference_type, n.type, n.reference_id, n.organization_id,
      s.organization_id as source_organization, d.organization_id as destination_organization,
      case when n.destination_account_id is not null then d.user_id
        when n.payment_order_id is not null then s.user_id end as receiver
    from new_transactions n
    left join lateral (select user_id, organization_id from accounts where id = n.source_account_id limit 1) s on true
    left join lateral (select user_id, organization_id from accounts where id = n.destination_account_id limit 1) d
      on true),
  received as (
    insert into transaction_receivers
      select e.receiver, e.id, e.created_at, e.reference_type, e.type, e.reference_id from ends e
      where e.receiver <> e.user_id)
  insert into transaction_organizations
    select distinct o.id, e.id, e.created_at, e.user_id, e.reference_type, e.type, e.reference_id
    from ends e
    cross join lateral (values (e.organization_id), (e.source_organization), (e.destination_organization)) o (id)
    where o.id is not null;
  return null;
end $$;
create trigger transactions_are_listed after insert on transactions
  referencing new table as new_transactions for each statement execute function list_transactions();

-- Inserts the rows of a journal, only in the transaction that posted it.
create function record_transactions(p_journal_id uuid, p_rows jsonb) returns void language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  current_xact constant bigint := pg_current_xact_id()::text;
begin
  -- Only a row's own transaction (or a subtransaction, whose id is later) sees it while in progress. The journal's
  -- time, not before the transaction's start, rules out a wrapped-around id.
  if not exists (select from journals j
    cross join lateral (select (j.xmin::text::bigint - current_xact) & 4294967295 as later) written
    where j.id = p_journal_id and j.created_at >= transaction_timestamp() and case when written.later < 2147483648
      then pg_xact_status((current_xact + written.later)::text::xid8) = 'in progress' end) then
    raise exception 'transactions must be written with their journal' using errcode = 'AM010', detail = p_journal_id::text;
  end if;
  insert into transactions (id, user_id, organization_id, amount, status, source_account_id, destination_account_id,
      type, reference_type, reference_id, batch_id, purpose, payment_order_id, created_by)
    select r.id, r.user_id, r.organization_id, r.amount, r.status, r.source_account_id, r.destination_account_id,
      r.type, r.reference_type, r.reference_id, p_journal_id, r.purpose, r.payment_order_id, r.created_by
    from jsonb_to_recordset(p_rows) as r (id uuid, user_id uuid, organization_id uuid, amount numeric, status text,
      source_account_id uuid, destination_account_id uuid, type text, reference_type text, reference_id uuid,
      purpose text, payment_order_id uuid, created_by uuid);
end $$;

-- Only the triggers of transactions write the counters and lists; a direct statement runs at depth 0.
create trigger counts_follow_transactions before insert or update or delete on transaction_counts
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger lists_follow_transactions before insert or update or delete on transaction_organizations
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger received_follow_transactions before insert or update or delete on transaction_receivers
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();

-- The rows of a journal have the posted amounts; clearing gets the remainder, which may be negative. For a booked
-- transfer that failed here they have the amounts that its owner's account paid, and later got back.
create view check_transactions_agree_with_postings as
  select t.batch_id as journal_id, t.amount as transactions, p.amount as postings
  from (select batch_id, sum(amount) as amount from transactions where batch_id >= checks_since() group by batch_id) t
  left join (
    select journal_id,
      coalesce(sum(amount) filter (where amount > 0), -sum(amount)) as amount
    from postings where journal_id >= checks_since() and account_id not in ('00000000-0000-4000-8000-000000000001',
      '00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000006')
    group by journal_id) p on p.journal_id = t.batch_id
  where t.amount is distinct from p.amount
  union all
  select j.id, null, p.amount from journals j
  join postings p on p.journal_id = j.id and p.journal_id >= checks_since()
  join accounts a on a.id = p.account_id and a.kind in ('user', 'organization')
  where j.id >= checks_since() and j.kind in ('transfer.booked', 'transfer.unbooked')
    and not exists (select from transactions t where t.batch_id = j.id and t.source_account_id = a.id)
    -- book_external, which has another key, writes none.
    and exists (select from journal_keys k where k.business_key = replace(j.business_key, '/unbooked/', '/booked/'));
-- Replaces foreign keys of transactions and of postings.
create view check_ledger_rows_have_parents as
  select p.id::text as id, 'a posting without its journal' as problem from postings p
  where p.journal_id >= checks_since() and not exists (select from journals j
    where j.id = p.journal_id and j.id >= checks_since())
  union all
  select t.id::text, 'a transaction without its journal' from transactions t
  where t.batch_id >= checks_since() and not exists (select from journals j
    where j.id = t.batch_id and j.id >= checks_since())
  union all
  select t.id::text, 'a transaction without its user' from transactions t
  where t.batch_id >= checks_since() and not exists (select from users u where u.id = t.user_id);
-- The counters of transactions equal the number of rows.
create view check_transaction_counts as
  select reference_type, type, coalesce(c.count, 0) as counted, coalesce(t.count, 0) as rows
  from (select reference_type, type, sum(count) as count from transaction_counts group by 1, 2) c
  full join (select reference_type, type, count(*) as count from transactions group by 1, 2) t
    using (reference_type, type)
  where checks_read_all() and coalesce(c.count, 0) <> coalesce(t.count, 0);
-- The list of an organization contains exactly its transactions.
create view check_transaction_organizations as
  select coalesce(l.transaction_id, t.id) as transaction_id,
    coalesce(l.organization_id, t.organization_id) as organization_id
  from (select transaction_id, organization_id from transaction_organizations where created_at >= checks_since_time()) l
  full join (select distinct t.id, o.organization_id
    from transactions t
    left join accounts s on s.id = t.source_account_id
    left join accounts d on d.id = t.destination_account_id
    cross join lateral (values (t.organization_id), (s.organization_id), (d.organization_id)) o (organization_id)
    where o.organization_id is not null and t.created_at >= checks_since_time()) t
    on t.id = l.transaction_id and t.organization_id = l.organization_id
  where l.transaction_id is null or t.id is null;
-- The list of a receiver contains exactly the transactions that credit their accounts.
create view check_transaction_receivers as
  select coalesce(l.transaction_id, t.id) as transaction_id, coalesce(l.user_id, t.user_id) as user_id
  from (select transaction_id, user_id from transaction_receivers where created_at >= checks_since_time()) l
  full join (select t.id, a.user_id
    from transactions t
    join accounts a on a.id = coalesce(t.destination_account_id,
      case when t.payment_order_id is not null then t.source_account_id end)
    where a.user_id <> t.user_id and t.created_at >= checks_since_time()) t
    on t.id = l.transaction_id and t.user_id = l.user_id
  where l.transaction_id is null or t.id is null;
