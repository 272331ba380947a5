import { Migration } from '@mikro-orm/migrations';

/**
 * The ledger: accounts, journals of postings that sum to zero, balances that follow from postings, and the
 * transactions that the API shows. What breaks a law of the ledger is refused by a trigger here, whoever asks.
 *
 * A balance is the sum of its shards. Debits of an account that may not go negative go to shard 0, whose row lock is
 * the only place where payments from one account wait for each other. Credits go to one of sixteen other shards,
 * chosen by the connection, so that many payers into one account do not wait. Those shards only grow, so what a debit
 * reads of them without a lock can be too little but never too much.
 *
 * SQLSTATEs of ours: AM001 insufficient balance, AM002 an unlawful journal, AM003 a change of what is never changed.
 */
export class M0002Ledger extends Migration {
  override up(): void {
    this.addSql(`
create table accounts (
  id uuid primary key,
  name varchar(100) not null,
  kind text not null check (kind in ('user', 'organization', 'circle_holding', 'saving_goal', 'product',
    'open_donation_pool', 'partner_available', 'partner_pending', 'partner_reserved', 'gateway_clearing',
    'fee_revenue', 'provider_cost', 'suspense')),
  user_id uuid references users (id),
  organization_id uuid references organizations (id),
  owner_id uuid,
  currency char(3) not null default 'IDR' check (currency = 'IDR'),
  may_go_negative boolean not null generated always as (kind in ('gateway_clearing', 'provider_cost')) stored,
  created_at timestamptz not null default now()
);
create index accounts_of_user on accounts (user_id, created_at, id) where user_id is not null;
create index accounts_of_organization on accounts (organization_id, created_at, id) where organization_id is not null;
create index accounts_of_owner on accounts (owner_id) where owner_id is not null;
create index accounts_by_creation on accounts (created_at, id);
create unique index accounts_of_system on accounts (kind)
  where kind in ('open_donation_pool', 'gateway_clearing', 'fee_revenue', 'provider_cost', 'suspense');

create table account_balances (
  account_id uuid not null,
  shard smallint not null check (shard between 0 and 16),
  balance numeric(20, 4) not null,
  primary key (account_id, shard)
) with (fillfactor = 60);

create table journals (
  id uuid primary key,
  business_key text not null unique,
  kind text not null,
  created_at timestamptz not null default now()
);

create table postings (
  id bigint generated always as identity primary key,
  journal_id uuid not null references journals (id),
  account_id uuid not null,
  amount numeric(20, 4) not null check (amount <> 0),
  created_at timestamptz not null default now()
);
create index postings_of_journal on postings (journal_id);
create index postings_of_account on postings (account_id, created_at, id) include (amount);

create table transactions (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  amount numeric(20, 4) not null check (amount > 0),
  status text not null check (status in ('pending', 'successful', 'failed', 'reversed')),
  date timestamptz not null default now(),
  source_account_id uuid not null,
  destination_account_id uuid,
  type text not null check (type in ('price', 'fee', 'tax')),
  reference_type text not null check (reference_type in ('donation', 'saving_goal', 'saving_circle', 'investment',
    'commodity_financing', 'account_top_up')),
  reference_id uuid not null,
  batch_id uuid not null references journals (id),
  purpose text not null check (purpose in ('topup_pocket', 'topup_product', 'external_withdrawal',
    'internal_withdrawal', 'product_transfer', 'pocket_transfer')),
  payment_order_id uuid,
  created_by uuid,
  updated_by uuid,
  deleted_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index transactions_of_user on transactions (user_id, created_at desc, id desc);
create index transactions_of_organization on transactions (organization_id, created_at desc, id desc)
  where organization_id is not null;
create index transactions_by_creation on transactions (created_at desc, id desc);
create index transactions_of_batch on transactions (batch_id);
create index transactions_of_reference on transactions (reference_id, created_at desc, id desc);
`);
    this.addSql(`
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is never changed by %', tg_table_name, tg_op using errcode = 'AM003';
end $$;
create trigger journals_are_final before update or delete on journals for each row execute function refuse_change();
create trigger journals_are_kept before truncate on journals for each statement execute function refuse_change();
create trigger postings_are_final before update or delete on postings for each row execute function refuse_change();
create trigger postings_are_kept before truncate on postings for each statement execute function refuse_change();
create trigger transactions_are_final before update or delete on transactions
  for each row execute function refuse_change();
create trigger transactions_are_kept before truncate on transactions for each statement execute function refuse_change();
create trigger accounts_are_kept before delete on accounts for each row execute function refuse_change();
create trigger accounts_stay before truncate on accounts for each statement execute function refuse_change();
create trigger account_kind_is_final before update of id, kind, currency on accounts
  for each row execute function refuse_change();
-- Only the triggers of postings and accounts write balances: a direct statement arrives at depth 0.
create trigger balances_follow_postings before insert or update or delete on account_balances
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger balances_are_kept before truncate on account_balances for each statement execute function refuse_change();

create function open_balance() returns trigger language plpgsql as $$
begin
  insert into account_balances (account_id, shard, balance) values (new.id, 0, 0);
  return null;
end $$;
create trigger account_has_balance after insert on accounts for each row execute function open_balance();

create function apply_postings() returns trigger language plpgsql as $$
declare
  entry record;
  total numeric;
  credit_shard smallint := 1 + pg_backend_pid() % 16;
begin
  perform 1 from new_postings n group by n.journal_id
    having sum(n.amount) <> 0 or count(*) < 2
      or count(*) <> (select count(*) from postings p where p.journal_id = n.journal_id);
  if found then
    raise exception 'a journal is written at once and sums to zero' using errcode = 'AM002';
  end if;
  -- One order for all: debited accounts by id, then credited accounts by id.
  for entry in
    select n.account_id, sum(n.amount) as delta, a.may_go_negative
    from new_postings n left join accounts a on a.id = n.account_id
    group by n.account_id, a.may_go_negative
    order by sum(n.amount) > 0 or a.may_go_negative, n.account_id
  loop
    if entry.may_go_negative is null then
      raise exception 'account % does not exist', entry.account_id using errcode = 'AM002';
    elsif entry.delta < 0 and not entry.may_go_negative then
      update account_balances set balance = balance + entry.delta where account_id = entry.account_id and shard = 0;
      select sum(balance) into total from account_balances where account_id = entry.account_id;
      if total < 0 then
        raise exception 'insufficient balance' using errcode = 'AM001', detail = entry.account_id::text;
      end if;
    elsif entry.delta <> 0 then
      insert into account_balances (account_id, shard, balance) values (entry.account_id, credit_shard, entry.delta)
        on conflict (account_id, shard) do update set balance = account_balances.balance + excluded.balance;
    end if;
  end loop;
  return null;
end $$;
create trigger postings_are_applied after insert on postings
  referencing new table as new_postings for each statement execute function apply_postings();

-- The one way in which money moves. False when a journal of this business key is already there: then nothing is done.
create function post_journal(p_id uuid, p_business_key text, p_kind text, p_accounts uuid[], p_amounts numeric[])
returns boolean language plpgsql as $$
begin
  insert into journals (id, business_key, kind) values (p_id, p_business_key, p_kind)
    on conflict (business_key) do nothing;
  if not found then
    return false;
  end if;
  insert into postings (journal_id, account_id, amount)
    select p_id, entry.account_id, entry.amount
    from unnest(p_accounts, p_amounts) as entry (account_id, amount) where entry.amount <> 0;
  return true;
end $$;

create function account_balance(p_account_id uuid) returns numeric language sql stable as $$
  select coalesce(sum(balance), 0) from account_balances where account_id = p_account_id
$$;
`);
    this.addSql(`
create view check_journals_balance as
  select j.id as journal_id, count(p.id) as postings, coalesce(sum(p.amount), 0) as sum
  from journals j left join postings p on p.journal_id = j.id
  group by j.id having count(p.id) < 2 or sum(p.amount) <> 0;
create view check_balances_match_postings as
  select account_id, coalesce(b.balance, 0) as balance, coalesce(p.balance, 0) as postings
  from (select account_id, sum(balance) as balance from account_balances group by account_id) b
  full join (select account_id, sum(amount) as balance from postings group by account_id) p using (account_id)
  where coalesce(b.balance, 0) <> coalesce(p.balance, 0);
create view check_no_forbidden_negative as
  select a.id as account_id, a.kind, sum(b.balance) as balance
  from accounts a join account_balances b on b.account_id = a.id
  where not a.may_go_negative group by a.id having sum(b.balance) < 0 or min(b.balance) filter (where b.shard > 0) < 0;
create view check_postings_have_accounts as
  select p.id as posting_id, p.account_id from postings p
  where not exists (select from accounts a where a.id = p.account_id)
  union all
  select null, a.id from accounts a
  where not exists (select from account_balances b where b.account_id = a.id and b.shard = 0);
create view check_transactions_agree_with_postings as
  select t.batch_id as journal_id, t.amount as transactions, p.amount as postings
  from (select batch_id, sum(amount) as amount from transactions where type in ('price', 'fee') group by batch_id) t
  left join (select journal_id, sum(amount) filter (where amount > 0) as amount from postings group by journal_id) p
    on p.journal_id = t.batch_id
  where t.amount is distinct from p.amount;
`);
    this.addSql(`
insert into accounts (id, name, kind) values
  ('00000000-0000-4000-8000-000000000001', 'Gateway clearing', 'gateway_clearing'),
  ('00000000-0000-4000-8000-000000000002', 'Fee revenue', 'fee_revenue'),
  ('00000000-0000-4000-8000-000000000003', 'Provider cost', 'provider_cost'),
  ('00000000-0000-4000-8000-000000000004', 'Suspense', 'suspense'),
  ('00000000-0000-4000-8000-000000000005', 'Open donations', 'open_donation_pool');
`);
  }
}
