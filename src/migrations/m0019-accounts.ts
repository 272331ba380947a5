import { Migration } from '@mikro-orm/migrations';

/**
 * Who people are: tokens that end for good, second factors, invitations that know who sent them, addresses that a
 * person logs in from. And two limits that no rule asked for: the capacity of a circle has none of its own.
 */
export class M0019Accounts extends Migration {
  override up(): void {
    this.addSql(`
alter table saving_circles drop constraint saving_circles_capacity_check;
alter table saving_circles add constraint saving_circles_capacity_check check (capacity >= 1);
create index official_documents_of_document on official_documents (document_id) where document_id is not null;

-- Whom a super admin invited, nobody else invites anew or turns away.
alter table invitations add column by_super_admin boolean not null default false;
update invitations i set by_super_admin = true from users u join roles r on r.id = u.role_id
  where u.id = i.created_by and u.user_type = 'platform' and r.name = 'platform_super_admin';

-- A token carries the generation of its user; what ends them all begins the next. Tokens of other issuers carry none:
-- they end by the instant of their issue.
alter table users add column token_generation integer not null default 0, add column tokens_ended_at timestamptz;

-- Where somebody logged in well; kept for thirty days.
create table known_logins (
  account_hash text not null,
  address text not null,
  logged_in_at timestamptz not null default clock_timestamp(),
  primary key (account_hash, address)
);
create index known_logins_by_time on known_logins (logged_in_at);

-- The second factor of the user of this id. A code is of a time step; those up to the last one are spent.
create table second_factors (
  id uuid primary key references users (id),
  secret_sealed text not null,
  last_step bigint not null default 0,
  confirmed_at timestamptz,
  created_at timestamptz not null default now()
);
-- Those that are left; one that was used is gone.
create table recovery_codes (
  user_id uuid not null references second_factors (id) on delete cascade,
  code_hash text not null,
  primary key (user_id, code_hash)
);
`);
    // That of two arguments stays for processes of the release before, which run beside this one for a while.
    this.addSql(`
create function caller_of(p_user_id uuid, p_token_id text, p_generation integer, p_issued_at timestamptz)
returns table (user_type text, organization_id uuid, organization_status text, role_id uuid, role_name text, permissions text)
language plpgsql stable rows 1 as $$
begin
  return query
    select u.user_type, u.organization_id, o.status, r.id, r.name::text, r.permission_names
    from users u
    left join organizations o on o.id = u.organization_id
    left join roles r on r.id = u.role_id and r.deleted_at is null
    where u.id = p_user_id and u.status = 'active'
      and case when p_generation is not null then p_generation = u.token_generation
        else u.tokens_ended_at is null or p_issued_at > u.tokens_ended_at end
      and not exists (select from revoked_tokens t where t.id = p_token_id);
end $$;
`);
  }
}
