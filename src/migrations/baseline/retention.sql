-- Retention: deletes rows and bodies past their retention time.
--
-- SQLSTATE of ours: AM009 the age is below the minimum, rows of this kind are never deleted, or there are too many at
-- once.

-- Deletes up to `p_limit` rows of a kind that are older than `p_age`, and returns how many. Each kind has a minimum
-- age. Rows are identified by ctid, so that a row changed meanwhile is not deleted; in a partitioned table by id, which
-- determines the month. Skips locked rows until the next run.
create function forget_rows(p_kind text, p_age interval, p_limit integer) returns integer language plpgsql
security definer set search_path = pg_catalog, public, pg_temp
-- A day has 24 hours, whatever the session's time zone.
set timezone = 'UTC' as $$
declare
  least_age constant interval := case p_kind
    when 'read_events' then interval '90 days'
    when 'callback_bodies' then interval '30 days'
    when 'webhook_bodies' then interval '30 days'
    when 'requests' then interval '30 days'
    when 'payout_tallies' then interval '2 days'
    when 'bank_account_checks' then interval '1 day'
    when 'known_logins' then interval '30 days'
    when 'token_signing_keys' then interval '30 days'
    when 'revoked_tokens' then interval '1 day'
    when 'refresh_tokens' then interval '1 day'
    when 'sign_ups' then interval '1 hour'
    when 'mails' then interval '30 days'
    -- A signature is valid for five minutes before and after its time; doubled as tolerance for clocks.
    when 'used_signatures' then interval '20 minutes'
    when 'login_failures' then interval '15 minutes' end;
  before constant timestamptz := clock_timestamp() - p_age;
  chosen uuid[];
  forgotten integer;
  answers integer := 0;
begin
  -- Compare instants, not intervals: a month is not always thirty days.
  if least_age is null or before is null or before > clock_timestamp() - least_age then
    raise exception 'rows of kind % cannot be deleted after %', p_kind, p_age using errcode = 'AM009';
  elsif p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'at most 10000 rows can be deleted at once' using errcode = 'AM009';
  end if;
  case p_kind
    when 'read_events' then
      -- Only events of reads; changes, logins and logouts stay.
      select array_agg(old.id order by old.id) into chosen from (select e.id from events e where e.created_at < before
        and e.id < first_id_at(before + interval '24 hours')
        and e.impact = 'LOW' and e.event not in ('USER_LOGGED_IN', 'USER_LOGGED_OUT')
        order by e.created_at limit p_limit for update skip locked) old;
      delete from events
        where id = any (chosen) and id between chosen[1] and chosen[cardinality(chosen)];
    when 'callback_bodies' then
      -- Undelivered callbacks keep their bodies, unless they are unreadable.
      select array_agg(old.id order by old.id) into chosen from (select c.id from gateway_callbacks c
        where c.body_sealed is not null and c.id < first_id_at(before) and num_nonnulls(c.delivered_at, c.unread) > 0
        order by c.id limit p_limit for update skip locked) old;
      update gateway_callbacks c set body_sealed = null
        where c.id = any (chosen) and c.id between chosen[1] and chosen[cardinality(chosen)]
          and num_nonnulls(c.delivered_at, c.unread) > 0;
    when 'webhook_bodies' then
      -- Pending webhooks keep their bodies.
      select array_agg(old.id order by old.id) into chosen from (select d.id from webhook_deliveries d
        where d.body_sealed is not null and d.id < first_id_at(before) and d.status <> 'pending'
        order by d.id limit p_limit for update skip locked) old;
      update webhook_deliveries d set body_sealed = null
        where d.id = any (chosen) and d.id between chosen[1] and chosen[cardinality(chosen)] and d.status <> 'pending';
    when 'requests' then
      -- Clear only the response, which may name people. The key keeps its resource, so that it is never reused for
      -- another.
      update requests set answer_status = null, answer_body = null, answer_sealed = null
        where ctid = any (array(select k.ctid from requests k
          where k.answer_status is not null and k.decided_at < before order by k.decided_at limit p_limit
          for update skip locked));
      get diagnostics answers = row_count;
      delete from requests where ctid = any (array(select k.ctid from requests k
        where (k.refusal is not null or k.key_hash = '') and k.decided_at < before order by k.decided_at
        limit p_limit for update skip locked));
    when 'payout_tallies' then
      delete from payout_tallies where ctid = any (array(select t.ctid from payout_tallies t
        where t.starts_at < before order by t.starts_at limit p_limit for update skip locked));
    when 'bank_account_checks' then
      delete from bank_account_questions where ctid = any (array(select q.ctid from bank_account_questions q
        where q.asked_at < before order by q.asked_at limit p_limit for update skip locked));
      get diagnostics answers = row_count;
      delete from bank_account_checks where ctid = any (array(select c.ctid from bank_account_checks c
        where c.asked_at < before order by c.asked_at limit p_limit for update skip locked));
    when 'known_logins' then
      delete from known_logins where ctid = any (array(select k.ctid from known_logins k
        where k.logged_in_at < before order by k.logged_in_at limit p_limit for update skip locked));
    when 'token_signing_keys' then
      delete from token_signing_keys where id in (select k.id from token_signing_keys k
        where k.published_until < before limit p_limit for update skip locked);
    when 'revoked_tokens' then
      delete from revoked_tokens where ctid = any (array(select t.ctid from revoked_tokens t
        where t.expires_at < before order by t.expires_at limit p_limit for update skip locked));
    when 'refresh_tokens' then
      delete from refresh_tokens where ctid = any (array(select t.ctid from refresh_tokens t
        where t.expires_at < before order by t.expires_at limit p_limit for update skip locked));
    when 'sign_ups' then
      delete from sign_ups where ctid = any (array(select s.ctid from sign_ups s
        where s.made_at < before order by s.made_at limit p_limit for update skip locked));
    when 'mails' then
      delete from mails where ctid = any (array(select m.ctid from mails m
        where m.status <> 'pending' and m.created_at < before order by m.created_at limit p_limit for update skip locked));
    when 'used_signatures' then
      delete from used_signatures where ctid = any (array(select u.ctid from used_signatures u
        where u.used_at < before order by u.used_at limit p_limit for update skip locked));
    when 'login_failures' then
      delete from login_failures where ctid = any (array(select f.ctid from login_failures f
        where f.failed_at < before order by f.failed_at limit p_limit for update skip locked));
  end case;
  get diagnostics forgotten = row_count;
  return forgotten + answers;
end $$;

-- Only invited users who never accepted may be deleted.
create trigger users_are_kept before delete on users for each row when (old.status <> 'invited')
  execute function refuse_change();
