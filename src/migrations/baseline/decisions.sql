-- Decisions of operators, for what the provider's status does not prove: one person proposes, another approves. A
-- decision is carried out, or closed without effect, once.

create table decisions (
  id uuid primary key,
  kind text not null check (kind in ('settle_payout', 'settle_receipt', 'explain_difference', 'book_external',
    'disburse', 'refund_donation', 'erase_person', 'book_transfer', 'admit_approver')),
  status text not null default 'pending' check (status in ('pending', 'carried_out', 'rejected', 'lapsed', 'refused')),
  payout_id uuid references payouts (id),
  outcome text check (outcome in ('succeeded', 'failed')),
  receipt_id uuid references receipts (id),
  action text check (action in ('credit', 'refund')),
  account_id uuid references accounts (id),
  reconciliation_id uuid references reconciliations (id),
  -- IDR: positive for money that the platform paid in at the provider, negative for money it withdrew.
  amount numeric(20, 4) check (amount <> 0 and amount > '-Infinity' and amount < 'Infinity'),
  reference varchar(64),
  provider_reference varchar(255),
  withdrawal_id uuid unique references withdrawals (id),
  donation_id uuid references donations (id),
  user_id uuid references users (id),
  note varchar(300) not null check (length(btrim(note)) >= 3),
  -- What the provider and the books showed at the proposal.
  evidence jsonb not null,
  -- Why it was refused or lapsed.
  reason text,
  proposed_by uuid not null references users (id),
  -- The first of a disbursement's two approvers; approved_by is the second.
  first_approved_by uuid references users (id),
  approved_by uuid references users (id),
  rejected_by uuid references users (id),
  created_at timestamptz not null default clock_timestamp(),
  approved_at timestamptz,
  ended_at timestamptz,
  constraint decisions_say_what_is_done check (case kind
    when 'settle_payout' then num_nonnulls(payout_id, outcome) = 2
      and num_nonnulls(receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    when 'settle_receipt' then num_nonnulls(receipt_id, action) = 2 and (account_id is not null) = (action = 'credit')
      and num_nonnulls(payout_id, outcome, reconciliation_id, amount, reference) = 0
    when 'explain_difference' then reconciliation_id is not null
      and num_nonnulls(payout_id, outcome, receipt_id, action, account_id, amount, reference) = 0
    -- account_id is the account of an erased person whose money was paid out.
    when 'book_external' then num_nonnulls(amount, reference) = 2 and (account_id is null or amount < 0)
      and num_nonnulls(payout_id, outcome, receipt_id, action, reconciliation_id) = 0
    -- For a payout that failed here but was paid, or for an unknown or second transfer.
    when 'book_transfer' then num_nonnulls(payout_id, provider_reference) = 1
      and num_nonnulls(outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    when 'disburse' then withdrawal_id is not null
      and num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    when 'erase_person' then user_id is not null
      and num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    when 'admit_approver' then user_id is not null
      and num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    when 'refund_donation' then donation_id is not null
      and num_nonnulls(payout_id, outcome, receipt_id, action, account_id, reconciliation_id, amount, reference) = 0
    else false end),
  check (provider_reference is null or kind = 'book_transfer' or action = 'refund'),
  constraint decisions_of_withdrawals_disburse check ((kind = 'disburse') = (withdrawal_id is not null)),
  constraint decisions_of_donations_refund check ((kind = 'refund_donation') = (donation_id is not null)),
  constraint decisions_of_people check ((kind in ('erase_person', 'admit_approver')) = (user_id is not null)),
  constraint decisions_are_of_two check (approved_by <> proposed_by and rejected_by <> proposed_by
    and first_approved_by <> proposed_by and first_approved_by <> approved_by),
  constraint disbursements_are_approved_twice check (case kind
    when 'disburse' then approved_by is null or first_approved_by is not null else first_approved_by is null end),
  check ((approved_by is null) = (approved_at is null)),
  check ((status = 'rejected') = (rejected_by is not null)),
  check ((status in ('refused', 'lapsed')) = (reason is not null)),
  check ((status = 'pending') = (ended_at is null)),
  -- One person suffices if the provider's status proves the outcome, and for explanations.
  check (status <> 'carried_out' or approved_by is not null or kind in ('settle_payout', 'explain_difference'))
);
create index decisions_by_creation on decisions (created_at desc, id desc);
create index decisions_pending on decisions (created_at) where status = 'pending';
create index decisions_by_end on decisions (ended_at) where ended_at is not null;
-- For the check of disbursements.
create index decisions_not_carried_out on decisions (withdrawal_id)
  where status <> 'carried_out' and withdrawal_id is not null;
-- Does not include bookings: a transfer that was booked, returned and made again is booked again (see
-- booked_transfers).
create unique index decisions_carried_out_of_payout on decisions (payout_id) where status = 'carried_out' and kind = 'settle_payout';
create unique index decisions_carried_out_of_receipt on decisions (receipt_id) where status = 'carried_out';
create unique index decisions_carried_out_of_reference on decisions (reference) where status = 'carried_out';
create index decisions_of_payout on decisions (payout_id) where payout_id is not null;
create index decisions_of_receipt on decisions (receipt_id) where receipt_id is not null;
create index decisions_of_account on decisions (account_id) where account_id is not null;
create index decisions_of_reconciliation on decisions (reconciliation_id) where reconciliation_id is not null;
create index decisions_of_donation on decisions (donation_id) where donation_id is not null;
create index decisions_of_user on decisions (user_id) where user_id is not null;
create index decisions_of_reference on decisions (reference) where reference is not null;
create index decisions_of_proposer on decisions (proposed_by);
create index decisions_of_approver on decisions (approved_by) where approved_by is not null;
create index decisions_of_first_approver on decisions (first_approved_by) where first_approved_by is not null;
create index decisions_of_rejecter on decisions (rejected_by) where rejected_by is not null;

alter table erasures add foreign key (decision_id) references decisions (id);
alter table cause_remainders add foreign key (decision_id) references decisions (id);

create trigger decisions_are_kept before delete on decisions for each row execute function refuse_change();
create trigger decisions_status_law before insert or update of status on decisions
  for each row execute function keep_status('status', '>pending', 'pending>carried_out', 'pending>rejected',
    'pending>lapsed', 'pending>refused');

-- Whether the user is an active platform user who holds the permission and, to approve, was admitted.
create function is_operator(p_user_id uuid, p_permission text) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select exists (select from users u
    join role_permissions r on r.role_id = u.role_id
    join permissions p on p.id = r.permission_id
    where u.id = p_user_id and u.user_type = 'platform' and u.status = 'active' and p.name = p_permission
      and (p_permission <> 'approve-decision' or u.approver_since is not null))
$$;
-- Whether p_inviter_id invited the user, directly or through people who were never admitted.
create function brought_by(p_user_id uuid, p_inviter_id uuid) returns boolean language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  with recursive inviters (id) as (
    select i.created_by from invitations i where i.user_id = p_user_id
    union select i.created_by from inviters v join users u on u.id = v.id and u.approver_since is null
      join invitations i on i.user_id = v.id)
  select exists (select from inviters v where v.id = p_inviter_id)
$$;
-- Why p_person_id may not be one of the two who admit the user as an approver, as a text; null if they may. p_other_id
-- is the other of the two, if known.
create function why_not_admitting(p_user_id uuid, p_person_id uuid, p_other_id uuid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select case
    when p_person_id = p_user_id then 'You cannot admit yourself'
    when brought_by(p_user_id, p_person_id) then 'The person who invited the new approver cannot admit them'
    when brought_by(p_person_id, p_other_id) or brought_by(p_other_id, p_person_id)
      then 'An approver cannot be admitted by two people of whom one invited the other'
    end
$$;
-- Why p_person_id may not approve a proposal that others may approve, as a text; null if they may. Operators cannot
-- create their own second person: the approver must not have invited the proposer, unless the proposer was admitted
-- since.
create function why_not_approving(p_kind text, p_user_id uuid, p_proposed_by uuid, p_person_id uuid) returns text
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select case
    when p_kind = 'admit_approver' then why_not_admitting(p_user_id, p_person_id, p_proposed_by)
    when exists (select from users u where u.id = p_proposed_by and u.user_type = 'platform' and u.approver_since is null)
      and brought_by(p_proposed_by, p_person_id)
      then 'Someone else must approve: you invited the proposer'
    end
$$;
-- As is_operator, for an action about to take effect: waits for a suspension or a change of role or permissions in
-- progress; later ones wait until the caller's transaction ends.
create function hold_operator(p_user_id uuid, p_permission text) returns boolean language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from users u where u.id = p_user_id for key share;
  perform from roles r where r.id = (select u.role_id from users u where u.id = p_user_id) for key share;
  return is_operator(p_user_id, p_permission);
end $$;

-- The missing part of a decision's effect, as a text; null if it is complete.
create function missing_of_decision(decided decisions) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select case decided.kind
    when 'settle_payout' then (select 'the payout does not have the decided status' where not exists (select from payouts p
      where p.id = decided.payout_id and (p.status = decided.outcome
        or decided.outcome = 'succeeded' and p.status = 'reversed')))
    when 'settle_receipt' then (select 'the receipt does not have the decided state' where not exists (select from receipts r
      where r.id = decided.receipt_id and (r.state, r.settled_by, r.account_id) is not distinct from
        (case decided.action when 'credit' then 'credited' else 'refunded' end, decided.approved_by, decided.account_id)))
    when 'book_external' then (select 'the movement at the provider is not booked' where not exists (select
      from journal_keys k where k.business_key = 'platform-external/' || decided.reference))
    when 'book_transfer' then (select 'the transfer is not booked' where not exists (select from events e
      where e.resource_type = 'journal' and e.event = 'TRANSFER_BOOKED' and e.data ->> 'decision_id' = decided.id::text)
      and not is_archived('events', first_id_at(decided.ended_at)))
    when 'disburse' then (select 'the withdrawal became final without it' where exists (select from payouts p
      where p.id = decided.withdrawal_id and p.failure_code = 'DECISION_REJECTED'))
    when 'refund_donation' then (select 'the donation was not refunded' where not exists (select from donations d
      where d.id = decided.donation_id and d.status = 'refunded'))
    when 'admit_approver' then (select 'the approver was not admitted' where not exists (select from events e
      where e.resource_type = 'user' and e.resource_id = decided.user_id::text and e.event = 'APPROVER_ADMITTED'
        and e.data ->> 'decision_id' = decided.id::text)
      and not is_archived('events', first_id_at(decided.ended_at)))
    when 'erase_person' then (select 'the erasure was never begun' where not exists (select from erasures e
      where e.decision_id = decided.id and e.user_id = decided.user_id))
    else (select 'the difference was never explained' where not exists (select from events e
      where e.resource_type = 'reconciliation' and e.resource_id = decided.reconciliation_id::text
        and e.event = 'RECONCILIATION_EXPLAINED' and e.data ->> 'decision_id' = decided.id::text)
      -- Unless the event is in an archived month: that of the decision's end, or just before.
      and not is_archived('events', first_id_at(decided.ended_at))
      and not is_archived('events', first_id_at(decided.ended_at - interval '1 minute')))
    end
$$;

-- How long a decision may be approved; longer for a disbursement, whose owner depends on operators.
create function decision_lives(p_kind text) returns interval language sql immutable
set search_path = pg_catalog, public, pg_temp as $$
  select case p_kind when 'disburse' then interval '7 days' else interval '24 hours' end
$$;

-- Why a decision can no longer be approved or carried out, whatever its subject: it is too old, or one of its people
-- has lost the permission. Null if it can; its people then keep the permission until the caller's transaction ends.
create function why_powerless(decided decisions) returns text language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  return case
    when clock_timestamp() - decided.created_at > decision_lives(decided.kind)
      then format('it is older than %s hours', extract(epoch from decision_lives(decided.kind))::integer / 3600)
    when decided.kind <> 'disburse' and not hold_operator(decided.proposed_by, 'propose-decision')
      then 'the proposer may no longer decide'
    when decided.first_approved_by is not null and not hold_operator(decided.first_approved_by, 'approve-decision')
      then 'the first approver may no longer decide'
    when decided.approved_by is not null and not hold_operator(decided.approved_by, 'approve-decision')
      then 'the approver may no longer decide' end;
end $$;

-- The evidence of an approved disbursement that must not be sent, with the reason.
create function lapsed_evidence(decided decisions) returns jsonb language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select jsonb_set(decided.evidence, '{books,lapsed}', to_jsonb(
    coalesce('the owner is ' || owner_of_disbursement(decided.withdrawal_id), 'the cause was stopped')))
$$;

-- What a decision does, its note and its proposer never change. It is approved once, in time, by an entitled person,
-- and carried out in the transaction of its effect. The database sets its times.
create function keep_decision() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    if not (case new.kind
        when 'disburse' then exists (select from withdrawals w join payouts p on p.id = w.id where w.id = new.withdrawal_id
          and w.user_id = new.proposed_by and w.cause_id is not null and p.status = 'pending')
        else is_operator(new.proposed_by, 'propose-decision')
          and (new.kind <> 'admit_approver' or why_not_admitting(new.user_id, new.proposed_by, null) is null) end)
      or num_nonnulls(new.first_approved_by, new.approved_by) > 0 then
      raise exception 'the proposer may not propose this decision' using errcode = 'AM010', detail = new.id::text;
    end if;
    return new;
  end if;
  if old.status = 'carried_out' and exists (select from payouts p where p.id = old.withdrawal_id
      and p.failure_code = 'DECISION_LAPSED' and new.evidence = lapsed_evidence(old))
    and to_jsonb(new) - 'evidence' = to_jsonb(old) - 'evidence' then
    return new;
  end if;
  if (new.id, new.kind, new.payout_id, new.outcome, new.receipt_id, new.action, new.account_id, new.reconciliation_id,
        new.amount, new.reference, new.provider_reference, new.withdrawal_id, new.donation_id, new.user_id, new.note, new.evidence, new.proposed_by, new.created_at)
      is distinct from (old.id, old.kind, old.payout_id, old.outcome, old.receipt_id, old.action, old.account_id,
        old.reconciliation_id, old.amount, old.reference, old.provider_reference, old.withdrawal_id, old.donation_id, old.user_id, old.note, old.evidence,
        old.proposed_by, old.created_at)
    or old.first_approved_by is not null and new.first_approved_by is distinct from old.first_approved_by
    or old.approved_by is not null and new.approved_by is distinct from old.approved_by or old.status <> 'pending' then
    raise exception 'what was decided cannot change' using errcode = 'AM003', detail = new.id::text;
  end if;
  if old.first_approved_by is null and new.first_approved_by is not null
    and (not is_operator(new.first_approved_by, 'approve-decision') or new.approved_by is not null
      or new.created_at < clock_timestamp() - decision_lives(new.kind)) then
    raise exception 'the approver may not approve, or the decision is too old' using errcode = 'AM010', detail = new.id::text;
  end if;
  if old.approved_by is null and new.approved_by is not null then
    if not is_operator(new.approved_by, 'approve-decision')
      or why_not_approving(new.kind, new.user_id, new.proposed_by, new.approved_by) is not null
      or new.created_at < clock_timestamp() - decision_lives(new.kind) then
      raise exception 'the approver may not approve, or the decision is too old' using errcode = 'AM010',
        detail = new.id::text;
    end if;
    new.approved_at := clock_timestamp();
  end if;
  if new.rejected_by is not null and not is_operator(new.rejected_by, 'approve-decision') then
    raise exception 'this person may not reject the decision' using errcode = 'AM010', detail = new.id::text;
  end if;
  if new.status = 'carried_out' and missing_of_decision(new) is not null then
    raise exception 'the decision has not taken effect' using errcode = 'AM010',
      detail = new.id || ': ' || missing_of_decision(new);
  end if;
  if new.status = 'lapsed' then
    new.evidence := jsonb_set(new.evidence, '{books,lapsed}', to_jsonb(new.reason));
  end if;
  if new.status <> 'pending' then
    new.ended_at := clock_timestamp();
  end if;
  return new;
end $$;
-- Triggers run by name: this one after the status law.
create trigger decisions_two_people before insert or update on decisions
  for each row execute function keep_decision();

-- Locks and returns the decision of this kind, if two people have made it and it has not been carried out.
create function approved_decision(p_id uuid, p_kind text) returns decisions language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  decided decisions;
begin
  select * into decided from decisions d where d.id = p_id for no key update;
  if decided.id is null or decided.kind <> p_kind or decided.status <> 'pending' or decided.approved_by is null
    or why_powerless(decided) is not null then
    raise exception 'this requires a decision by two people' using errcode = 'AM010', detail = p_id::text;
  end if;
  return decided;
end $$;

-- An approver is admitted by a decision of two people, or when the user is created at the command line. A suspension or
-- a change of role ends the admission.
create function keep_admission() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'INSERT' then
    return new;
  elsif new.status <> 'active' or new.role_id is distinct from old.role_id then
    new.approver_since := null;
  elsif new.approver_since is distinct from old.approver_since then
    if new.approver_since is not null and not exists (select from decisions d
        where d.kind = 'admit_approver' and d.user_id = new.id and d.status = 'pending' and d.approved_by is not null
          and is_operator(d.approved_by, 'approve-decision') and is_operator(d.proposed_by, 'propose-decision')) then
      raise exception 'two people must admit an approver' using errcode = 'AM010', detail = new.id::text;
    end if;
    new.approver_since := case when new.approver_since is not null then clock_timestamp() end;
  end if;
  if new.approver_since is distinct from old.approver_since then
    new.first_approval_at := null;
  end if;
  return new;
end $$;
create trigger users_are_admitted before update on users for each row execute function keep_admission();

-- Settles money in suspense, once, as two people have decided, and carries out the decision: credits an account whose
-- owner can use the money or, without an account, records that it was refunded at the provider. If the decision names
-- the unknown transfer that refunded it, that transfer is then booked. Returns false if the money is already settled,
-- or if no unbooked transfer of its amount has that reference.
create function settle_receipt(p_journal_id uuid, p_decision_id uuid) returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  decided decisions;
  settled receipts;
  beyond reconciliations;
begin
  perform refuse_old_snapshot();
  decided := approved_decision(p_decision_id, 'settle_receipt');
  if decided.provider_reference is not null then
    beyond := hold_transfer_beyond_ours(decided.provider_reference);
  end if;
  update receipts r set state = case decided.action when 'credit' then 'credited' else 'refunded' end,
      account_id = decided.account_id, settled_by = decided.approved_by, note = decided.note,
      settled_at = clock_timestamp()
    where r.id = decided.receipt_id and r.state = 'suspended' and (decided.provider_reference is null
      or r.amount = (beyond.theirs ->> 'amount')::numeric) returning * into settled;
  if not found then
    return false;
  elsif decided.account_id is not null and not exists (select from accounts a
      where a.id = decided.account_id and a.kind in ('user', 'organization', 'partner_available')) then
    raise exception 'the owner cannot use money on this account' using errcode = 'AM010',
      detail = settled.id::text;
  end if;
  -- Waits for an erasure in progress; a later one waits for this transaction and then sees the money.
  perform from accounts a join users u on u.id = a.user_id
    where a.id = decided.account_id and a.organization_id is null for key share of u;
  if exists (select from accounts a join users u on u.id = a.user_id
      where a.id = decided.account_id and a.organization_id is null and u.erased_at is not null) then
    raise exception 'the account belongs to an erased person' using errcode = 'AM010', detail = settled.id::text;
  end if;
  if not write_journal(p_journal_id, 'receipt/' || settled.id || '/settled', 'receipt.' || settled.state,
    array['00000000-0000-4000-8000-000000000004',
      coalesce(decided.account_id, '00000000-0000-4000-8000-000000000001')]::uuid[],
    array[-settled.amount, settled.amount]) then
    raise exception 'money in suspense is already settled' using errcode = 'AM003', detail = settled.id::text;
  end if;
  if beyond.id is not null then
    insert into booked_transfers (provider_id, decision_id, journal_id) values (beyond.subject, decided.id, p_journal_id);
    perform resolve_transfer(beyond.subject);
  end if;
  update decisions set status = 'carried_out' where id = decided.id;
  return true;
end $$;

-- Books money that the platform itself moved at the provider, as two people have decided, once per reference, with an
-- event that names the approver and the decision, and carries out the decision. The counter-account is the platform's
-- own money (revenue less the provider's cost), or an account of an erased person, who was paid the money in another
-- way. If the reference is the provider's id of a transfer, that transfer is then booked: it is no longer unknown, and
-- cannot be booked again. Returns false if it is already booked, or is of another amount.
create function book_external(p_journal_id uuid, p_decision_id uuid) returns boolean language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  clearing constant uuid := '00000000-0000-4000-8000-000000000001';
  revenue constant uuid := '00000000-0000-4000-8000-000000000002';
  cost constant uuid := '00000000-0000-4000-8000-000000000003';
  decided decisions;
  -- The part that was donated to causes.
  of_causes numeric;
begin
  perform refuse_old_snapshot();
  decided := approved_decision(p_decision_id, 'book_external');
  -- Lock the differences before the balances, as book_transfer does: a later status waits for this lock, and then finds
  -- the transfer booked.
  perform from reconciliations r where r.resource_type = 'payout' and r.subject = decided.reference order by r.id for update;
  if is_transfer_known(decided.reference) or decided.amount < 0 and exists (select
      from transfers_beyond_ours(decided.reference) t
      where t.subject = decided.reference and (t.theirs ->> 'amount')::numeric <> -decided.amount) then
    return false;
  end if;
  if decided.account_id is not null then
    if not exists (select from accounts a join users u on u.id = a.user_id
        where a.id = decided.account_id and a.kind in ('user', 'saving_goal') and u.erased_at is not null) then
      raise exception 'the account does not belong to an erased person' using errcode = 'AM010',
        detail = decided.account_id::text;
    end if;
    perform from account_balances b where b.account_id = decided.account_id and b.shard = 0 for update;
    perform refuse_what_causes_keep(decided.account_id, -decided.amount);
    select -decided.amount - greatest(account_balance(decided.account_id) - coalesce(sum(disbursable_of_cause(c.id)), 0), 0)
      into of_causes from charitable_causes c where c.account_id = decided.account_id;
  end if;
  if not write_journal(p_journal_id, 'platform-external/' || decided.reference, 'platform.external',
    array[clearing, coalesce(decided.account_id, revenue)], array[-decided.amount, decided.amount]) then
    return false;
  elsif decided.account_id is null and decided.amount < 0 and account_balance(revenue) + account_balance(cost) < 0 then
    raise exception 'the amount exceeds the platform''s own money' using errcode = 'AM001', detail = revenue::text;
  end if;
  if decided.amount < 0 then
    insert into booked_transfers (provider_id, decision_id, journal_id) values (decided.reference, decided.id, p_journal_id);
    perform resolve_transfer(decided.reference);
  end if;
  insert into cause_remainders (cause_id, decision_id, amount)
    select l.cause_id, decided.id, least(l.amount, of_causes - l.before)
    from (select c.id as cause_id, d.amount, sum(d.amount) over (order by c.id) - d.amount as before
      from charitable_causes c cross join lateral (select disbursable_of_cause(c.id) as amount offset 0) d
      where c.account_id = decided.account_id and of_causes > 0 and d.amount > 0 and kept_for_cause(c.id) = 0) l
    where l.before < of_causes;
  if of_causes > (select coalesce(sum(r.amount), 0) from cause_remainders r where r.decision_id = decided.id) then
    raise exception 'the bank has returned money of the causes meanwhile' using errcode = 'AM004', column = 'amount';
  end if;
  insert into events (event, impact, resource_type, resource_id, actor_id, data)
    values ('EXTERNAL_BOOKED', 'HIGH', 'journal', p_journal_id::text, decided.approved_by,
      jsonb_build_object('amount', decided.amount::text, 'reference', decided.reference, 'decision_id', decided.id)
        || case when decided.account_id is null then '{}' else jsonb_build_object('account_id', decided.account_id) end);
  update decisions set status = 'carried_out' where id = decided.id;
  return true;
end $$;

-- The outcome of a transfer, from the provider's last status as recorded by the application; null while it is not
-- final.
create function outcome_of_word(p_said text) returns text language sql immutable
set search_path = pg_catalog, public, pg_temp as $$
  select case when p_said in ('succeeded', 'reversed') then 'succeeded' when p_said in ('failed', 'refused') then 'failed' end
$$;

-- Why a disbursement may not be requested (again): its decision was rejected or has lapsed, its owner, a user or an
-- organization, may no longer move money, or the platform has stopped its cause. Null if it may. It then fails, unless
-- it was requested before.
create function why_disbursement_ends(p_withdrawal_id uuid) returns text language sql stable
set search_path = pg_catalog, public, pg_temp as $$
  select case when d.status in ('rejected', 'lapsed') then 'DECISION_' || upper(d.status)
      when d.status is distinct from 'pending' and (owner_of_disbursement(w.id) is not null
        or exists (select from charitable_causes c where c.id = w.cause_id and c.stopped_from is not null))
        then 'DECISION_LAPSED' end
  from withdrawals w left join decisions d on d.withdrawal_id = w.id
  where w.id = p_withdrawal_id and w.cause_id is not null
$$;

-- A payout becomes final by the provider's final status or, if there is none, as two people have decided within a day;
-- it cannot succeed if it was never sent. Only the provider can report that the bank returned a successful payout.
create function keep_payouts_end() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.status = 'succeeded' and new.last_word = 'reversed'
    or old.status = 'pending' and outcome_of_word(new.last_word) = new.status
    or old.status = 'pending' and outcome_of_word(new.last_word) is null and exists (select from decisions d where d.payout_id = new.id
      and d.outcome = new.status and d.status = 'pending' and is_operator(d.approved_by, 'approve-decision')
      and is_operator(d.proposed_by, 'propose-decision') and d.created_at > clock_timestamp() - interval '24 hours')
      and (new.status = 'failed' or exists (select from payout_attempts a where a.payout_id = new.id
        and a.outcome is distinct from 'unsent'))
    -- An unsent disbursement that the provider does not know fails with its decision.
    or old.status = 'pending' and new.status = 'failed' and new.failure_code = why_disbursement_ends(new.id)
      and new.last_word = 'not known'
      and not exists (select from payout_attempts a where a.payout_id = new.id and a.outcome is distinct from 'unsent')
    -- An unsent refund fails if an earlier one turns out to have been made.
    or old.status = 'pending' and new.status = 'failed' and new.failure_code = 'ALREADY_REFUNDED' and standing_of_refund(new.id) = 'void' then
    return new;
  end if;
  raise exception 'neither the provider''s status nor a decision proves this status of the payout' using errcode = 'AM010',
    detail = new.id || ': ' || new.status || ', the provider said ' || coalesce(new.last_word, 'nothing');
end $$;
create trigger payouts_status_proof before update of status on payouts for each row
  when (old.status is distinct from new.status) execute function keep_payouts_end();

-- Records in the evidence why an approved disbursement must not be sent.
create function note_lapse() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update decisions d set evidence = lapsed_evidence(d) where d.withdrawal_id = new.id and d.status = 'carried_out';
  return null;
end $$;
create trigger payouts_note_their_lapse after update of status on payouts for each row
  when (new.failure_code = 'DECISION_LAPSED') execute function note_lapse();

-- Payouts are reversed only after the provider reported it.
create view check_payouts_are_reversed_as_was_said as
  select p.id as payout_id from payouts p
  where p.status = 'reversed' and p.updated_at >= checks_since_time() and not exists (select from payout_words w
    where w.payout_id = p.id and w.said = 'reversed');
-- Every decision marked as carried out has its effect, and every effect that needs a decision has one.
create view check_decisions_were_carried_out as
  select d.id as decision_id, d.kind, missing_of_decision(d) as problem
  from decisions d
  where d.status = 'carried_out' and d.ended_at >= checks_since_time() and missing_of_decision(d) is not null
  union all
  select d.id, d.kind, 'neither an approval nor the provider proves it'
  from decisions d
  where d.kind = 'settle_payout' and d.status = 'carried_out' and d.ended_at >= checks_since_time() and d.approved_by is null
    and not exists (select from payout_words w where w.payout_id = d.payout_id and outcome_of_word(w.said) = d.outcome)
  union all
  select null, 'settle_payout', 'the payout ' || p.id || ' was settled by an operator without a decision'
  from payouts p
  where p.failure_code = 'SETTLED_BY_OPERATOR' and p.updated_at >= checks_since_time()
    and not exists (select from payout_words w where w.payout_id = p.id and outcome_of_word(w.said) = 'failed')
    and not exists (select from decisions d where d.payout_id = p.id and d.status = 'carried_out')
  union all
  select null, 'settle_receipt', 'the receipt ' || r.id || ' was settled without a decision'
  from receipts r
  where r.state in ('credited', 'refunded') and coalesce(r.settled_at, 'infinity') >= checks_since_time()
    and not exists (select from decisions d
    where d.receipt_id = r.id and d.status = 'carried_out' and d.approved_by is not null)
  union all
  select null, 'book_external', 'the journal ' || j.id || ' has no decision'
  from journals j
  where j.kind = 'platform.external' and j.id >= checks_since() and not exists (select from decisions d
    where j.business_key = 'platform-external/' || d.reference and d.status = 'carried_out');
-- A payout that needs a decision is sent only after it, unless the provider has it from before a restore.
create view check_disbursements_wait_for_their_decision as
  select d.withdrawal_id, d.status, p.status as payout_status
  from decisions d join payouts p on p.id = d.withdrawal_id
  where d.status <> 'carried_out' and d.withdrawal_id is not null and (p.status in ('succeeded', 'reversed')
    or exists (select from payout_attempts a where a.payout_id = p.id))
    and coalesce((select bool_or(not a.is_found) from payout_attempts a where a.payout_id = p.id), true);
