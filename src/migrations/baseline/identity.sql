-- Identity: users, their invitations, tokens and second factors, and counters of failed logins and sign-ups.
--
-- SQLSTATE of ours: AM012 a new row for an erased person; its detail is the person's id.

-- The keys database whose keys encrypt the people here, identified by the check value of its look-up key. Written once.
create table keys_databases (
  only_one boolean primary key default true check (only_one),
  key_check_value text not null
);
create trigger keys_databases_are_final before update or delete on keys_databases
  for each row execute function refuse_change();

create table users (
  id uuid primary key,
  -- Name, e-mail address and picture, encrypted under the user's own key, and the keyed digest of the lower-cased
  -- address, by which the user is found. Both are null once the user is erased.
  profile_sealed text,
  email_digest text,
  user_type text not null check (user_type in ('platform', 'organization', 'individual')),
  organization_id uuid references organizations (id),
  role_id uuid references roles (id),
  status text not null check (status in ('invited', 'active', 'suspended')),
  -- When the user proved that mail to the address arrives; until then, only security notices are sent.
  email_confirmed_at timestamptz,
  -- Since when mail to the address bounces; until it is confirmed again, only mail that can confirm it is sent.
  email_bounced_at timestamptz check (email_bounced_at is null or email_confirmed_at is null),
  locale text not null default 'id' check (locale in ('id', 'en')),
  takes_receipts boolean not null default true,
  takes_reminders boolean not null default true,
  password_sealed text,
  -- A token contains its user's generation; revoking all tokens starts the next generation. Tokens of other issuers
  -- contain none and are revoked by their time of issue.
  token_generation integer not null default 0,
  tokens_ended_at timestamptz,
  erased_at timestamptz,
  -- Since when the user may approve decisions, and when the user first approved one.
  approver_since timestamptz,
  first_approval_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((profile_sealed is null) = (email_digest is null)),
  check (erased_at is null or status = 'suspended' and num_nonnulls(profile_sealed, password_sealed, role_id) = 0),
  check (user_type <> 'platform' or organization_id is null),
  check (user_type <> 'organization' or organization_id is not null),
  check (status <> 'active' or password_sealed is not null),
  check (approver_since is null or user_type = 'platform' and status = 'active'),
  check (first_approval_at is null or approver_since is not null)
);
create unique index users_have_addresses_of_their_own on users (email_digest);
-- For reporting new approvers; few rows.
create index users_who_approve on users (approver_since) where approver_since is not null;
create index users_erased on users (id) where erased_at is not null;
create index users_by_creation on users (created_at, id);
create index users_of_organization on users (organization_id, created_at, id) where organization_id is not null;
create index users_of_role on users (role_id, user_type) where role_id is not null;
create trigger users_status_law before insert or update of status on users
  for each row execute function keep_status('status', '>invited', '>active', 'invited>active', 'active>suspended',
    'suspended>active');

-- An erasure is final.
create trigger users_stay_erased before update on users for each row
  when (old.erased_at is not null and (new.erased_at is distinct from old.erased_at or new.status <> 'suspended'))
  execute function refuse_change();

-- Refuses a new row of an erased person, even if the request was admitted before the erasure. Waits for an erasure that
-- is clearing the person's rows, as that waits for earlier writers. The argument is the column that names the person.
create function refuse_erased() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
declare
  person constant uuid := to_jsonb(new) ->> tg_argv[0];
  gone timestamptz;
begin
  select u.erased_at into gone from users u where u.id = person for key share;
  if gone is not null then
    raise exception 'the user has been erased' using errcode = 'AM012', detail = person::text;
  end if;
  return new;
end $$;

create table invitations (
  id uuid primary key,
  user_id uuid not null references users (id),
  token_hash text not null unique,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_by uuid not null references users (id),
  -- Only a super admin may renew or withdraw a super admin's invitation.
  by_super_admin boolean not null default false,
  created_at timestamptz not null default now()
);
create index invitations_of_user on invitations (user_id);
create index invitations_of_creator on invitations (created_by);
create index invitations_by_expiry on invitations (expires_at) where accepted_at is null;

create table login_failures (
  id bigint generated always as identity primary key,
  address text not null,
  account_hash text not null,
  -- A code of the second factor, after the right password.
  of_code boolean not null default false,
  failed_at timestamptz not null default now()
);
create index login_failures_of_address on login_failures (address, failed_at);
create index login_failures_by_time on login_failures (failed_at);

-- The addresses from which accounts logged in; retained for thirty days.
create table known_logins (
  account_hash text not null,
  address text not null,
  logged_in_at timestamptz not null default clock_timestamp(),
  primary key (account_hash, address)
);
create index known_logins_by_time on known_logins (logged_in_at);

-- Sign-ups per network address.
create table sign_ups (
  id bigint generated always as identity primary key,
  address text not null,
  made_at timestamptz not null default clock_timestamp()
);
create index sign_ups_of_address on sign_ups (address, made_at);
create index sign_ups_by_age on sign_ups (made_at);

create table token_signing_keys (
  id text primary key,
  public_jwk jsonb not null,
  private_key_sealed text not null,
  created_at timestamptz not null default clock_timestamp(),
  published_until timestamptz
);
create unique index token_signing_keys_have_one_signer on token_signing_keys ((true)) where published_until is null;
-- The expiry of a key is never postponed.
create trigger token_signing_keys_end before update of published_until on token_signing_keys
  for each row when (old.published_until is not null
    and (new.published_until is null or new.published_until > old.published_until))
  execute function refuse_change();
-- The expiry cannot be set in the past, because the row could then be deleted at once and inserted again.
create trigger token_signing_keys_end_later before insert or update of published_until on token_signing_keys
  for each row when (new.published_until < transaction_timestamp()) execute function refuse_change();
create table revoked_tokens (
  id text primary key,
  expires_at timestamptz not null
);
-- Retains a revocation for the longest lifetime of a token, even if it is inserted with an expiry in the past.
create function keep_revoked_token() returns trigger language plpgsql
set search_path = pg_catalog, public, pg_temp as $$
begin
  new.expires_at := greatest(new.expires_at, now());
  return new;
end $$;
create trigger revoked_tokens_are_kept before insert on revoked_tokens
  for each row execute function keep_revoked_token();
create index revoked_tokens_by_expiry on revoked_tokens (expires_at);

-- Refresh tokens. Each is replaced by the next of its family when used; using one twice revokes the family with its
-- access tokens.
create table refresh_tokens (
  token_hash text primary key,
  family_id uuid not null,
  user_id uuid not null references users (id),
  -- The user's token_generation, as in access tokens.
  token_generation integer not null,
  second_factor text,
  -- The access token issued with it.
  access_token_id text not null unique,
  access_expires_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index refresh_tokens_of_family on refresh_tokens (family_id);
create index refresh_tokens_of_user on refresh_tokens (user_id);
create index refresh_tokens_by_expiry on refresh_tokens (expires_at);
create trigger refresh_tokens_of_nobody_erased before insert on refresh_tokens
  for each row execute function refuse_erased('user_id');

-- The second factor of a user. A code belongs to a time step; codes up to the last used step are spent.
create table second_factors (
  id uuid primary key references users (id),
  secret_sealed text not null,
  last_step bigint not null default 0,
  confirmed_at timestamptz,
  created_at timestamptz not null default now()
);
create trigger second_factors_of_nobody_erased before insert on second_factors
  for each row execute function refuse_erased('id');
-- The unused codes; a used one is deleted.
create table recovery_codes (
  user_id uuid not null references second_factors (id) on delete cascade,
  code_hash text not null,
  primary key (user_id, code_hash)
);

-- Authenticates and authorizes concurrent requests in one call. Returns a row for each valid token: its number in the
-- arrays, and its caller.
create function callers_of(p_user_ids uuid[], p_token_ids text[], p_generations integer[], p_issued_at timestamptz[])
returns table (number integer, user_id uuid, user_type text, organization_id uuid, organization_status text,
  role_id uuid, role_name text, permissions text, asked_at timestamptz)
language plpgsql stable rows 1
set search_path = pg_catalog, public, pg_temp
-- For few requests the planner would prefer a custom plan, and plan each call.
set plan_cache_mode = force_generic_plan as $$
begin
  return query
    select asked.number::integer, c.*, clock_timestamp()
    from unnest(p_user_ids, p_token_ids, p_generations, p_issued_at) with ordinality
      as asked (user_id, token_id, generation, issued_at, number)
    -- One look-up per row, however many rows the planner expects.
    cross join lateral (
      select u.id, u.user_type, u.organization_id, o.status, r.id as role_id, r.name::text, r.permission_names
      from users u
      left join organizations o on o.id = u.organization_id
      left join roles r on r.id = u.role_id and r.deleted_at is null
      where u.id = asked.user_id and u.status = 'active'
        and case when asked.generation is not null then asked.generation = u.token_generation
          else u.tokens_ended_at is null or asked.issued_at > u.tokens_ended_at end
        and not exists (select from revoked_tokens t where t.id = asked.token_id)
      limit 1) c;
end $$;

-- Users hold only roles that are not deleted.
create view check_users_hold_live_roles as
  select u.id as user_id, u.role_id from users u join roles r on r.id = u.role_id where r.deleted_at is not null;
-- A role of an organization is held by its own users only.
create view check_users_hold_roles_of_their_organization as
  select u.id as user_id, u.role_id from users u join roles r on r.id = u.role_id
  where r.organization_id is not null and u.user_type <> 'platform'
    and r.organization_id is distinct from u.organization_id;
