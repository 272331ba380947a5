-- Differences between the provider's records and ours. A day that has a row is compared with the provider, page by
-- page; and each day the change of the provider's balance is compared with that of the books.

create table reconciliations (
  id uuid primary key,
  provider text not null default 'xendit',
  day date not null,
  resource_type text not null check (resource_type in ('payout', 'payment')),
  -- The provider's id of the transfer or payment, or our own if the provider does not know it.
  subject text not null,
  resource_id uuid,
  reference text not null,
  ours jsonb,
  theirs jsonb,
  -- A second transfer under one of our references.
  is_further boolean not null default false,
  kind text not null generated always as (case
    when is_further then 'DOUBLE_TRANSFER'
    when theirs is null then 'MISSING'
    when theirs ->> 'status' = 'unreadable' then 'UNREADABLE'
    when ours is null then case resource_type when 'payout' then 'UNKNOWN_TRANSFER' else 'UNKNOWN_PAYMENT' end
    when ours ->> 'amount' is distinct from theirs ->> 'amount' then 'AMOUNT'
    else 'STATUS' end) stored,
  state text not null default 'open' check (state in ('open', 'explained', 'resolved')),
  note varchar(300),
  met_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (day, resource_type, subject),
  check ((state = 'explained') <= (note is not null))
);
-- For search, because an unknown transfer or payment has only the provider's id and the reference.
create index reconciliations_by_subject on reconciliations (subject);
create index reconciliations_by_reference on reconciliations (reference);
create index reconciliations_by_creation on reconciliations (created_at desc, id desc);
create index reconciliations_open on reconciliations (day) where state = 'open';
create index reconciliations_of_transfers on reconciliations (created_at, id)
  where state <> 'resolved' and kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER');
create trigger reconciliations_state_law before insert or update of state on reconciliations
  for each row execute function keep_status('state', '>open', 'open>explained', 'open>resolved', 'explained>open', 'explained>resolved',
    'resolved>open', 'resolved>explained');

-- Records a difference of a day, once, as open, with an event if it is new, changed or has reappeared. A transfer that
-- is not ours is reported as HIGH. Ignores transfers that two people have booked, unless they failed or were returned.
create function keep_difference(p_id uuid, p_provider text, p_day date, p_type text, p_subject text, p_resource_id uuid, p_reference text,
  p_ours jsonb, p_theirs jsonb, p_is_further boolean) returns void language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  kept reconciliations;
begin
  -- First wait for people who are booking the transfer, and then see the booking.
  perform from reconciliations r where r.resource_type = p_type and r.subject = p_subject order by r.id for update;
  if p_type = 'payout' and coalesce(p_theirs ->> 'status', '') not in ('failed', 'reversed')
    and exists (select from booked_transfers b where b.provider_id = p_subject and b.decision_id is not null) then
    return;
  end if;
  update reconciliations r set met_at = now()
    where r.day = p_day and r.resource_type = p_type and r.subject = p_subject and r.state <> 'resolved'
      and (r.ours, r.theirs, r.is_further) is not distinct from (p_ours, p_theirs, p_is_further);
  if found then
    return;
  end if;
  insert into reconciliations as r (id, provider, day, resource_type, subject, resource_id, reference, ours, theirs, is_further)
    values (p_id, p_provider, p_day, p_type, p_subject, p_resource_id, p_reference, p_ours, p_theirs, p_is_further)
    on conflict (day, resource_type, subject) do update
      set resource_id = excluded.resource_id, ours = excluded.ours, theirs = excluded.theirs,
        is_further = excluded.is_further, state = 'open', updated_at = now(), met_at = now()
    returning * into kept;
  insert into events (event, impact, resource_type, resource_id, data)
    values ('RECONCILIATION_DIFFERENCE',
      case when kept.kind in ('DOUBLE_TRANSFER', 'UNKNOWN_TRANSFER') then 'HIGH' else 'MEDIUM' end, 'reconciliation', kept.id::text,
      jsonb_build_object('day', p_day, 'kind', kept.kind, 'reference', p_reference, 'ours', p_ours, 'theirs', p_theirs)
        || case when p_theirs is null then '{}' else jsonb_build_object('provider_id', p_subject) end);
end $$;

create table reconciled_days (
  provider text not null default 'xendit',
  day date not null,
  state text not null default 'pending' check (state in ('pending', 'running', 'done')),
  phase text not null default 'records' check (phase in ('records', 'transfers', 'payments')),
  -- Where the phase continues: after the provider's id of the last entry, or after the last of our own rows.
  cursor text,
  compared integer not null default 0,
  differences integer not null default 0,
  -- Entries that the provider had not finished; while there are any, the day is compared again.
  unsettled integer not null default 0,
  -- The current run, and its takeover number: a run that was taken over writes no page.
  taken_by text,
  takes integer not null default 0,
  beat_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (day, provider),
  check ((state = 'done') <= (finished_at is not null))
);
create trigger reconciled_days_state_law before insert or update of state on reconciled_days
  for each row execute function keep_status('state', '>pending', 'pending>running', 'running>pending', 'running>done',
    'done>running');
create trigger reconciled_days_phase_law before insert or update of phase on reconciled_days
  for each row execute function keep_status('phase', '>records', 'records>transfers', 'records>payments',
    'transfers>payments', 'transfers>records', 'payments>records');
-- The provider's records of a day while it is compared: transfers by reference, payments by the provider's id.
create table reconciled_records (
  provider text not null,
  day date not null,
  kind text not null check (kind in ('transfer', 'payment')),
  key text not null,
  primary key (day, provider, kind, key),
  foreign key (day, provider) references reconciled_days (day, provider) on delete cascade
);

-- The provider's balance and ours as last measured on a day; they are compared some minutes later.
create table clearing_measurements (
  day date primary key,
  measured jsonb not null,
  measured_at timestamptz not null default clock_timestamp()
);

create table clearing_comparisons (
  day date primary key,
  measured_at timestamptz not null,
  provider_balance numeric(20, 4) not null,
  clearing_balance numeric(20, 4) not null,
  agreed_day date references clearing_comparisons (day),
  provider_change numeric(20, 4),
  clearing_change numeric(20, 4),
  received_under_way numeric(20, 4) not null check (received_under_way >= 0 and received_under_way < 'Infinity'),
  spent_under_way numeric(20, 4) not null check (spent_under_way >= 0 and spent_under_way < 'Infinity'),
  offset_low numeric(20, 4) not null,
  offset_high numeric(20, 4) not null,
  difference numeric(20, 4) not null,
  agreed boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (agreed = (difference = 0)),
  check (offset_low <= offset_high),
  check (num_nonnulls(agreed_day, provider_change, clearing_change) in (0, 3))
);
