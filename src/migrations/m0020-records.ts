import { Migration } from '@mikro-orm/migrations';

/**
 * What rests: kept answers of partners are sealed, as they hold bank account numbers; documents know which object they
 * carry without opening its key, so that an object that none carries any more can be removed; categories of documents.
 */
export class M0020Records extends Migration {
  override up(): void {
    this.addSql(`
-- Answers kept by the release before stand in answer_body until the sweep of answers has sealed them.
alter table partner_idempotency_keys
  add column id uuid not null default gen_random_uuid(),
  add column answer_sealed text,
  drop constraint partner_idempotency_keys_check,
  add constraint partner_idempotency_keys_keep_one_answer check (
    num_nonnulls(answer_body, answer_sealed) = num_nonnulls(answer_status));
create unique index partner_idempotency_keys_by_id on partner_idempotency_keys (id);
create index partner_idempotency_keys_by_answer on partner_idempotency_keys (answered_at)
  where answer_status is not null;
create index partner_idempotency_keys_in_the_clear on partner_idempotency_keys (id) where answer_body is not null;
drop index partner_idempotency_keys_by_age;

-- The digest of the storage key; documents of the release before have none until the sweep of uploads has read theirs.
alter table documents add column url_hash text;
create index documents_of_object on documents (url_hash) where deleted_at is null;
create index documents_of_unread_object on documents (id) where deleted_at is null and url_hash is null;

create table document_categories (
  id uuid primary key,
  name varchar(100) not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index document_categories_have_names_of_their_own on document_categories (lower(name));
alter table documents add foreign key (category_id) references document_categories (id);
create index documents_of_category on documents (category_id, created_at, id)
  where deleted_at is null and category_id is not null;
`);
    this.addSql(`
insert into permissions (id, name, display_name, description, category_id)
  select gen_random_uuid(), 'manage-document-category', 'Manage Document Category',
    'Create and change categories of documents', id from permission_categories where name = 'documents';
insert into role_permissions (role_id, permission_id)
  select r.id, p.id from roles r, permissions p
  where r.is_default and r.user_type = 'platform' and p.name = 'manage-document-category';
`);
  }
}
