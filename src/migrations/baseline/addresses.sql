-- Addresses. The fields that locate a person are encrypted.

create table addresses (
  id uuid primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  address_type text not null check (address_type in ('individual', 'organization')),
  details_sealed text not null,
  created_by uuid not null,
  updated_by uuid,
  deleted_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((address_type = 'organization') = (organization_id is not null))
);
create index addresses_of_user on addresses (user_id);
create index addresses_of_organization on addresses (organization_id) where organization_id is not null;
create trigger addresses_of_nobody_erased before insert on addresses
  for each row execute function refuse_erased('user_id');
create index addresses_by_creation on addresses (created_at, id);
