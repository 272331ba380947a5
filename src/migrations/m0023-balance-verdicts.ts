import { Migration } from '@mikro-orm/migrations';

/**
 * What became of a payment from a balance under an idempotency key: paid, or refused. The key's row decides, as it did; a
 * refusal takes it for a moment, so that it waits for a payment under way and no payment passes it.
 */
export class M0023BalanceVerdicts extends Migration {
  override up(): void {
    this.addSql(`
create table refused_balance_payments (
  user_id uuid not null references users (id),
  key_hash text not null,
  fingerprint text not null,
  -- Of opening_numbers: no request with this number or a smaller one ever pays; they are told the refusal.
  refused_upto bigint not null,
  refusal jsonb not null,
  refused_at timestamptz not null default clock_timestamp(),
  primary key (user_id, key_hash, fingerprint)
);
create index refused_balance_payments_by_age on refused_balance_payments (refused_at);

-- Of opening_numbers: the request that paid from a balance.
alter table idempotency_keys add column number bigint;

create view check_refused_balance_payments_are_not_made as
  select r.user_id, r.key_hash, r.refused_upto, k.number, k.resource_id
  from refused_balance_payments r join idempotency_keys k using (user_id, key_hash, fingerprint)
  where coalesce(k.number, 0) <= r.refused_upto;

/*
 * Refuses a payment for good: no request before this moment makes it, also one that is under way. Answers the key's row
 * instead, and writes nothing, where the key was used meanwhile.
 */
create function refuse_balance_payment(p_user_id uuid, p_key_hash text, p_fingerprint text, p_refusal jsonb)
returns setof idempotency_keys language plpgsql as $$
begin
  loop
    -- Waits for a payment under way, and holds up later ones: they look for a refusal once this one is committed.
    insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id)
      values (p_user_id, p_key_hash, p_fingerprint, gen_random_uuid()) on conflict do nothing;
    exit when found;
    return query select * from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
    if found then return; end if;
  end loop;
  insert into refused_balance_payments (user_id, key_hash, fingerprint, refused_upto, refusal)
    values (p_user_id, p_key_hash, p_fingerprint, nextval('opening_numbers'), p_refusal)
    on conflict (user_id, key_hash, fingerprint) do update
      set refused_upto = excluded.refused_upto, refusal = excluded.refusal, refused_at = excluded.refused_at;
  -- The key stays free for later requests.
  delete from idempotency_keys k where k.user_id = p_user_id and k.key_hash = p_key_hash;
end $$;

drop function pay_from_balance(uuid, uuid, text, text, uuid, text, uuid, uuid, uuid, numeric, text, uuid, text, text,
  text, text, text);
/*
 * As before, and: a request whose number has been refused is AM007 with the refusal as its detail, and changes nothing.
 * One without a number (of the release before) came before all refusals.
 */
create function pay_from_balance(
  p_transaction_id uuid, p_journal_id uuid, p_business_key text, p_kind text,
  p_user_id uuid, p_user_type text, p_organization_id uuid,
  p_source uuid, p_target uuid, p_amount numeric,
  p_reference_type text, p_reference_id uuid, p_purpose text, p_request_id text,
  p_key_hash text, p_fingerprint text, p_answer text, p_number bigint default null)
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
    insert into idempotency_keys (user_id, key_hash, fingerprint, resource_id, number)
      values (p_user_id, p_key_hash, p_fingerprint, p_transaction_id, p_number) on conflict do nothing;
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
    -- The key is held here, so every refusal under it is committed and seen, or comes later and meets this answer.
    update idempotency_keys k set answer_status = pay_from_balance.answer_status,
        answer_body = pay_from_balance.answer_body
      where k.user_id = p_user_id and k.key_hash = p_key_hash and not exists (
        select from refused_balance_payments r where r.user_id = p_user_id and r.key_hash = p_key_hash
          and r.fingerprint = p_fingerprint and r.refused_upto >= coalesce(p_number, 0));
    if not found then
      raise exception 'this payment was refused' using errcode = 'AM007', detail = (
        select r.refusal::text from refused_balance_payments r where r.user_id = p_user_id
          and r.key_hash = p_key_hash and r.fingerprint = p_fingerprint);
    end if;
  end if;
  return next;
end $$;
`);
  }
}
