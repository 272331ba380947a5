-- Erasures of people, their progress, and what blocks them.

create table erasures (
  id uuid primary key,
  user_id uuid not null references users (id),
  -- The decision of two people; null if the erasure was repeated after a restore had removed its row.
  decision_id uuid unique,
  status text not null check (status in ('waiting', 'erasing', 'erased', 'complete', 'stopped')),
  -- Why it still waits although its time has come.
  held_because text,
  begun_at timestamptz not null default clock_timestamp(),
  -- When the person's rows were cleared, after which the key is unused; from `erased` on, when the key was destroyed.
  erased_at timestamptz,
  ended_at timestamptz,
  check ((status in ('waiting', 'stopped')) = (erased_at is null)),
  check ((status in ('complete', 'stopped')) = (ended_at is not null)),
  check (held_because is null or status in ('waiting', 'stopped'))
);
create unique index erasures_of_user on erasures (user_id) where status <> 'stopped';
create index erasures_of_any_user on erasures (user_id, begun_at);
create index erasures_under_way on erasures (begun_at) where status not in ('complete', 'stopped');
create trigger erasures_are_kept before delete on erasures for each row execute function refuse_change();
create trigger erasures_status_law before insert or update of status on erasures
  for each row execute function keep_status('status', '>waiting', '>erasing', 'waiting>erasing', 'waiting>stopped',
    'erasing>erased', 'erased>complete');

-- Legal holds: people whose data must not be erased, because a court or an authority may ask for it.
create table legal_holds (
  id uuid primary key,
  user_id uuid not null references users (id),
  -- References, never personal data.
  note text not null,
  placed_by uuid not null references users (id),
  placed_at timestamptz not null default clock_timestamp(),
  lifted_by uuid references users (id),
  lifted_at timestamptz,
  check ((lifted_by is null) = (lifted_at is null)),
  -- Neither the person who placed it nor its subject may lift it.
  check (lifted_by <> placed_by and lifted_by <> user_id)
);
create unique index legal_holds_of_user on legal_holds (user_id) where lifted_at is null;
create index legal_holds_of_any_user on legal_holds (user_id, placed_at);
create index legal_holds_of_placer on legal_holds (placed_by);
create index legal_holds_of_lifter on legal_holds (lifted_by) where lifted_by is not null;
create trigger legal_holds_are_kept before delete on legal_holds for each row execute function refuse_change();
create trigger legal_holds_stay_lifted before update on legal_holds
  for each row when (old.lifted_at is not null) execute function refuse_change();

-- Deletes the records of a person's logins: they contain network addresses, and the digest of the e-mail address links
-- them to the person.
create function forget_person() returns trigger language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from known_logins where account_hash = old.email_digest;
  delete from login_failures where account_hash = old.email_digest;
  return null;
end $$;
create trigger users_are_forgotten after update of erased_at on users
  for each row when (old.erased_at is null and new.erased_at is not null) execute function forget_person();

-- Why a person cannot be erased now; null if nothing blocks it.
create function hold_of_person(p_user_id uuid) returns text language plpgsql stable
set search_path = pg_catalog, public, pg_temp as $$
begin
  return case
    when exists (select from legal_holds h where h.user_id = p_user_id and h.lifted_at is null)
      then 'they are under a legal hold'
    -- Including their saving goals as a user of an organization, which only they can release.
    when exists (select from accounts a where a.user_id = p_user_id and account_balance(a.id) <> 0)
      then 'there is money on their accounts'
    when exists (select from payment_orders o where o.user_id = p_user_id and o.status in ('PENDING', 'WAITING_PAYMENT'))
      then 'a payment of theirs is open'
    when exists (select from receipts r where r.state = 'suspended'
        and exists (select from payment_orders o where o.user_id = p_user_id and o.id::text = r.reference))
      then 'money that they paid is in suspense'
    when exists (select from withdrawals w join payouts p on p.id = w.id where w.user_id = p_user_id and p.status = 'pending')
      then 'a withdrawal of theirs is under way'
    -- While the provider is still asked whether the bank has returned the money.
    when exists (select from withdrawals w join payouts p on p.id = w.id where w.user_id = p_user_id
        and w.organization_id is null and p.status = 'succeeded' and p.look_again_at is not null)
      then 'the bank may still return a withdrawal of theirs'
    when exists (select from donation_subscriptions s where s.user_id = p_user_id and s.status = 'active')
      then 'a donation subscription of theirs is active'
    when exists (select from saving_circle_members m join saving_circles c on c.id = m.saving_circle_id
        where m.user_id = p_user_id and c.status in ('new', 'active') and c.deleted_at is null)
      then 'they are a member of a saving circle that has not ended'
    when exists (select from saving_circles c where c.owner_type = 'individual' and c.owner_id = p_user_id
        and c.status in ('new', 'active') and c.deleted_at is null)
      then 'a saving circle of theirs has not ended'
    when exists (select from saving_circle_replacements r join saving_circles c on c.id = r.saving_circle_id
        where r.user_id = p_user_id and r.status = 'pending' and r.joined_at is not null and c.status in ('new', 'active'))
      then 'they have agreed to take over a place in a saving circle'
    -- A contribution to a round that is not paid out, whoever has the place now: a cancelled circle refunds the payer.
    when exists (select from saving_circle_contributions k join saving_circles c on c.id = k.saving_circle_id
        join accounts a on a.id = k.refund_account_id
        where k.user_id = p_user_id and a.user_id = p_user_id and a.organization_id is null
          and k.turn_number = c.current_turn and k.status in ('pending', 'completed') and c.status = 'active')
      then 'what they have paid for a round of a saving circle may still come back'
    when exists (select from charitable_causes c where c.created_by = p_user_id and c.owner_type = 'individual'
        and c.status not in ('completed', 'cancelled', 'rejected', 'deactivated'))
      then 'a charitable cause of theirs is open'
    when exists (select from decisions d where d.status = 'pending' and d.kind <> 'erase_person'
        and p_user_id in (d.proposed_by, d.first_approved_by, d.approved_by))
      then 'a decision that they have proposed or approved is pending'
    when exists (select from users u join roles r on r.id = u.role_id where u.id = p_user_id and u.user_type = 'platform'
        and u.status = 'active' and r.name = 'platform_super_admin'
        and not exists (select from users o where o.role_id = r.id and o.id <> u.id and o.user_type = 'platform'
          and o.status = 'active'))
      then 'they are the last super admin'
    when exists (select from users u where u.id = p_user_id and u.user_type = 'organization' and u.status = 'active'
        and exists (select from role_permissions h join permissions p on p.id = h.permission_id
          where h.role_id = u.role_id and p.name = 'assign-role')
        and not exists (select from users o join role_permissions h on h.role_id = o.role_id
          join permissions p on p.id = h.permission_id
          where o.organization_id = u.organization_id and o.id <> u.id and o.user_type = 'organization'
            and o.status = 'active' and p.name = 'assign-role'))
      then 'they are the last in their organization who can assign roles'
    end;
end $$;
