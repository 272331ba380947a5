import { Migration } from '@mikro-orm/migrations';

/**
 * The same frozen request may be made again where the provider does not know it: an attempt is open until the provider
 * has said so, and a payout has one open attempt, never two. What is sent is frozen by a digest. All processes share
 * one budget of calls to the provider.
 */
export class M0016Resend extends Migration {
  override up(): void {
    this.addSql(`
alter table payouts add column request_digest text check (request_digest ~ '^[0-9a-f]{64}$');
create trigger payouts_keep_their_request before update on payouts for each row
  when (old.request_digest is not null and new.request_digest is distinct from old.request_digest)
  execute function refuse_change();
alter table payouts drop constraint payouts_last_word_check;
alter table payouts add constraint payouts_last_word_check check (last_word in ('accepted', 'succeeded', 'failed',
  'reversed', 'refused', 'repeat refused', 'unsent', 'not known', 'silent', 'another amount', 'request differs'));

-- An attempt that may have reached the provider is open until the provider, asked two minutes or more after it, does
-- not know it: not_known_at is when it was last asked so.
alter table payout_attempts add column failure_code text;
alter table payout_attempts add column not_known_at timestamptz;
alter table payout_attempts add check (not_known_at >= sent_at + interval '2 minutes');
create unique index payout_attempts_one_open on payout_attempts (payout_id)
  where outcome is distinct from 'unsent' and not_known_at is null;
drop index payout_attempts_once;

-- Never two attempts that may both have been executed without an answer that does not know them in between; never more
-- than five; none after the payout's end (a minute is left for clocks that differ).
drop view check_payouts_sent_once;
create view check_payouts_sent_once as
  with made as (
    select payout_id, sent_at, row_number() over of_payout as place, lag(not_known_at) over of_payout as not_known_before
    from payout_attempts where outcome is distinct from 'unsent'
    window of_payout as (partition by payout_id order by number)),
  counted as (
    select payout_id, count(*) as attempts, max(sent_at) as last_sent_at,
      count(*) filter (where place > 1 and (not_known_before is null or not_known_before > sent_at)) as unasked
    from made group by payout_id)
  select p.id as payout_id, p.status, p.provider_transfer_id, coalesce(c.attempts, 0) as attempts,
    coalesce(c.unasked, 0) as unasked
  from payouts p left join counted c on c.payout_id = p.id
  where c.unasked > 0 or c.attempts > 5 or c.last_sent_at > p.finalized_at + interval '1 minute'
    or (p.provider_transfer_id is not null and c.attempts is null);

-- One row: a bucket of calls that fills with time.
create table provider_budget (
  id boolean primary key default true check (id),
  tokens double precision not null default 0,
  filled_at timestamptz not null default clock_timestamp(),
  -- The provider asked everybody to wait until then.
  paused_until timestamptz
);
insert into provider_budget default values;

-- Takes one call out of the budget: 0 when it may be made now, otherwise the seconds after which to try again. A sixth
-- of a minute's calls may be made at once; the rest comes evenly, so that no minute has more. Half of what may be made
-- at once is left to payouts.
create function take_provider_call(p_per_minute integer, p_payout boolean) returns double precision
  language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  budget provider_budget;
  instant timestamptz;
  most double precision := p_per_minute / 6.0;
  per_second double precision := (p_per_minute - p_per_minute / 6.0) / 60;
  available double precision;
  needed double precision := 1 + case when p_payout then 0 else p_per_minute / 12.0 end;
begin
  select * into strict budget from provider_budget for update;
  instant := clock_timestamp();
  if budget.paused_until > instant then
    return extract(epoch from budget.paused_until - instant);
  end if;
  available := least(most, budget.tokens + greatest(0, extract(epoch from instant - budget.filled_at)) * per_second);
  if available < needed then
    return (needed - available) / per_second;
  end if;
  update provider_budget set tokens = available - 1, filled_at = instant;
  return 0;
end $$;
`);
  }
}
