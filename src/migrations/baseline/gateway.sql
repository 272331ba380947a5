-- The budget of calls to a provider, shared by all processes.

-- A token bucket of calls for each provider.
create table provider_budget (
  provider text primary key,
  tokens double precision not null default 0,
  filled_at timestamptz not null default clock_timestamp(),
  -- The end of the pause that the provider requested of all callers.
  paused_until timestamptz
);
insert into provider_budget (provider) values ('xendit');

-- The calls made for a partner in about the last minute. Each call's weight decays exponentially, so that at a steady
-- rate the sum is the number of calls in a minute. (No foreign key: its check would wait for a lock on the partner
-- while holding the lock on the budget, and so delay all calls.)
create table provider_callers (
  partner_id uuid primary key,
  calls double precision not null check (calls > 0 and calls < 'Infinity'),
  counted_at timestamptz not null
) with (fillfactor = 60);

-- Takes one call out of the budget: returns 0 if it may be made now, otherwise the seconds after which to try again. A
-- sixth of a minute's calls may be made at once (the burst); the rest is spread evenly, so that no minute exceeds the
-- budget. A call that completes one just made (p_follows) ignores these limits and may overdraw the budget by one. Half
-- of the burst is reserved for payouts: other calls wait while no more than that remains. A partner that made more than
-- a quarter of the budget's calls in the last minute gets only calls that others leave unused: its payouts wait while
-- no more than five eighths of the burst remain, its other calls while no more than three quarters remain. Setting the
-- clock back (a correction, a failover) does not block calls, because fills and pauses in the future are ignored.
create function take_provider_call(p_provider text, p_per_minute integer, p_payout boolean, p_partner uuid, p_follows boolean)
  returns double precision language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  budget provider_budget;
  instant timestamptz;
  most double precision := p_per_minute / 6.0;
  per_second double precision := (p_per_minute - p_per_minute / 6.0 - 1) / 60;
  available double precision;
  recent double precision;
  needed double precision;
begin
  select * into budget from provider_budget b where b.provider = p_provider for update;
  if not found then
    insert into provider_budget (provider) values (p_provider) on conflict do nothing;
    select * into strict budget from provider_budget b where b.provider = p_provider for update;
  end if;
  instant := clock_timestamp();
  -- A pause lasts at most a minute; if the end is later, the clock was set back.
  if budget.paused_until > instant and budget.paused_until <= instant + interval '1 minute' then
    return extract(epoch from budget.paused_until - instant);
  end if;
  if budget.filled_at > instant then
    update provider_budget set filled_at = instant where provider = p_provider;
    budget.filled_at := instant;
  end if;
  -- Bounded, because exp() raises an error on underflow.
  select c.calls * exp(-least(abs(extract(epoch from instant - c.counted_at)) / 60, 100)) into recent
    from provider_callers c where c.partner_id = p_partner;
  needed := case when p_follows then 0
    else 1 + most * case when recent > p_per_minute / 4.0 then case when p_payout then 0.625 else 0.75 end
      when p_payout then 0 else 0.5 end end;
  available := least(most, budget.tokens + extract(epoch from instant - budget.filled_at) * per_second);
  if available < needed then
    return (needed - available) / per_second;
  end if;
  update provider_budget set tokens = available - 1, filled_at = instant where provider = p_provider;
  if p_partner is not null then
    insert into provider_callers as c (partner_id, calls, counted_at) values (p_partner, coalesce(recent, 0) + 1, instant)
      on conflict (partner_id) do update set calls = excluded.calls, counted_at = excluded.counted_at;
  end if;
  return 0;
end $$;
