import { Migration } from '@mikro-orm/migrations';

/** Uploads keep their file name and are measured per user; sign-ups are counted per network address. */
export class M0021UploadsAndLists extends Migration {
  override up(): void {
    this.addSql(`
alter table documents add column file_name_sealed text;
-- What a user's files measure is read over the index alone.
create index documents_measured on documents (created_by) include (url_hash, size_bytes) where deleted_at is null;

create table sign_ups (
  id bigint generated always as identity primary key,
  address text not null,
  made_at timestamptz not null default clock_timestamp()
);
create index sign_ups_of_address on sign_ups (address, made_at);
create index sign_ups_by_age on sign_ups (made_at);
`);
  }
}
