-- The provider's transfers that are in the books. Every booking inserts a row in its transaction, so that no transfer
-- is booked twice.

create table booked_transfers (
  -- The provider's id, or the reference of money that the platform itself withdrew (book_external).
  provider_id text primary key,
  -- The payout that spent it, or that failed here although the money left; null for a transfer we never requested.
  payout_id uuid references payouts (id),
  -- The decision and the journal, if two people booked it.
  decision_id uuid references decisions (id),
  journal_id uuid,
  booked_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(payout_id, decision_id) > 0),
  check ((decision_id is null) = (journal_id is null))
);
create unique index booked_transfers_spent on booked_transfers (payout_id) where decision_id is null;
create index booked_transfers_of_decision on booked_transfers (decision_id) where decision_id is not null;

-- Reverses a booking by people of a transfer that turns out to be a payout's own, and so neither unknown nor a second
-- one. Inserts the transfer of a payout that succeeds.
create function book_own_transfer() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  spent constant text := case new.status when 'succeeded' then new.provider_transfer_id end;
begin
  if new.provider_transfer_id is distinct from old.provider_transfer_id then
    perform unbook_transfer(uuidv7(), new.provider_transfer_id, false);
  end if;
  delete from booked_transfers b
    where b.payout_id = new.id and b.decision_id is null and b.provider_id is distinct from spent;
  if spent is not null and not exists (select from booked_transfers b
      where b.provider_id = spent and b.payout_id = new.id and b.decision_id is null) then
    begin
      insert into booked_transfers (provider_id, payout_id) values (spent, new.id);
    exception when unique_violation then
      raise exception 'the transfer is already booked' using errcode = 'AM003', detail = spent;
    end;
  end if;
  update reconciliations r set state = 'resolved', updated_at = now()
    where r.resource_type = 'payout' and r.subject = new.provider_transfer_id and r.state <> 'resolved'
      and r.kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER');
  return null;
end $$;
create trigger payouts_book_their_transfer after update on payouts for each row
  when (new.status is distinct from old.status or new.provider_transfer_id is distinct from old.provider_transfer_id)
  execute function book_own_transfer();

-- Whether the transfer with this id of the provider is in the books, or is a payout's own.
create function is_transfer_known(p_provider_id text) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select exists (select from booked_transfers b where b.provider_id = p_provider_id)
    or exists (select from payouts p where p.provider_transfer_id = p_provider_id)
$$;

-- The unknown and second transfers that have p_reference as our reference or the provider's id, except those that are
-- known by now.
create function transfers_beyond_ours(p_reference text) returns setof reconciliations language sql stable rows 2
set search_path = pg_catalog, public, pg_temp as $$
  select r.* from reconciliations r
  where r.kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER') and r.state <> 'resolved' and (r.subject = p_reference
    or r.reference = p_reference or r.resource_id = (select p.id from payouts p where p.reference = p_reference))
    and not is_transfer_known(r.subject)
$$;

-- Locks the one unknown or second transfer with this reference; returns its latest difference, or null if there is none
-- or several.
create function hold_transfer_beyond_ours(p_reference text) returns reconciliations language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  beyond reconciliations;
begin
  -- First lock the payout to which it refers, as a step that asks about the payout does before it records transfers.
  perform from payouts p where p.id in (select t.resource_id from transfers_beyond_ours(p_reference) t)
    order by p.id for key share;
  -- A later status waits for this lock, and then finds the transfer booked.
  perform from reconciliations r where r.resource_type = 'payout'
    and r.subject in (select t.subject from transfers_beyond_ours(p_reference) t) order by r.id for update;
  if (select count(distinct t.subject) from transfers_beyond_ours(p_reference) t) = 1 then
    select t.* into beyond from transfers_beyond_ours(p_reference) t order by t.day desc limit 1;
  end if;
  return beyond;
end $$;

-- Resolves the differences about a transfer that is now in the books.
create function resolve_transfer(p_provider_id text) returns void language sql
set search_path = pg_catalog, public, pg_temp as $$
  update reconciliations r set state = 'resolved', updated_at = now()
    where r.resource_type = 'payout' and r.subject = p_provider_id and r.state <> 'resolved'
$$;

-- Inserts the transaction of what a booking debited from a withdrawal's account or returned to it.
create function record_transfer(p_journal_id uuid, p_payout_id uuid) returns void language sql
set search_path = pg_catalog, public, pg_temp as $$
  insert into transactions (id, user_id, organization_id, amount, status, source_account_id, type, reference_type,
      reference_id, batch_id, purpose)
    select uuidv7(), w.user_id, w.organization_id, abs(e.amount), case when e.amount < 0 then 'successful' else 'reversed' end,
      p.source_account_id, 'price', 'account_top_up', p.id, e.journal_id, 'external_withdrawal'
    from withdrawals w join payouts p on p.id = w.id
    join postings e on e.journal_id = p_journal_id and e.account_id = p.source_account_id
    where w.id = p_payout_id
$$;

-- Books a transfer that left without being booked here, as two people have decided, carries out the decision and
-- resolves the difference. Debits the source of a payout that failed or was returned here, as far as it has money not
-- kept for causes; the rest, and all of an unknown or second transfer, is the platform's loss. The provider's cost is
-- the payout's price, if there is a payout. Returns false if there is no longer such a transfer.
create function book_transfer(p_journal_id uuid, p_decision_id uuid) returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  loss constant uuid := '00000000-0000-4000-8000-000000000006';
  decided decisions;
  beyond reconciliations;
  subject payouts;
  transfer text;
  gone numeric;
  taken numeric := 0;
  from_source numeric := 0;
begin
  perform refuse_old_snapshot();
  decided := approved_decision(p_decision_id, 'book_transfer');
  if decided.payout_id is not null then
    select * into subject from payouts p where p.id = decided.payout_id for update;
    if subject.status not in ('failed', 'reversed') or coalesce(subject.last_word, '') not in ('succeeded', 'another amount') then
      return false;
    end if;
    transfer := subject.provider_transfer_id;
    -- If the amount differs from the request, book the amount shown to the two people; the owner pays at most the
    -- requested amount.
    gone := case subject.last_word when 'succeeded' then subject.net_amount
      else (decided.evidence #>> '{provider,amount}')::numeric end;
    -- The price of a payout that succeeded was posted then.
    taken := case subject.status when 'failed' then subject.provider_fee else 0 end;
    perform from account_balances b where b.account_id = subject.source_account_id and b.shard = 0 for update;
    select least(gone, subject.net_amount, greatest(account_balance(subject.source_account_id) - coalesce(sum(disbursable_of_cause(c.id)), 0), 0))
      into from_source from charitable_causes c where c.account_id = subject.source_account_id;
  else
    beyond := hold_transfer_beyond_ours(decided.provider_reference);
    if beyond.id is null then
      return false;
    end if;
    transfer := beyond.subject;
    gone := (beyond.theirs ->> 'amount')::numeric;
    select p.id, p.provider_fee into subject.id, taken from payouts p where p.id = beyond.resource_id;
    taken := coalesce(taken, 0);
  end if;
  insert into booked_transfers (provider_id, payout_id, decision_id, journal_id)
    values (transfer, subject.id, decided.id, p_journal_id) on conflict do nothing;
  if not found or not write_journal(p_journal_id, 'transfer/' || transfer || '/booked/' || decided.id, 'transfer.booked',
    array[clearing, cost] || case when from_source > 0 then array[subject.source_account_id] else '{}' end
      || case when gone > from_source then array[loss] else '{}' end,
    array[gone + taken, -taken] || case when from_source > 0 then array[-from_source] else '{}' end
      || case when gone > from_source then array[from_source - gone] else '{}' end) then
    return false;
  end if;
  update payouts p set booked_at = clock_timestamp(), booked_amount = gone, contradicted_at = null, explained_word = p.last_word
    where p.id = decided.payout_id;
  perform record_transfer(p_journal_id, decided.payout_id);
  perform resolve_transfer(transfer);
  insert into events (event, impact, resource_type, resource_id, actor_id, data)
    values ('TRANSFER_BOOKED', 'HIGH', 'journal', p_journal_id::text, decided.approved_by, jsonb_build_object(
      'provider_id', transfer, 'amount', gone::text, 'cost', taken::text, 'loss', (gone - from_source)::text,
      'payout_id', decided.payout_id, 'decision_id', decided.id));
  update decisions set status = 'carried_out' where id = decided.id;
  return true;
end $$;

-- Reverses a transfer's booking by two people: all money returns to its source. The provider's cost stays if the bank
-- returned the money (p_keeps_cost), and is reversed if the transfer was never made or a payout spends it. Returns
-- false if it was not booked.
create function unbook_transfer(p_journal_id uuid, p_provider_id text, p_keeps_cost boolean) returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  revenue constant uuid := '00000000-0000-4000-8000-000000000002';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  booked booked_transfers;
  kept numeric;
  accounts uuid[];
  amounts numeric[];
begin
  perform refuse_old_snapshot();
  perform from reconciliations r where r.resource_type = 'payout' and r.subject = p_provider_id order by r.id for update;
  -- A receipt stays refunded: people decide about money that comes back. But a payout's own transfer did not refund it.
  delete from booked_transfers b where b.provider_id = p_provider_id and exists (select from decisions d
    where d.id = b.decision_id and (d.kind <> 'settle_receipt'
      or exists (select from payouts p where p.provider_transfer_id = p_provider_id))) returning * into booked;
  if not found then
    return false;
  end if;
  insert into events (event, impact, resource_type, resource_id, data)
    select 'TRANSFER_UNBOOKED', 'HIGH', 'receipt', d.receipt_id::text, jsonb_build_object('provider_id', p_provider_id,
      'decision_id', d.id, 'booked_journal_id', booked.journal_id)
    from decisions d where d.id = booked.decision_id and d.kind = 'settle_receipt';
  if found then
    return false;
  end if;
  select case when p_keeps_cost then coalesce(-sum(p.amount), 0) else 0 end into kept
    from postings p where p.journal_id = booked.journal_id and p.account_id = cost;
  select array_agg(p.account_id), array_agg(case p.account_id when clearing then kept - p.amount when cost then -kept - p.amount
      else -p.amount end) into accounts, amounts
    from postings p where p.journal_id = booked.journal_id;
  -- The payout to which it turns out to belong may be finalized next, so lock its balances in the lock order.
  perform hold_balances(
    array(select p.reserved_account_id from payouts p where p.status = 'pending' and p.provider_transfer_id = p_provider_id),
    accounts || revenue || array(select p.source_account_id from payouts p where p.provider_transfer_id = p_provider_id));
  if not write_journal(p_journal_id, 'transfer/' || p_provider_id || '/unbooked/' || booked.decision_id, 'transfer.unbooked',
    accounts, amounts) then
    raise exception 'this booking is already reversed' using errcode = 'AM003', detail = p_provider_id;
  end if;
  update payouts p set booked_at = null, booked_amount = null, explained_word = null where p.id = booked.payout_id
    and exists (select from decisions d where d.id = booked.decision_id and d.payout_id = p.id);
  perform record_transfer(p_journal_id, booked.payout_id);
  insert into events (event, impact, resource_type, resource_id, data)
    values ('TRANSFER_UNBOOKED', 'HIGH', 'journal', p_journal_id::text, jsonb_build_object('provider_id', p_provider_id,
      'payout_id', booked.payout_id, 'decision_id', booked.decision_id, 'booked_journal_id', booked.journal_id));
  return true;
end $$;

-- A transfer is in the books once: spent by a payout, or booked by people and not reversed. Finds transfers that are
-- booked twice, have no row here, or have a row without a journal.
create view check_transfers_booked_once as
  select coalesce(b.provider_id, p.provider_transfer_id) as provider_id, p.id as payout_id, b.decision_id, 'spent' as booked
  from (select * from payouts where updated_at >= checks_since_time() and status = 'succeeded' and provider_transfer_id is not null) p
  left join booked_transfers b on b.provider_id = p.provider_transfer_id
  where b.payout_id is distinct from p.id or b.decision_id is not null
  union all
  select b.provider_id, b.payout_id, b.decision_id, 'by people'
  from journals j
  cross join lateral (select split_part(j.business_key, '/booked/', 2)::uuid as decision_id,
    substring(split_part(j.business_key, '/booked/', 1) from '^transfer/(.*)$') as provider_id) named
  left join booked_transfers b on b.decision_id = named.decision_id
  where j.kind = 'transfer.booked' and j.id >= checks_since() and (b.journal_id is not distinct from j.id)
    = exists (select from journal_keys k where k.business_key = replace(j.business_key, '/booked/', '/unbooked/'))
  union all
  select b.provider_id, b.payout_id, b.decision_id, 'without its booking'
  from booked_transfers b left join payouts p on p.id = b.payout_id
  where b.booked_at >= checks_since_time() and case when b.decision_id is null
    then p.status is distinct from 'succeeded' or p.provider_transfer_id is distinct from b.provider_id
    else not exists (select from journals j where j.id = b.journal_id and j.kind in ('transfer.booked', 'platform.external', 'receipt.refunded')) end;
