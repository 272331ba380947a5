import { Migration } from '@mikro-orm/migrations';

/**
 * What lists of transactions need so that neither page nor total scans: an owner's rows are counted over a covering
 * index, everything over counters in shards (never one row, which all payments would lock), and an organization's rows
 * (of its users and of its accounts) stand in a table of their own. Kept by trigger, proved by `check_*`.
 */
export class M0010TransactionLists extends Migration {
  override up(): void {
    this.addSql(`
drop index transactions_of_user;
drop index transactions_of_organization;
drop index transactions_of_reference;
create index transactions_of_user on transactions (user_id, created_at desc, id desc)
  include (reference_type, type, reference_id);
create index transactions_of_reference on transactions (reference_id, created_at desc, id desc)
  include (reference_type, type, user_id);

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
create unique index transactions_of_organization
  on transaction_organizations (organization_id, created_at desc, transaction_id desc)
  include (user_id, reference_type, type, reference_id);
`);
    this.addSql(`
-- The organizations that a transaction belongs to: the payer's, and those of the accounts at its ends.
create function organizations_of_transaction(p transactions) returns setof uuid language sql stable as $$
  select p.organization_id where p.organization_id is not null
  union
  select organization_id from accounts
    where id in (p.source_account_id, p.destination_account_id) and organization_id is not null
$$;

create function list_transaction() returns trigger language plpgsql as $$
declare
  of_payer uuid := new.organization_id;
begin
  insert into transaction_counts (reference_type, type, shard, count)
    values (new.reference_type, new.type, pg_backend_pid() % 32, 1)
    on conflict (reference_type, type, shard) do update set count = transaction_counts.count + 1;
  insert into transaction_organizations
    select distinct o.id, new.id, new.created_at, new.user_id, new.reference_type, new.type, new.reference_id
    from (select of_payer as id union all
          select a.organization_id from accounts a where a.id = new.source_account_id union all
          select a.organization_id from accounts a where a.id = new.destination_account_id) o
    where o.id is not null;
  return null;
end $$;

insert into transaction_counts (reference_type, type, shard, count)
  select reference_type, type, 0, count(*) from transactions group by 1, 2;
insert into transaction_organizations
  select o, t.id, t.created_at, t.user_id, t.reference_type, t.type, t.reference_id
  from transactions t, organizations_of_transaction(t) o;
create trigger transaction_is_listed after insert on transactions for each row execute function list_transaction();
-- An account stays whose it is, or its transactions would be listed where they do not belong.
create trigger account_owner_is_final before update of user_id, organization_id on accounts
  for each row execute function refuse_change();
create trigger counts_follow_transactions before insert or update or delete on transaction_counts
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create trigger lists_follow_transactions before insert or update or delete on transaction_organizations
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();

create view check_transaction_counts as
  select reference_type, type, coalesce(c.count, 0) as counted, coalesce(t.count, 0) as rows
  from (select reference_type, type, sum(count) as count from transaction_counts group by 1, 2) c
  full join (select reference_type, type, count(*) as count from transactions group by 1, 2) t
    using (reference_type, type)
  where coalesce(c.count, 0) <> coalesce(t.count, 0);
create view check_transaction_organizations as
  select coalesce(l.transaction_id, t.id) as transaction_id, coalesce(l.organization_id, t.organization_id) as organization_id
  from transaction_organizations l
  full join (select t.id, o as organization_id from transactions t, organizations_of_transaction(t) o) t
    on t.id = l.transaction_id and t.organization_id = l.organization_id
  where l.transaction_id is null or t.id is null;
`);
  }
}
