-- Passports, identity cards and other official documents. Their details are encrypted.

create sequence official_document_ids as bigint;
create table official_documents (
  id bigint primary key,
  user_id uuid not null references users (id),
  organization_id uuid references organizations (id),
  kind text not null check (kind in ('passport', 'national_id', 'driving_license', 'taxpayer_id')),
  details_sealed text not null,
  issued_on date,
  expires_on date,
  document_id uuid references documents (id),
  verification_status text not null check (verification_status in ('pending', 'verified', 'rejected')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index official_documents_by_creation on official_documents (created_at, id);
create index official_documents_by_change on official_documents (updated_at);
create index official_documents_of_user on official_documents (user_id, created_at, id);
create trigger official_documents_of_nobody_erased before insert on official_documents
  for each row execute function refuse_erased('user_id');
create index official_documents_of_organization on official_documents (organization_id, created_at, id)
  where organization_id is not null;
create trigger official_documents_verification_status_law
  before insert or update of verification_status on official_documents
  for each row execute function keep_status('verification_status', '>pending', '*');

-- Official documents must refer to documents created by their owner.
create view check_official_documents_name_documents_of_their_owner as
  select o.id as official_document_id, o.document_id
  from official_documents o join documents d on d.id = o.document_id
  where d.created_by <> o.user_id and o.updated_at >= checks_since_time();
