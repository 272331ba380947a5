-- E-mails to people. Only what an e-mail is about is stored, in the transaction of its event; the text is rendered when
-- the e-mail is sent, and erased people get none.

-- No foreign keys, so that recording an e-mail locks no user, and people who never accepted an invitation can be
-- deleted.
create table mails (
  id uuid primary key,
  user_id uuid not null,
  kind text not null check (kind in ('confirm_address', 'reset_password', 'invitation', 'new_login', 'password_changed',
    'second_factor_on', 'second_factor_off', 'sessions_ended', 'bank_account_added', 'donation', 'subscription_period',
    'allocation', 'contribution', 'top_up', 'withdrawal', 'disbursement', 'year_statement', 'circle_due',
    'circle_overdue', 'circle_default', 'circle_pot', 'circle_invitation', 'cause_approved', 'cause_stopped')),
  -- The e-mail's resource, and the circle's turn, the cause's stop or the year. Each person gets one e-mail for each.
  resource_id uuid,
  turn_number integer,
  -- Values that only the e-mail may contain (a token, a login's address), sealed under the person's key until it is
  -- final.
  facts_sealed text,
  token_hash text unique,
  token_expires_at timestamptz,
  token_used_at timestamptz,
  status text not null default 'pending' check (status in ('pending', 'sent', 'parked', 'silenced')),
  attempts integer not null default 0 check (attempts >= 0),
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  check ((status = 'pending') = (ended_at is null)),
  check (status = 'pending' or facts_sealed is null),
  check ((token_hash is null) = (token_expires_at is null)),
  check (token_used_at is null or token_hash is not null)
);
create unique index mails_tell_once on mails (resource_id, kind, user_id, turn_number) nulls not distinct
  where resource_id is not null;
create index mails_of_user on mails (user_id, created_at);
create index mails_pending on mails (created_at) where status = 'pending';
create index mails_parked on mails (created_at) where status = 'parked';
-- For retention.
create index mails_by_age on mails (created_at) where status <> 'pending';
create trigger mails_status_law before insert or update of status on mails
  for each row execute function keep_status('status', '>pending', 'pending>sent', 'pending>parked', 'pending>silenced');

-- Records one receipt or reminder for each person whose address is confirmed and who has not turned them off. Without a
-- resource, an e-mail is about its recipient.
create function tell(p_kind text, p_resource_id uuid, p_turn_number integer, p_user_ids uuid[]) returns void
language sql set search_path = pg_catalog, public, pg_temp as $$
  insert into mails (id, user_id, kind, resource_id, turn_number)
    select uuidv7(), u.id, p_kind, coalesce(p_resource_id, u.id), p_turn_number from users u
    where u.id = any (p_user_ids) and u.status = 'active' and u.email_confirmed_at is not null
      and case when p_kind ~ '^(circle|cause)_' then u.takes_reminders else u.takes_receipts end
  on conflict do nothing
$$;

-- E-mails to too many people for one transaction. A worker records them in batches, in the order of the people's ids.
create table mail_rounds (
  kind text not null check (kind in ('disbursement', 'year_statement')),
  -- The id of the disbursement, or the year.
  subject text not null,
  told_upto uuid not null default '00000000-0000-0000-0000-000000000000',
  told_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (kind, subject)
);
create index mail_rounds_open on mail_rounds (told_at) where ended_at is null;
