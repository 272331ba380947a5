import { Migration } from '@mikro-orm/migrations';

/**
 * The hot path with fewer statements, by the same laws: postings are judged in the pass that applies them, a statement
 * writes one whole journal, and a counter is first looked for and only then made. The join of a posting with
 * its journal is judged there too, in the place of a foreign key; `check_*` views say what they said.
 */
export class M0011LeanPostings extends Migration {
  override up(): void {
    this.addSql(`
create or replace function apply_postings() returns trigger language plpgsql as $$
declare
  entry record;
  journal uuid;
  total numeric := 0;
  written bigint := 0;
  held numeric;
  credit_shard smallint := 1 + pg_backend_pid() % 16;
begin
  -- One order for all: debited accounts by id, then credited accounts by id.
  for entry in
    select n.journal_id, n.account_id, sum(n.amount) as delta, count(*) as written, a.may_go_negative
    from new_postings n left join accounts a on a.id = n.account_id
    group by n.journal_id, n.account_id, a.may_go_negative
    order by sum(n.amount) > 0 or a.may_go_negative, n.account_id
  loop
    journal := coalesce(journal, entry.journal_id);
    total := total + entry.delta;
    written := written + entry.written;
    if entry.may_go_negative is null then
      raise exception 'account % does not exist', entry.account_id using errcode = 'AM002';
    elsif entry.journal_id <> journal then
      raise exception 'a statement writes one journal' using errcode = 'AM002';
    elsif entry.delta < 0 and not entry.may_go_negative then
      update account_balances set balance = balance + entry.delta where account_id = entry.account_id and shard = 0;
      select sum(balance) into held from account_balances where account_id = entry.account_id;
      if held < 0 then
        raise exception 'insufficient balance' using errcode = 'AM001', detail = entry.account_id::text;
      end if;
    elsif entry.delta <> 0 then
      update account_balances set balance = balance + entry.delta
        where account_id = entry.account_id and shard = credit_shard;
      if not found then
        insert into account_balances (account_id, shard, balance) values (entry.account_id, credit_shard, entry.delta)
          on conflict (account_id, shard) do update set balance = account_balances.balance + excluded.balance;
      end if;
    end if;
  end loop;
  -- Whole, balanced, and of a journal that is there: the join is what a foreign key would be, without its locks.
  if total <> 0 or written = 1 or written <>
    (select count(*) from journals j join postings p on p.journal_id = j.id where j.id = journal) then
    raise exception 'a journal is written at once and sums to zero' using errcode = 'AM002';
  end if;
  return null;
end $$;
alter table postings drop constraint postings_journal_id_fkey;
create view check_ledger_rows_have_parents as
  select p.id::text as id, 'a posting without its journal' as problem from postings p
  where not exists (select from journals j where j.id = p.journal_id)
  union all
  select t.id::text, 'a transaction without its journal' from transactions t
  where not exists (select from journals j where j.id = t.batch_id)
  union all
  select t.id::text, 'a transaction without its user' from transactions t
  where not exists (select from users u where u.id = t.user_id);

create or replace function list_transaction() returns trigger language plpgsql as $$
begin
  update transaction_counts set count = count + 1
    where reference_type = new.reference_type and type = new.type and shard = pg_backend_pid() % 32;
  if not found then
    insert into transaction_counts (reference_type, type, shard, count)
      values (new.reference_type, new.type, pg_backend_pid() % 32, 1)
      on conflict (reference_type, type, shard) do update set count = transaction_counts.count + 1;
  end if;
  if new.organization_id is not null or exists (select from accounts
      where id in (new.source_account_id, new.destination_account_id) and organization_id is not null) then
    insert into transaction_organizations
      select o, new.id, new.created_at, new.user_id, new.reference_type, new.type, new.reference_id
      from organizations_of_transaction(new) o;
  end if;
  return null;
end $$;

/*
 * As before, and: a target that is null is 'unclear' (the caller looks closer), an account that pays into itself is
 * 'itself'. Both change nothing.
 */
create or replace function pay_from_balance(
  p_transaction_id uuid, p_journal_id uuid, p_business_key text, p_kind text,
  p_user_id uuid, p_user_type text, p_organization_id uuid,
  p_source uuid, p_target uuid, p_amount numeric,
  p_reference_type text, p_reference_id uuid, p_purpose text, p_request_id text,
  p_key_hash text, p_fingerprint text, p_answer text)
returns table (outcome text, new_balance numeric, answer_status smallint, answer_body text)
language plpgsql rows 1 as $$
declare
  kept idempotency_keys;
begin
  if p_target is null then
    outcome := 'unclear'; return next; return;
  elsif p_target = p_source then
    outcome := 'itself'; return next; return;
  end if;
  select case when a.kind = 'user' and a.user_id = p_user_id or a.kind = 'organization'
      and p_user_type = 'organization' and a.organization_id = p_organization_id then 'paid' else 'foreign' end
    into outcome from accounts a where a.id = p_source;
  if outcome is distinct from 'paid' then
    outcome := coalesce(outcome, 'missing'); return next; return;
  end if;
  if p_key_hash is not null then
    insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id)
      values (p_user_id, p_key_hash, p_fingerprint, p_transaction_id) on conflict do nothing;
    if not found then
      select * into kept from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
      outcome := case when kept.fingerprint = p_fingerprint and kept.answer_body is not null
        then 'replayed' else 'reused' end;
      answer_status := kept.answer_status;
      answer_body := kept.answer_body;
      return next; return;
    end if;
  end if;
  if not post_journal(p_journal_id, p_business_key, p_kind, array[p_source, p_target], array[-p_amount, p_amount]) then
    -- The key was forgotten, the journal never is: nothing is paid twice, and no key is left without its answer.
    delete from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
    outcome := 'reused'; return next; return;
  end if;
  select sum(b.balance) into new_balance from account_balances b where b.account_id = p_source;
  insert into transactions (id, user_id, organization_id, amount, status, source_account_id, destination_account_id,
      type, reference_type, reference_id, batch_id, purpose, created_by)
    values (p_transaction_id, p_user_id, p_organization_id, p_amount, 'successful', p_source, p_target,
      'price', p_reference_type, p_reference_id, p_journal_id, p_purpose, p_user_id);
  insert into events (event, impact, resource_type, resource_id, actor_id, request_id)
    values ('RESOURCE_CREATED', 'MEDIUM', 'transaction', p_transaction_id::text, p_user_id, p_request_id);
  answer_status := 201;
  answer_body := replace(p_answer, '<new_balance>', new_balance::text);
  if p_key_hash is not null then
    update idempotency_keys k set answer_status = pay_from_balance.answer_status,
        answer_body = pay_from_balance.answer_body
      where k.user_id = p_user_id and k.key_hash = p_key_hash;
  end if;
  return next;
end $$;
`);
  }
}
