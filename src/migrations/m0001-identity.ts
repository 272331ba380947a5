import { Migration } from '@mikro-orm/migrations';
import { defaultRoles, permissionCategories } from './m0001-permissions.ts';

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const title = (name: string): string =>
  name.replaceAll(/[-_]/g, ' ').replaceAll(/\b\w/g, (letter) => letter.toUpperCase());

const sizes = [
  ['tens', '10-99'],
  ['hundreds', '100-999'],
  ['thousands', '1,000-999,999'],
  ['millions', '1,000,000 and more'],
] as const;

// `technnology` is spelled so in the contract.
const industries = [
  ['finance', 'Finance'],
  ['health', 'Health'],
  ['agriculture', 'Agriculture'],
  ['education', 'Education'],
  ['technnology', 'Technology'],
  ['manufacturing', 'Manufacturing'],
  ['marine', 'Marine'],
  ['aviation', 'Aviation'],
  ['security', 'Security'],
  ['government', 'Government'],
  ['ngo', 'NGO'],
] as const;

/** Who is there and what they may do: organizations, roles, permissions, users, tokens, events. */
export class M0001Identity extends Migration {
  override up(): void {
    this.addSql(`
create table organization_sizes (
  id uuid primary key,
  label text not null unique,
  range text not null,
  created_at timestamptz not null default now()
);
create table organization_industries (
  id uuid primary key,
  value text not null unique,
  label text not null,
  created_at timestamptz not null default now()
);
create table organizations (
  id uuid primary key,
  name varchar(200) not null,
  logo_id varchar(255),
  email varchar(254) not null,
  phone_number varchar(32),
  official_registration_number varchar(64),
  industry text references organization_industries (value),
  size text references organization_sizes (label),
  status text not null default 'pending' check (status in ('pending', 'active', 'inactive', 'suspended')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index organizations_by_creation on organizations (created_at, id);

create table permission_categories (
  id uuid primary key,
  name text not null unique,
  display_name text not null
);
create table permissions (
  id uuid primary key,
  name text not null unique,
  display_name text not null,
  description text not null,
  category_id uuid not null references permission_categories (id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table roles (
  id uuid primary key,
  name varchar(100) not null,
  display_name varchar(120) not null,
  organization_id uuid references organizations (id),
  user_type text not null check (user_type in ('platform', 'organization', 'individual')),
  description varchar(500) not null,
  is_default boolean not null default false,
  -- The names of role_permissions in one text, kept by its triggers: what every request reads.
  permission_names text not null default '',
  created_by uuid,
  updated_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz,
  check (is_default = (organization_id is null)),
  check (not is_default or deleted_at is null)
);
create unique index roles_have_names_of_their_own on roles (lower(name)) where deleted_at is null;
create index roles_by_creation on roles (created_at, id) where deleted_at is null;
create index roles_of_organization on roles (organization_id, created_at, id) where deleted_at is null;

create table role_permissions (
  role_id uuid not null references roles (id),
  permission_id uuid not null references permissions (id),
  primary key (role_id, permission_id)
);

create table users (
  id uuid primary key,
  email varchar(254) not null,
  name varchar(200) not null,
  user_type text not null check (user_type in ('platform', 'organization', 'individual')),
  organization_id uuid references organizations (id),
  role_id uuid references roles (id),
  profile_picture varchar(500),
  status text not null check (status in ('invited', 'active', 'suspended')),
  password_hash text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (user_type <> 'platform' or organization_id is null),
  check (user_type <> 'organization' or organization_id is not null),
  check (status <> 'active' or password_hash is not null)
);
create unique index users_have_addresses_of_their_own on users (lower(email));
create index users_by_creation on users (created_at, id);
create index users_of_organization on users (organization_id, created_at, id) where organization_id is not null;
create index users_of_role on users (role_id) where role_id is not null;

create table invitations (
  id uuid primary key,
  user_id uuid not null references users (id),
  token_hash text not null unique,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_by uuid not null references users (id),
  created_at timestamptz not null default now()
);
create index invitations_of_user on invitations (user_id);

create table login_failures (
  id bigint generated always as identity primary key,
  address text not null,
  account_hash text not null,
  failed_at timestamptz not null default now()
);
create index login_failures_of_address on login_failures (address, failed_at);
create index login_failures_by_time on login_failures (failed_at);

create table token_signing_keys (
  id text primary key,
  public_jwk jsonb not null,
  private_key_sealed text not null,
  created_at timestamptz not null default clock_timestamp(),
  published_until timestamptz
);
create unique index token_signing_keys_have_one_signer on token_signing_keys ((true)) where published_until is null;
create table revoked_tokens (
  id text primary key,
  expires_at timestamptz not null
);
create index revoked_tokens_by_expiry on revoked_tokens (expires_at);

create table events (
  id uuid primary key default uuidv7(),
  event text not null,
  impact text not null check (impact in ('LOW', 'MEDIUM', 'HIGH')),
  resource_type text not null,
  resource_id text,
  actor_id uuid,
  request_id varchar(64),
  data jsonb,
  created_at timestamptz not null default clock_timestamp()
);
create index events_by_time on events using brin (created_at) with (pages_per_range = 32);
create index events_of_resource on events (resource_id, id) where resource_id is not null;
create index events_of_actor on events (actor_id, id) where actor_id is not null;
`);
    this.addSql(`
create function keep_permission_names() returns trigger language plpgsql as $$
begin
  update roles r set permission_names = coalesce(
    (select string_agg(p.name, ' ' order by p.name) from role_permissions rp
     join permissions p on p.id = rp.permission_id where rp.role_id = r.id), '')
  where r.id in (select role_id from changed);
  return null;
end $$;
create trigger role_gains_permissions after insert on role_permissions
  referencing new table as changed for each statement execute function keep_permission_names();
create trigger role_loses_permissions after delete on role_permissions
  referencing old table as changed for each statement execute function keep_permission_names();

-- Authentication and authorization of a request in one call: null row when the token may not be used.
create function caller_of(p_user_id uuid, p_token_id text)
returns table (user_type text, organization_id uuid, organization_status text, role_id uuid, role_name text, permissions text)
language plpgsql stable rows 1 as $$
begin
  return query
    select u.user_type, u.organization_id, o.status, r.id, r.name::text, r.permission_names
    from users u
    left join organizations o on o.id = u.organization_id
    left join roles r on r.id = u.role_id and r.deleted_at is null
    where u.id = p_user_id and u.status = 'active'
      and not exists (select from revoked_tokens t where t.id = p_token_id);
end $$;

-- Statuses of users and organizations, roles and permissions that contradict each other.
create view check_users_hold_live_roles as
  select u.id as user_id, u.role_id from users u join roles r on r.id = u.role_id where r.deleted_at is not null;
create view check_roles_know_their_permissions as
  select r.id as role_id, r.permission_names from roles r
  where r.permission_names <> coalesce(
    (select string_agg(p.name, ' ' order by p.name) from role_permissions rp
     join permissions p on p.id = rp.permission_id where rp.role_id = r.id), '');
create view check_users_hold_roles_of_their_organization as
  select u.id as user_id, u.role_id from users u join roles r on r.id = u.role_id
  where r.organization_id is not null and u.user_type <> 'platform'
    and r.organization_id is distinct from u.organization_id;
`);
    this.seedReferenceData();
    this.seedRoles();
  }

  private seedReferenceData(): void {
    // One second apart, so that lists by creation keep the order of the contract.
    const rows = (list: readonly (readonly [string, string])[]) =>
      list
        .map(([key, text], index) => {
          const createdAt = `timestamptz '2026-01-01 00:00:00Z' + ${index} * interval '1 second'`;
          return `(gen_random_uuid(), ${quote(key)}, ${quote(text)}, ${createdAt})`;
        })
        .join(',\n  ');
    this.addSql(`insert into organization_sizes (id, label, range, created_at) values\n  ${rows(sizes)}`);
    this.addSql(`insert into organization_industries (id, value, label, created_at) values\n  ${rows(industries)}`);
  }

  private seedRoles(): void {
    for (const [category, permissions] of Object.entries(permissionCategories)) {
      this.addSql(`insert into permission_categories (id, name, display_name)
        values (gen_random_uuid(), ${quote(category)}, ${quote(title(category))})`);
      for (const [name, description] of permissions) {
        this.addSql(`insert into permissions (id, name, display_name, description, category_id)
          select gen_random_uuid(), ${quote(name)}, ${quote(title(name))}, ${quote(description)}, id
          from permission_categories where name = ${quote(category)}`);
      }
    }
    for (const { id, name, display_name, user_type, description, permissions } of defaultRoles) {
      this.addSql(`insert into roles (id, name, display_name, user_type, description, is_default)
        values ('${id}', ${quote(name)}, ${quote(display_name)}, '${user_type}', ${quote(description)}, true)`);
      this.addSql(`insert into role_permissions (role_id, permission_id)
        select '${id}', id from permissions where name in (${permissions.map(quote).join(', ')})`);
    }
  }
}
