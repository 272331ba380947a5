-- Documents, their categories, and uploads in progress.

create table document_categories (
  id uuid primary key,
  name varchar(100) not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index document_categories_have_names_of_their_own on document_categories (lower(name));

create table documents (
  id uuid primary key,
  url_sealed text not null,
  -- The digest of the storage key, by which documents of one object, and objects without a document, are found without
  -- decrypting the key.
  url_hash text not null,
  file_name_sealed text,
  document_type text not null check (document_type in
    ('legal_agreement', 'signature', 'cause_report', 'donation_certificate', 'receipt', 'image', 'video')),
  product_type text check (product_type in ('charitable_cause', 'commodity_financing', 'investment', 'transaction')),
  product_id uuid,
  visibility text not null check (visibility in ('public', 'private')),
  category_id uuid references document_categories (id),
  organization_id uuid references organizations (id),
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Whether an official document has ever referred to it; it stays a scan even after that document is changed or
  -- deleted.
  identity_scan boolean not null default false,
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
create trigger documents_of_nobody_erased before insert on documents
  for each row execute function refuse_erased('created_by');
create index documents_of_organization on documents (organization_id, created_at, id)
  where deleted_at is null and organization_id is not null;
create index documents_that_are_public on documents (created_at, id) where deleted_at is null and visibility = 'public';
create index documents_of_product on documents (product_id, created_at, id)
  where deleted_at is null and product_id is not null;
create index documents_of_category on documents (category_id, created_at, id)
  where deleted_at is null and category_id is not null;
create index documents_of_object on documents (url_hash) where deleted_at is null;
create index documents_of_scan on documents (url_hash) where identity_scan;
-- Covers the sum of a user's stored bytes.
create index documents_measured on documents (created_by) include (id, url_hash, size_bytes, deleted_at);

-- Objects that are being stored and have no document yet, or that their document no longer uses. The document's
-- transaction deletes the row. A row older than a few minutes was left by a process that died or a store that was down,
-- and is swept with its object. An erasure waits until the person has no such row.
create table document_uploads (
  id uuid primary key,
  user_id uuid not null references users (id),
  given_up boolean not null default false,
  url_sealed text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index document_uploads_by_creation on document_uploads (created_at);
create index document_uploads_of_user on document_uploads (user_id, id);
create trigger document_uploads_of_nobody_erased before insert on document_uploads
  for each row when (not new.given_up) execute function refuse_erased('user_id');

-- Rows mean that the sweep has stopped, or that storage has been down for long.
create view check_uploads_end as
  select id as upload_id, created_at from document_uploads where created_at < now() - interval '30 minutes';
