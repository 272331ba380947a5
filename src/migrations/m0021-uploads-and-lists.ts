import { Migration } from '@mikro-orm/migrations';

/**
 * Uploads keep their file name and are measured per user; sign-ups are counted per network address; who
 * receives money in an account sees it among the transactions.
 */
export class M0021UploadsAndLists extends Migration {
  override up(): void {
    this.addSql(`
alter table documents add column file_name_sealed text;
-- What a user's files measure is read over the index alone.
create index documents_measured on documents (created_by) include (url_hash, size_bytes) where deleted_at is null;

create table sign_ups (
  id bigint generated always as identity primary key,
  address text not null,
  made_at timestamptz not null default clock_timestamp()
);
create index sign_ups_of_address on sign_ups (address, made_at);
create index sign_ups_by_age on sign_ups (made_at);

create table transaction_receivers (
  user_id uuid not null,
  transaction_id uuid not null,
  created_at timestamptz not null,
  reference_type text not null,
  type text not null,
  reference_id uuid not null
);
create unique index transactions_of_receiver on transaction_receivers (user_id, created_at desc, transaction_id desc)
  include (reference_type, type, reference_id);
`);
    this.addSql(`
-- The user, another than the payer, whose account a transaction credits: its destination, or where money of the gateway
-- arrived.
create function receiver_of_transaction(p transactions) returns setof uuid language sql stable as $$
  select user_id from accounts
    where id = coalesce(p.destination_account_id, case when p.payment_order_id is not null then p.source_account_id end)
      and user_id is not null and user_id <> p.user_id
$$;
create function list_received_transaction() returns trigger language plpgsql as $$
begin
  insert into transaction_receivers
    select r, new.id, new.created_at, new.reference_type, new.type, new.reference_id
    from receiver_of_transaction(new) r;
  return null;
end $$;
insert into transaction_receivers
  select r, t.id, t.created_at, t.reference_type, t.type, t.reference_id
  from transactions t, receiver_of_transaction(t) r;
create trigger transaction_is_received after insert on transactions
  for each row execute function list_received_transaction();
create trigger received_follow_transactions before insert or update or delete on transaction_receivers
  for each row when (pg_trigger_depth() = 0) execute function refuse_change();
create view check_transaction_receivers as
  select coalesce(l.transaction_id, t.id) as transaction_id, coalesce(l.user_id, t.user_id) as user_id
  from transaction_receivers l
  full join (select t.id, r as user_id from transactions t, receiver_of_transaction(t) r) t
    on t.id = l.transaction_id and t.user_id = l.user_id
  where l.transaction_id is null or t.id is null;
`);
  }
}
