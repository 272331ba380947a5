-- Batches of payouts: created by one key of a partner, approved by another, reserved as a whole. The approval makes
-- each item a payout under the same id; before that, the books contain nothing of the batch.

create table payout_batches (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  external_ref varchar(128),
  metadata_sealed text,
  fee_mode text not null check (fee_mode in ('DEDUCTED', 'ADDED')),
  item_count integer not null check (item_count between 1 and 1000),
  total_amount numeric(20, 4) not null check (total_amount > 0 and total_amount < 'Infinity'),
  total_fee numeric(20, 4) not null check (total_fee >= 0 and total_fee < 'Infinity'),
  status text not null check (status in ('needs_approval', 'processing', 'completed', 'rejected', 'lapsed')),
  made_by uuid references partner_keys (id),
  -- The operator who imported it from a file; null if a key created it.
  imported_by uuid references users (id),
  decided_by uuid references partner_keys (id),
  -- The operator who rejected it; null if a key did. Only a key approves, because it is the partner's money.
  rejected_by uuid references users (id),
  decided_at timestamptz,
  lapses_at timestamptz not null,
  look_again_at timestamptz,
  version integer not null default 0,
  request_id text,
  finalized_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Two keys, two people.
  check (decided_by <> made_by),
  check (num_nonnulls(made_by, imported_by) = 1),
  check (num_nonnulls(decided_by, rejected_by) = case when status in ('needs_approval', 'lapsed') then 0 else 1 end
    and (decided_at is null) = (status in ('needs_approval', 'lapsed'))),
  check (rejected_by is null or status = 'rejected'),
  check ((finalized_at is null) = (status in ('needs_approval', 'processing'))),
  check ((look_again_at is null) = (finalized_at is not null))
);
create index payout_batches_of_partner on payout_batches (partner_id, created_at desc, id desc) include (status);
create index payout_batches_by_creation on payout_batches (created_at desc, id desc) include (status);
create index payout_batches_by_external_ref on payout_batches (external_ref, partner_id) where external_ref is not null;
create index payout_batches_to_look_at on payout_batches (look_again_at) where look_again_at is not null;
-- For deleting users.
create index payout_batches_by_importer on payout_batches (imported_by) where imported_by is not null;
create index payout_batches_by_rejecter on payout_batches (rejected_by) where rejected_by is not null;
create trigger payout_batches_status_law before insert or update of status on payout_batches
  for each row execute function keep_status('status', '>needs_approval', 'needs_approval>processing',
    'needs_approval>rejected', 'needs_approval>lapsed', 'processing>completed');

create table payout_batch_items (
  -- Also the id and reference of its payout.
  id uuid primary key,
  batch_id uuid not null references payout_batches (id),
  place integer not null check (place > 0),
  reference varchar(40) not null,
  external_ref varchar(128) not null,
  amount numeric(20, 4) not null check (amount > 0 and amount < 'Infinity'),
  fee numeric(20, 4) not null check (fee >= 0 and fee < 'Infinity'),
  net_amount numeric(20, 4) not null check (net_amount > 0 and net_amount = trunc(net_amount)),
  provider_fee numeric(20, 4) not null check (provider_fee >= 0 and provider_fee < 'Infinity'),
  bank_code text not null references payout_banks (bank_code),
  -- Sealed for the payout's row.
  texts_sealed text not null,
  -- A microsecond after the previous item's.
  created_at timestamptz not null,
  unique (batch_id, place),
  unique (batch_id, external_ref)
);
create index payout_batch_items_in_order on payout_batch_items (batch_id, created_at, id);
create trigger payout_batch_items_are_final before update on payout_batch_items
  for each row when ((old.id, old.batch_id, old.place, old.reference, old.external_ref, old.amount, old.fee, old.net_amount,
      old.provider_fee, old.bank_code, old.created_at)
    is distinct from (new.id, new.batch_id, new.place, new.reference, new.external_ref, new.amount, new.fee, new.net_amount,
      new.provider_fee, new.bank_code, new.created_at))
  execute function refuse_change();
create trigger payout_batch_items_are_kept before delete on payout_batch_items
  for each row execute function refuse_change();
create trigger payout_batches_are_kept before delete on payout_batches for each row execute function refuse_change();

alter table payouts add constraint payouts_batch_id_fkey foreign key (batch_id) references payout_batches (id);
create index payouts_of_batch on payouts (batch_id, status) where batch_id is not null;

-- A batch is approved as a whole or not at all: every item is a payout with the same amounts, or none is. It is
-- completed once all are final.
create view check_payout_batches_are_whole as
  select b.id as batch_id, b.status, b.item_count, i.items, i.payouts, i.pending
  from payout_batches b
  cross join lateral (select count(*) as items, count(p.id) as payouts,
      count(*) filter (where p.status = 'pending') as pending, sum(i.amount) as amount, sum(i.fee) as fee
    from payout_batch_items i
    left join payouts p on p.id = i.id and (p.batch_id, p.partner_id, p.amount, p.fee, p.net_amount, p.bank_code)
      = (b.id, b.partner_id, i.amount, i.fee, i.net_amount, i.bank_code)
    where i.batch_id = b.id) i
  where b.updated_at >= checks_since_time() and (i.items <> b.item_count or i.amount <> b.total_amount or i.fee <> b.total_fee
    or i.payouts <> case when b.status in ('processing', 'completed') then b.item_count else 0 end
    or (b.status = 'completed' and i.pending > 0)
    or i.payouts <> (select count(*) from payouts p where p.batch_id = b.id));
