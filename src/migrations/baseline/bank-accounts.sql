-- Bank accounts of people and organizations; number and holder are encrypted. Deleted ones stay, because transfers
-- refer to them.

create table bank_accounts (
  id uuid primary key default uuidv7(),
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  bank_code text not null references payout_banks (bank_code),
  details_sealed text not null,
  usable_at timestamptz not null,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  check (usable_at >= created_at)
);
-- Includes deleted rows and organizations' rows, because deleting a user looks for every row that names them.
create index bank_accounts_of_user on bank_accounts (user_id, created_at, id);
create trigger bank_accounts_of_nobody_erased before insert on bank_accounts
  for each row execute function refuse_erased('user_id');
create index bank_accounts_of_organization on bank_accounts (organization_id, created_at, id) where deleted_at is null;
