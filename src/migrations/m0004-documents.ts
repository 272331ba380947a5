import { Migration } from '@mikro-orm/migrations';

/** Addresses, documents and official documents; what tells where or who somebody is rests sealed. */
export class M0004Documents extends Migration {
  override up(): void {
    this.addSql(`
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
create index addresses_by_creation on addresses (created_at, id);

create table documents (
  id uuid primary key,
  url_sealed text not null,
  document_type text not null check (document_type in
    ('legal_agreement', 'signature', 'cause_report', 'donation_certificate', 'receipt', 'image', 'video')),
  product_type text check (product_type in ('charitable_cause', 'commodity_financing', 'investment', 'transaction')),
  product_id uuid,
  visibility text not null check (visibility in ('public', 'private')),
  category_id uuid,
  organization_id uuid references organizations (id),
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  created_by uuid not null references users (id),
  updated_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  deleted_by uuid,
  check (product_id is null or product_type is not null),
  check ((deleted_at is null) = (deleted_by is null))
);
create index documents_by_creation on documents (created_at, id) where deleted_at is null;
create index documents_of_creator on documents (created_by, created_at, id) where deleted_at is null;
create index documents_of_organization on documents (organization_id, created_at, id)
  where deleted_at is null and organization_id is not null;
create index documents_that_are_public on documents (created_at, id) where deleted_at is null and visibility = 'public';
create index documents_of_product on documents (product_id, created_at, id)
  where deleted_at is null and product_id is not null;

-- An object that is being stored and has no document yet. The document's transaction takes the row away; what is left
-- after a few minutes is the trace of a process that died, and is swept with its object.
create table document_uploads (
  id uuid primary key,
  url_sealed text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index document_uploads_by_creation on document_uploads (created_at);

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
create index official_documents_of_user on official_documents (user_id, created_at, id);
create index official_documents_of_organization on official_documents (organization_id, created_at, id)
  where organization_id is not null;
`);
    this.addSql(`
-- Nobody sweeps, or storage has been away for long.
create view check_uploads_end as
  select id as upload_id, created_at from document_uploads where created_at < now() - interval '30 minutes';
create view check_official_documents_name_documents_of_their_owner as
  select o.id as official_document_id, o.document_id
  from official_documents o join documents d on d.id = o.document_id
  where d.created_by <> o.user_id;
`);
  }
}
