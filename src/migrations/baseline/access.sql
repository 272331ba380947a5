-- Roles and permissions. Those of a new database are in permissions.ts.

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
  -- The names in role_permissions as one text, maintained by triggers and read by every request.
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

-- Copies a role's permissions to its own row, so that a request is authorized without a join.
create function keep_permission_names() returns trigger language plpgsql
security definer set search_path = pg_catalog, public, pg_temp as $$
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

-- The permission names in a role's row match its permissions.
create view check_roles_know_their_permissions as
  select r.id as role_id, r.permission_names from roles r
  where r.permission_names <> coalesce(
    (select string_agg(p.name, ' ' order by p.name) from role_permissions rp
     join permissions p on p.id = rp.permission_id where rp.role_id = r.id), '');
